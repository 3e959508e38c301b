/** Makes the usage record of one query from how far the query got. It stores nothing. */

import { isPathIdentifier, tableKey, tableName } from '../../../core/table-ref.ts'
import type { AppliedGovernance, UsageOutcome, UsageRecord } from '../../../core/usage.ts'
import type { EngineStats } from '../../../engine/engine.ts'
import type { CompiledQuery } from '../../compile/compile.ts'
import type { QueryContext } from '../../query-service.ts'
import type { Attempt } from '../attempt/attempt.ts'
import type { LoadedTables } from '../load/load-tables.ts'

/** How far a query has got. */
export interface QueryProgress {
  readonly queryId: string
  /** When the query began: by the clock, and by `performance.now()`. */
  readonly startedAtMs: number
  readonly startMs: number
  readonly fingerprint: string | undefined
  loaded?: LoadedTables | undefined
  compiled?: CompiledQuery | undefined
  /** `performance.now()` when the query was loaded and compiled. */
  loadedMs?: number | undefined
  /** The attempt whose rows the run returns; undefined before it starts. */
  attempt?: Attempt | undefined
  /** The cost of the attempts that were discarded. */
  discarded?: EngineStats | undefined
  rowsOut: number
  bytesOut: number
  /** As in QueryRun; undefined before the run has begun. */
  confirm?: () => Promise<void> | undefined
  /** Set where the run is recorded before its end. */
  onRecord?: Promise<void>
}

/** The usage record. @param nowMs `performance.now()` */
export function usageOf(
  context: QueryContext,
  progress: QueryProgress,
  nowMs: number,
  outcome: UsageOutcome,
  failure: { readonly sqlState: string } | undefined,
): UsageRecord {
  const { loaded, attempt, discarded } = progress
  const stats = attempt?.stats
  const queueMs = stats?.queueMs ?? 0
  // An engine that started speculatively may be open before the load has confirmed it.
  const plannedMs = Math.max(attempt?.openedMs ?? nowMs, progress.loadedMs ?? nowMs)
  return {
    queryId: progress.queryId,
    startedAtMs: progress.startedAtMs,
    principal: (context.recordedAs ?? context.principal).sub,
    principalSource: context.principalSource,
    surface: context.surface,
    catalog: loaded?.credential.nickname ?? (isPathIdentifier(context.catalog) ? context.catalog : undefined),
    engine: attempt?.engine,
    ...appliedGovernance(context, progress),
    rowsOut: progress.rowsOut,
    bytesOut: progress.bytesOut,
    bytesScanned: sum(stats?.bytesScanned, discarded?.bytesScanned),
    queueMs,
    planMs: Math.max(0, plannedMs - progress.startMs - queueMs),
    runMs: stats?.runMs ?? 0,
    outcome,
    sqlState: failure?.sqlState,
    fingerprint: progress.fingerprint,
    ...context.agent,
    ...(context.purpose !== undefined && { statedPurpose: context.purpose }),
  }
}

/** What governs the rows of a query, as far as it has got. */
export function appliedGovernance(context: QueryContext, progress: QueryProgress): AppliedGovernance {
  const { loaded, compiled } = progress
  const tables = compiled?.reads.map(({ table }) => table) ?? loaded?.tables ?? []
  const contracts = tables.flatMap(({ contract }) => contract ?? [])
  return {
    contracts: [...new Map(contracts.map((one) => [JSON.stringify(one), one])).values()],
    reads: readsOf(progress),
    policies: [
      ...appliedTo(context, compiled).map(({ policyId, kind, table, column, action }) => ({
        id: policyId,
        kind,
        table,
        ...(column !== undefined && { column }),
        ...(action !== undefined && { action }),
      })),
      ...(compiled?.lifted ?? []).map(({ grant: id, table, purpose }) => {
        return { id, kind: 'grant' as const, table, purpose }
      }),
    ],
  }
}

/** Who runs a statement as another principal is given nothing in clear. */
function appliedTo({ recordedAs }: QueryContext, compiled: CompiledQuery | undefined) {
  const policies = compiled?.policies ?? []
  return recordedAs === undefined ? policies : policies.filter(({ kind }) => kind !== 'reveal')
}

/** Counts the cost of an attempt whose rows nobody gets. */
export function discard(progress: QueryProgress, stats: EngineStats | undefined): void {
  if (stats === undefined) return
  const bytesScanned = sum(progress.discarded?.bytesScanned, stats.bytesScanned)
  progress.discarded = { ...stats, bytesScanned }
}

function sum(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : one + other
}

/** The columns that the statement reads; for a statement that did not compile, the tables that it names. */
function readsOf({ loaded, compiled }: QueryProgress): AppliedGovernance['reads'] {
  const reads = compiled?.reads ?? loaded?.tables.map((table) => ({ table, columns: [] })) ?? []
  return reads.map(({ table: { ref }, columns }) => {
    const snapshot = loaded?.snapshots.get(tableKey(ref))
    return {
      namespace: ref.namespace,
      name: ref.name,
      columns,
      ...(snapshot?.snapshotId !== undefined && { snapshot_id: String(snapshot.snapshotId) }),
      ...(snapshot?.pinned && { pinned: true }),
    }
  })
}

/** The names of a query's tables, for the log. */
export function tableNamesOf({ loaded }: QueryProgress): readonly string[] {
  return loaded?.tables.map(({ ref }) => tableName(ref)) ?? []
}
