/**
 * Looks for what a transaction made that was forwarded as one: its reply names no metadata files, or was lost. All of
 * its tables were changed or none, so one table that shows its commit proves those of the others.
 */

import { inParallel } from '../../base/in-parallel.ts'
import type { JsonObject } from '../../base/json.ts'
import type { CommitIntent } from '../../core/commit.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import { historyOf } from '../base/metadata-history.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { Upstream } from '../base/upstream.ts'
import { decideAt, lookAtTable, staleIntent } from './look.ts'
import {
  type KnownState,
  knownStates,
  logLostReply,
  type ResolvedCommit,
  repeatUntilFound,
  resolvedBy,
} from './lost-commit.ts'

/** By commit id. A commit that is not in it was made, but its table could not be looked at. */
export type MadeCommits = ReadonlyMap<string, ResolvedCommit>

/** The commit of one table. */
interface TransactedTable {
  /** Durable, and owned by this process. */
  readonly intent: CommitIntent
  /** The table that the commit was judged on. */
  readonly base: KnownState | undefined
  /** The file that it wrote, where the catalog's reply names it. */
  readonly file?: string | undefined
}

/**
 * Looks at every table until each shows its commit, or the time is up. A transaction that was accepted is looked for
 * twice, where the tables can be loaded: what they do not show then is found out after the client is answered. Never throws.
 * @param accepted whether the upstream said that it made the transaction
 * @returns what was found by then; undefined if nothing shows that the transaction was made
 */
export async function findTransactionMade(
  parts: GatewayParts,
  upstream: Upstream,
  tenant: TenantId,
  tables: readonly TransactedTable[],
  accepted: boolean,
): Promise<MadeCommits | undefined> {
  const [first] = tables
  if (first === undefined) throw new Error('a transaction without a table')
  let found: MadeCommits = new Map()
  let looks = 0
  const states: SeenStates = new Map(tables.map(({ intent, base }) => [intent.commitId, knownStates(base)]))
  await repeatUntilFound(parts, first.intent, async (signal) => {
    const isSure = accepted || found.size > 0
    found = await look(parts, upstream, tenant, tables, states, isSure, signal)
    // What was loaded before the transaction was made may not show it, and name another's file as the only one left.
    if (!isSure && found.size > 0) found = await look(parts, upstream, tenant, tables, states, true, signal)
    looks++
    if (found.size < tables.length) return undefined
    const isEnough = (accepted && looks > 1) || [...found.values()].every((one) => one.committed)
    return isEnough ? found : undefined
  })
  if (!accepted && found.size === 0) return undefined
  if (!accepted) logLostReply(parts, first.intent)
  return found
}

/** The states of each table that were seen so far, by commit id: each look adds one, and each may be another's file. */
type SeenStates = ReadonlyMap<string, Map<string, JsonObject>>

async function look(
  parts: GatewayParts,
  { catalog, credential }: Upstream,
  tenant: TenantId,
  tables: readonly TransactedTable[],
  states: SeenStates,
  isSurelyMade: boolean,
  signal: AbortSignal,
): Promise<MadeCommits> {
  const mine = new Set(tables.map(({ intent }) => intent.commitId))
  const atTable = ({ intent }: TransactedTable) => ({ tenant, table: intent.table, catalog, credential })
  const looks = await inParallel(tables, limits.transactionLoadsMax, async (one) => {
    const known = states.get(one.intent.commitId) ?? new Map()
    const now = await lookAtTable(parts, atTable(one), mine, { signal, known: new Map(known) })
    if (now !== undefined) known.set(now.result.metadataLocation, now.result.metadata)
    return { ...one, now }
  })
  const decided = await inParallel(looks, limits.transactionLoadsMax, async (one) => {
    const stale = { ...staleIntent(one.intent, one.intent.body), isSurelyMade }
    return { ...one, outcomes: await decideAt(parts, atTable(one), [stale], one.now) }
  })
  const made = new Map<string, ResolvedCommit>()
  for (const { intent, file, now, outcomes } of decided) {
    // The file is in the table's history, or the reply is about something else.
    const isNamed =
      file !== undefined &&
      now !== undefined &&
      historyOf(now.result).some((one) => one.metadataLocation === file)
    const outcome = isNamed
      ? { kind: 'committed' as const, metadataLocation: file }
      : outcomes.get(intent.commitId)
    const resolved = now && outcome && resolvedBy(now, intent, outcome)
    if (resolved !== undefined) made.set(intent.commitId, resolved)
  }
  return made
}
