/** Writes out the metrics of a statement that names any, by the semantic layer as it is in force. */

import type { Clock } from '../../../base/clock.ts'
import {
  joinedDimensions,
  type MetricComputation,
  type MetricVersion,
  metricsSuffix,
} from '../../../core/metric.ts'
import { baseOfLeaf, leavesOf, relationOf, type SemanticModel } from '../../../core/semantic-model.ts'
import { tableKey } from '../../../core/table-ref.ts'
import type { TenantId } from '../../../core/tenant.ts'
import { findReadableTables } from '../../../store/governance/readable-tables.ts'
import { loadSemanticModel } from '../../../store/semantics/load-model.ts'
import type { Store } from '../../../store/store.ts'
import { SqlError, toSqlError, UnreadableTable } from '../../compile/base/sql-error.ts'
import { type Expansion, expandMetrics } from '../../compile/metrics/expand.ts'
import { namedRefs } from '../../compile/parse/named-refs.ts'
import { parseSelect } from '../../compile/parse/parse.ts'
import type { QueryContext, StatementSource } from '../../query-service.ts'
import type { Statement } from './statement.ts'

interface ExpandParts {
  readonly store: Store
  readonly clock: Clock
}

/** A statement and the governance version of the semantic layer by which it was expanded, where it was. */
export interface ExpandedStatement {
  readonly statement: Statement
  readonly version: bigint | undefined
}

/** Whether a statement may name a metric relation, or was written by the service over one. */
export function mayNameMetrics(source: StatementSource): boolean {
  return typeof source !== 'string' || /__metrics/i.test(source)
}

/**
 * Which part of the semantic layer a statement is expanded by: all of it, or what reads only tables that may be read.
 */
export type ExpandedBy = 'all' | 'readable'

/**
 * Does what expands a statement by the whole semantic layer, and again by what may be read where that is refused: the
 * error could name a hidden table, or a metric or dimension that reads it.
 */
export async function asReadable<T>(
  source: StatementSource,
  work: (by: ExpandedBy) => Promise<T>,
): Promise<T> {
  try {
    return await work('all')
  } catch (thrown) {
    // Of a name, or of a metric that is asked for in a place of no use to it.
    const isOfNames = thrown instanceof SqlError && /^(?:42|0A000$)/.test(thrown.sqlState)
    // Who oversees tables is told why one may not be read.
    if (!isOfNames || thrown instanceof UnreadableTable || !mayNameMetrics(source)) throw thrown
    return await work('readable')
  }
}

/** @throws SqlError as expandMetrics and the parser; Fault of the store; the signal's reason */
export async function expandStatement(
  parts: ExpandParts,
  statement: Statement,
  by: ExpandedBy,
  signal?: AbortSignal,
): Promise<ExpandedStatement> {
  const { context, source } = statement
  const found = await expand(parts, context, source, by, signal)
  return { statement: withExpansion(statement, found?.expansion), version: found?.version }
}

/** As {@link expandStatement}, for a text that is not run. */
export async function expandText(
  parts: ExpandParts,
  context: Pick<QueryContext, 'tenant' | 'searchPath'> & { readonly catalog?: string | undefined },
  text: string,
  by: ExpandedBy,
  signal?: AbortSignal,
): Promise<Expansion | undefined> {
  return (await expand(parts, context, text, by, signal))?.expansion
}

async function expand(
  { store, clock }: ExpandParts,
  {
    tenant,
    searchPath,
    generated,
    catalog: database,
  }: Pick<QueryContext, 'tenant' | 'searchPath' | 'generated'> & { readonly catalog?: string | undefined },
  source: StatementSource,
  by: ExpandedBy,
  signal: AbortSignal | undefined,
) {
  if (!mayNameMetrics(source)) return undefined
  const [{ version, model: whole }, taken] = await Promise.all([
    loadSemanticModel(store, tenant, clock.now(), signal),
    // What the service wrote itself means the relation.
    generated ? new Set<string>() : takenNames(store, tenant, source, searchPath),
  ])
  const model = by === 'all' ? whole : await readablePart(store, tenant, whole)
  try {
    const tree = typeof source === 'string' ? parseSelect(source) : source
    return {
      version,
      expansion: expandMetrics(tree, { model, searchPath, generated, database, taken }),
    }
  } catch (thrown) {
    throw toSqlError(thrown)
  }
}

/** What reads only tables that may be read. */
async function readablePart(store: Store, tenant: TenantId, model: SemanticModel): Promise<SemanticModel> {
  const refs = [...model.tables.values()].map(({ table }) => table)
  const readable = await findReadableTables(store, tenant, 'anyone', refs)
  const keys = new Set(readable.map(({ ref }) => tableKey(ref)))
  const part = { ...model, tables: new Map([...model.tables].filter(([key]) => keys.has(key))) }
  const isRead = (name: string) =>
    (leavesOf(model, name) ?? []).every((leaf) =>
      countsOf(model, leaf).every((each) => {
        if (each?.kind !== 'simple') return false
        const relation = relationOf(part, each.table)
        return relation !== undefined && joinedDimensions(each).every((of) => relation.dimensions.has(of))
      }),
    )
  return { ...part, metrics: new Map([...model.metrics].filter(([name]) => isRead(name))) }
}

/** The simple metrics of which a leaf is computed. */
function countsOf(model: SemanticModel, leaf: MetricVersion): readonly (MetricComputation | undefined)[] {
  const { computation } = leaf.definition
  const named = (name: string) => model.metrics.get(name)?.definition.computation
  if (computation.kind === 'conversion') return [named(computation.base), named(computation.conversion)]
  return [baseOfLeaf(model, leaf)?.definition.computation]
}

/** Keys of the tables of the statement's names that may be read: a table comes before a relation of its name. */
async function takenNames(
  store: Store,
  tenant: TenantId,
  source: StatementSource,
  searchPath: readonly string[],
): Promise<ReadonlySet<string>> {
  const named = namedRefs(source, searchPath).filter(({ name }) => name.endsWith(metricsSuffix))
  if (named.length === 0) return new Set()
  return new Set((await findReadableTables(store, tenant, 'anyone', named)).map(({ ref }) => tableKey(ref)))
}

/** The statement in its expanded form, which is part of its key. */
export function withExpansion(statement: Statement, expansion: Expansion | undefined): Statement {
  if (expansion === undefined) return statement
  return { ...statement, expansion, key: JSON.stringify([statement.key, expansion]) }
}
