/** The usage record of one query, as far as it got. */

import { isPathIdentifier, tableKey, tableName } from '../core/table-ref.ts'
import type { UsageOutcome, UsageRecord } from '../core/usage.ts'
import type { EngineStats } from '../engine/engine.ts'
import type { CompiledQuery } from './compile.ts'
import type { LoadedTables } from './load-tables.ts'
import type { QueryContext } from './query-service.ts'

/** What is known of a query so far. */
export interface QueryProgress {
  readonly queryId: string
  readonly startedAtMs: number
  readonly fingerprint: string | undefined
  loaded?: LoadedTables
  compiled?: CompiledQuery
  engine?: string
  /** Milliseconds from the start until the engine was open, its queue included. */
  openMs?: number
  rowsOut: number
  bytesOut: number
  /** Asked when the run has ended, or while it goes on. */
  stats?: () => EngineStats
  /** Set once the run is put on record before its end. */
  onRecord?: Promise<void>
}

/** @param elapsedMs milliseconds since the start */
export function usageOf(
  context: QueryContext,
  progress: QueryProgress,
  elapsedMs: number,
  outcome: UsageOutcome,
  failure: { readonly sqlState: string } | undefined,
): UsageRecord {
  const { loaded, compiled } = progress
  const stats = progress.stats?.()
  const queueMs = stats?.queueMs ?? 0
  const tables = compiled?.reads.map(({ table }) => table) ?? loaded?.tables ?? []
  const contracts = tables.flatMap(({ contract }) => contract ?? [])
  return {
    queryId: progress.queryId,
    startedAtMs: progress.startedAtMs,
    principal: context.principal.sub,
    principalSource: context.principalSource,
    surface: context.surface,
    catalog: loaded?.credential.nickname ?? (isPathIdentifier(context.catalog) ? context.catalog : undefined),
    engine: progress.engine,
    contracts: [...new Map(contracts.map((one) => [JSON.stringify(one), one])).values()],
    reads: readsOf(progress),
    policies: (compiled?.policies ?? []).map(
      ({ policyId, kind, schemaName, tableName: table, column, action }) => ({
        id: policyId,
        kind,
        table: `${schemaName}.${table}`,
        ...(column !== undefined && { column }),
        ...(action !== undefined && { action }),
      }),
    ),
    rowsOut: progress.rowsOut,
    bytesOut: progress.bytesOut,
    bytesScanned: stats?.bytesScanned,
    queueMs,
    planMs: Math.max(0, (progress.openMs ?? elapsedMs) - queueMs),
    runMs: stats?.runMs ?? 0,
    outcome,
    sqlState: failure?.sqlState,
    fingerprint: progress.fingerprint,
  }
}

/** What the statement reads; where it did not compile, what it names. */
function readsOf({ loaded, compiled }: QueryProgress): UsageRecord['reads'] {
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

/** The tables of a query, for the log. */
export function namesOf({ loaded }: QueryProgress): readonly string[] {
  return loaded?.tables.map(({ ref }) => tableName(ref)) ?? []
}
