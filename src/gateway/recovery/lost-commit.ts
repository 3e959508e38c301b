/**
 * Resolves the lost reply to a commit before the client is answered. Clients delete their data files after a failure,
 * so a commit that was made must not be reported as failed. A commit that is not found may still be in progress
 * upstream, and is left to recovery (ADR 4).
 */

import type { JsonObject } from '../../base/json.ts'
import type { CommitIntent, CommittedTable } from '../../core/commit.ts'
import { tableName } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import type { LoadTableResult } from '../../wire/iceberg/table-metadata.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { Upstream } from '../base/upstream.ts'
import { committedAt } from './committed-at.ts'
import type { IntentOutcome } from './decide.ts'
import { decideAt, lookAtTable, staleIntent, type TableNow } from './look.ts'

export interface ResolvedCommit {
  /** The current table, which may have changed since the commit. */
  readonly now: TableNow
  /** Undefined where the commit was made, but it is not certain which file it wrote. */
  readonly committed: CommittedTable | undefined
}

/** Milliseconds to wait before each check, because an upstream that dropped the connection may still be working. */
export const lostAnswerWaitsMs: readonly number[] = [0, 100, 300, 600, 1_000]

/**
 * Looks for the result of a commit whose reply was lost, by the same evidence as recovery. A commit whose snapshot is in
 * the table was made, whatever else is open on it. Never throws.
 * @param intent durable, and owned by this process
 * @param base the table that the commit was judged on
 * @returns undefined if the commit is not found to be made within `limits.lostAnswerWithinMs`
 */
export async function resolveLostCommit(
  parts: GatewayParts,
  { catalog, credential }: Upstream,
  tenant: TenantId,
  intent: CommitIntent,
  base: KnownState | undefined,
): Promise<ResolvedCommit | undefined> {
  const mine = new Set([intent.commitId])
  const at = { tenant, table: intent.table, catalog, credential }
  return await repeatUntilMade(parts, intent, async (signal) => {
    const now = await lookAtTable(parts, at, mine, { signal, known: knownStates(base) })
    const outcomes = await decideAt(parts, at, [staleIntent(intent, intent.body)], now)
    const outcome = outcomes.get(intent.commitId)
    return now && outcome && resolvedBy(now, intent, outcome)
  })
}

/** A state of a table that was seen before. */
export type KnownState = Pick<LoadTableResult, 'metadataLocation' | 'metadata'>

/** The state by its metadata location; nothing where there is none. */
export function knownStates(state: KnownState | undefined): Map<string, JsonObject> {
  return new Map(state && [[state.metadataLocation, state.metadata]])
}

/** What a commit made that was decided; undefined if it is not certain that it was made. */
export function resolvedBy(
  now: TableNow,
  intent: CommitIntent,
  outcome: IntentOutcome,
): ResolvedCommit | undefined {
  if (outcome.kind === 'committed')
    return { now, committed: committedAt(now.result, intent, outcome.metadataLocation) }
  return outcome.kind === 'undecidable' && outcome.isMade ? { now, committed: undefined } : undefined
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
