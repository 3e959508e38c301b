/**
 * Answers a request for metrics by the read path, so that filters, masks, pins and usage are those of any statement.
 * REST and other surfaces call it with the context of their reader.
 */

import type { Clock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import type { SemanticModel } from '../core/semantic-model.ts'
import { type TableRef, tableKey, tableName } from '../core/table-ref.ts'
import { SqlError } from '../query/compile/base/sql-error.ts'
import { compileMetricRequest, type MetricRequest } from '../query/compile/metrics/request.ts'
import type { QueryContext, QueryService, SessionCheck } from '../query/query-service.ts'
import { type WrittenRows, writeRows } from '../query/run/json-rows.ts'
import { loadGovernances } from '../store/governance/governance.ts'
import { loadSemanticModel } from '../store/semantics/load-model.ts'
import type { Store } from '../store/store.ts'
import { ValueError } from '../wire/postgres/value-error.ts'
import { semanticBounds } from './bounds.ts'
import { mayKnow, tablesReadBy } from './describe-metric.ts'

interface QueryMetricsParts {
  readonly store: Store
  readonly clock: Clock
  readonly queries: QueryService
}

export interface MetricAnswerBounds {
  readonly rowsMax: number
  readonly bytesMax: number
  readonly charsMax: number
  /** Milliseconds; default: those of any statement. */
  readonly timeMs?: number
  readonly sessionCheck?: SessionCheck
}

/**
 * Runs a request for metrics.
 * @param on of the reader; its search path and `generated` do not matter
 * @throws SqlError of the compiler and the run; Fault of the store
 */
export async function queryMetrics(
  { store, clock, queries }: QueryMetricsParts,
  on: QueryContext,
  request: MetricRequest,
  { sessionCheck, timeMs, ...bounds }: MetricAnswerBounds,
  signal: AbortSignal,
) {
  const { model } = await loadSemanticModel(store, on.tenant, clock.now(), signal)
  // What may not be read is unknown to the caller, in the words for what there is not.
  const compileKnown = async () => compileMetricRequest(await knownPart(store, on, model), request)
  const { tree, parameters, converted } = await Promise.resolve()
    .then(() => compileMetricRequest(model, request))
    .catch(compileKnown)
  const context: QueryContext = { ...on, searchPath: [], generated: true }
  const prepared = await queries
    .prepare(context, tree, [], { runsAtOnce: true, signal, sessionCheck })
    .catch(async (thrown: unknown) => {
      await compileKnown()
      throw thrown
    })
  if (prepared.parameters.length !== parameters.length)
    throw new Fault('bad_request', 'A value of `where` does not fit its dimension.')
  const run = queries.run(context, prepared, {
    ...{ parameters, signal, sessionCheck },
    ...(timeMs !== undefined && { timeMs }),
  })
  const written = await readRows(run, bounds)
  const told = toldOf(written.rows, converted)
  const { contracts, reads, policies } = run.applied()
  const filtered = policies.filter(({ kind }) => kind === 'row_filter').map(({ table }) => table)
  const asOf = reads.map(({ namespace, name, snapshot_id: snapshotId, pinned }) => ({
    table: { namespace, name },
    snapshot_id: snapshotId,
    pinned: pinned === true,
  }))
  const isMixed = new Set(asOf.map(({ pinned }) => pinned)).size > 1
  return {
    query_id: run.queryId,
    columns: prepared.columns.slice(0, prepared.columns.length - converted.length).map(({ name, type }) => ({
      name,
      type,
      kind: request.metrics.includes(name) ? ('metric' as const) : ('dimension' as const),
      unit: request.metrics.includes(name) ? model.metrics.get(name)?.definition.unit : undefined,
      format: request.metrics.includes(name) ? model.metrics.get(name)?.definition.format : undefined,
    })),
    rows: told.rows,
    truncated: written.truncated || written.rows.length === request.limit,
    contracts,
    as_of: asOf,
    restricted_by: [...new Map(filtered.map((table) => [tableKey(table), table])).values()],
    masked: policies.flatMap(({ kind, table, column, action }) =>
      kind === 'column_mask' && column !== undefined ? [{ table, column, action }] : [],
    ),
    warnings: [
      ...(isMixed
        ? [
            `Some tables are read at a pin and others as they are now: ${asOf.map(({ table }) => tableName(table)).join(', ')}.`,
          ]
        : []),
      ...told.warnings,
      ...deprecated(model, request),
    ],
  }
}

/** The part of a model that a reader may know of. */
async function knownPart(
  store: Store,
  { tenant, principal }: Pick<QueryContext, 'tenant' | 'principal'>,
  model: SemanticModel,
): Promise<SemanticModel> {
  const tables = [...model.tables.values()].map(({ table }) => table)
  const governances = await loadGovernances(store, tenant, tables)
  const isKnown = (table: TableRef) => mayKnow(principal, governances.get(tableKey(table)))
  return {
    ...model,
    tables: new Map([...model.tables].filter(([, { table }]) => isKnown(table))),
    metrics: new Map([...model.metrics].filter(([, metric]) => tablesReadBy(model, metric).every(isKnown))),
  }
}

/** The rows without the columns that tell of amounts without a rate, and what these say: the same in every row. */
function toldOf(rows: WrittenRows['rows'], converted: readonly string[]) {
  const width = (rows[0]?.length ?? 0) - converted.length
  return {
    rows: converted.length === 0 ? rows : rows.map((row) => row.slice(0, width)),
    warnings: converted.flatMap((metric, index) => {
      const text = rows[0]?.[width + index]
      return typeof text === 'string' ? [`Amounts without a rate are left out of ${metric}: ${text}.`] : []
    }),
  }
}

function deprecated(
  model: Awaited<ReturnType<typeof loadSemanticModel>>['model'],
  { metrics }: MetricRequest,
) {
  return metrics
    .filter((name) => model.metrics.get(name)?.state === 'deprecated')
    .map((name) => `The metric ${name} is deprecated.`)
}

async function readRows(
  run: Parameters<typeof writeRows>[0],
  bounds: Parameters<typeof writeRows>[1],
): Promise<WrittenRows> {
  try {
    return await writeRows(run, bounds)
  } catch (thrown) {
    if (thrown instanceof ValueError) throw new SqlError('22008', 'A date or time is out of range.')
    throw thrown
  }
}

/** The bounds of an answer over REST. */
export const restBounds: MetricAnswerBounds = {
  rowsMax: semanticBounds.rowsMax,
  bytesMax: semanticBounds.answerBytesMax,
  charsMax: semanticBounds.answerBytesMax,
}
