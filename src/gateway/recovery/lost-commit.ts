/**
 * Resolves the lost reply to a commit before the client is answered. Clients delete their data files after a failure,
 * so a commit that was made must not be reported as failed. A commit that is not found may still be in progress
 * upstream, and is left to recovery (ADR 4).
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
  /** The current table, which may have changed since the commit. */
  readonly now: TableNow
  readonly committed: CommittedTable
}

/** Milliseconds to wait before each check, because an upstream that dropped the connection may still be working. */
export const lostAnswerWaitsMs: readonly number[] = [0, 100, 300, 600, 1_000]

/**
 * Looks for the result of a commit whose reply was lost, by the same evidence as recovery. Never throws.
 * @param intent durable, and owned by this process
 * @returns undefined if the commit is not found to be made within `limits.lostAnswerWithinMs`
 */
export async function resolveLostCommit(
  parts: GatewayParts,
  { catalog }: Upstream,
  tenant: TenantId,
  intent: CommitIntent,
): Promise<ResolvedCommit | undefined> {
  const mine = new Set([intent.commitId])
  return await repeatUntilMade(parts, intent, async (signal) => {
    const now = await lookAtTable(parts, catalog, tenant, intent.table, mine, { signal, othersWaitMs: 0 })
    const stale = await staleIntent(intent, now?.result.metadata, async () => intent.body)
    const outcome = decideIntents([stale], now?.evidence).get(intent.commitId)
    if (now === undefined || outcome?.kind !== 'committed') return undefined
    return { now, committed: committedAt(now.result, intent, outcome.metadataLocation) }
  })
}

/** Repeats `look` until it finds the change made or the time is up, and logs a change that was made. */
export async function repeatUntilMade<T>(
  parts: GatewayParts,
  intent: CommitIntent,
  look: (signal: AbortSignal) => Promise<T | undefined>,
): Promise<T | undefined> {
  const made = await repeatUntilFound(parts, intent, look)
  if (made !== undefined) logLostReply(parts, intent)
  return made
}

/** Logs that a change was made whose reply was lost. */
export function logLostReply({ log }: GatewayParts, { commitId, table, action }: CommitIntent): void {
  log.warn(
    { commitId, table: tableName(table), action: action ?? 'update-table' },
    'the reply to a change was lost, but the change was made',
  )
}

/** Repeats `look` until it finds what was made or the time is up. */
export async function repeatUntilFound<T>(
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
      log.warn({ err }, 'could not check what a change made whose reply does not say it; trying again')
      return undefined
    }
  }
  for (const waitMs of parts.lostAnswerWaitsMs) {
    await Bun.sleep(waitMs)
    if (signal.aborted) return undefined
    const made = await Promise.race([attempt(), late])
    if (made !== undefined) return made
  }
  return undefined
}
