/**
 * Resolves a lost answer before the client is answered: clients delete their data files after a
 * failure, so a commit that was made must not be reported as one that may not have been. Only a commit that was
 * surely made is found here; one that is not there may still be under way upstream, and is left to recovery (ADR 4).
 */

import type { CommitIntent, CommittedTable } from '../../core/commit.ts'
import { tableName } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { Upstream } from '../base/upstream.ts'
import { committedAt } from './committed-at.ts'
import { decideIntents } from './decide.ts'
import { lookAtTable, staleIntent, type TableNow } from './look.ts'

export interface ResolvedCommit {
  /** The table as it is now, which may be past the commit. */
  readonly now: TableNow
  readonly committed: CommittedTable
}

/** Milliseconds before each look: an upstream that dropped the connection may be at work still. */
export const lostAnswerWaitsMs: readonly number[] = [0, 100, 300, 600, 1_000]

/**
 * What a commit whose answer was lost made of its table, by the evidence that recovery goes by.
 * @param intent durable, and owned by this process
 * @returns undefined where it cannot be told within `limits.lostAnswerWithinMs` that the commit was made; never throws
 */
export async function resolveLostCommit(
  parts: GatewayParts,
  { catalog }: Upstream,
  tenant: TenantId,
  intent: CommitIntent,
): Promise<ResolvedCommit | undefined> {
  const mine = new Set([intent.commitId])
  return await untilMade(parts, intent, async (signal) => {
    const now = await lookAtTable(parts, catalog, tenant, intent.table, mine, { signal, othersWaitMs: 0 })
    const stale = await staleIntent(intent, now?.result.metadata, async () => intent.body)
    const outcome = decideIntents([stale], now?.evidence).get(intent.commitId)
    if (now === undefined || outcome?.kind !== 'committed') return undefined
    return { now, committed: committedAt(now.result, intent, outcome.metadataLocation) }
  })
}

/** Looks again and again, until a look finds the change made or the time is up. */
export async function untilMade<T>(
  parts: GatewayParts,
  intent: CommitIntent,
  look: (signal: AbortSignal) => Promise<T | undefined>,
): Promise<T | undefined> {
  const log = parts.log.child({ commitId: intent.commitId, table: tableName(intent.table) })
  const signal = AbortSignal.timeout(limits.lostAnswerWithinMs)
  const late = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
  const attempt = async () => {
    try {
      return await look(signal)
    } catch (err) {
      log.warn({ err }, 'a lost answer could not be looked into')
      return undefined
    }
  }
  for (const waitMs of parts.lostAnswerWaitsMs) {
    await Bun.sleep(waitMs)
    if (signal.aborted) return undefined
    const made = await Promise.race([attempt(), late])
    if (made === undefined) continue
    log.warn({ action: intent.action ?? 'update-table' }, 'an answer was lost, but the change was made')
    return made
  }
  return undefined
}
