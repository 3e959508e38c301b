/**
 * Says what an import would change of what is in force, before anything is saved. A metric over other tables than before
 * is another metric under a name that people ask for, so it is replaced only where the importer says so.
 */

import { Fault } from '../../base/fault.ts'
import type { MetricDefinition, TableModel } from '../../core/metric.ts'
import type { SemanticModel } from '../../core/semantic-model.ts'
import { type TableRef, tableKey, tableName } from '../../core/table-ref.ts'
import { loadGovernances } from '../../store/governance/governance.ts'
import type { SemanticChange } from '../../store/semantics/changes.ts'
import { loadSemanticModel } from '../../store/semantics/load-model.ts'
import { mayKnow, tablesOf } from '../describe-metric.ts'
import { isSame } from '../put-metric.ts'
import { type DraftMetric, type DraftTable, needsOf, type SemanticDraft } from './draft.ts'
import { bodyOf } from './layer.ts'

export interface ImportChange {
  /** The metric, or the table whose dimensions change. */
  readonly metric?: string
  readonly table?: TableRef
  /** - `replaced`: a metric that is over other tables from then on. */
  readonly change: 'added' | 'changed' | 'replaced'
  /** Of a metric that is replaced; those that its author may not know are left out. */
  readonly before?: readonly TableRef[]
  readonly after?: readonly TableRef[]
  /** Dimensions and relationships that the table no longer has. */
  readonly removes?: readonly string[]
}

/** Names of what a refusal lists. */
const namedMax = 20

/** What a draft would change. */
export async function planImport(
  { store, tenant, actor }: SemanticChange,
  draft: SemanticDraft,
): Promise<readonly ImportChange[]> {
  const { model } = await loadSemanticModel(store, tenant, 0)
  const tables = [...model.tables.values()].map(({ table }) => table)
  const governances = await loadGovernances(store, tenant, tables)
  const isKnown = (table: TableRef) => mayKnow(actor, governances.get(tableKey(table)))
  const drafts = new Map(draft.metrics.map((metric) => [metric.name, metric]))
  const changes = [
    ...draft.tables.map((table) => tableChange(model, table)),
    ...draft.metrics.map((metric): ImportChange | undefined => {
      const now = model.metrics.get(metric.name)
      if (now === undefined) return { metric: metric.name, change: 'added' }
      const before = tablesOf(model, now)
      const after = tablesOfDraft(model, drafts, metric)
      if (!isSameTables(before, after))
        return {
          metric: metric.name,
          change: 'replaced',
          before: before.filter((each) => isKnown(each)),
          after,
        }
      const isAsBefore = now.state === 'active' && saysTheSame(now.definition, governances, metric)
      return isAsBefore ? undefined : { metric: metric.name, change: 'changed' }
    }),
  ]
  return changes.filter((change) => change !== undefined)
}

/** @throws Fault `conflict` where a metric would be over other tables than before */
export function assertNoneReplaced(changes: readonly ImportChange[]): void {
  const replaced = changes.filter(({ change }) => change === 'replaced')
  if (replaced.length === 0) return
  const names = (tables: readonly TableRef[] = []) =>
    tables.map(tableName).join(', ') || 'tables that you may not see'
  const listed = replaced
    .slice(0, namedMax)
    .map(({ metric, before, after }) => `${metric} (over ${names(before)}, then over ${names(after)})`)
  const more = replaced.length > namedMax ? ` and ${replaced.length - namedMax} more` : ''
  throw new Fault(
    'conflict',
    `The import would replace metrics by others of the same name over other tables: ${listed.join('; ')}${more}. Nothing was saved. Rename them in the document, or send \`replace\`.`,
    { members: { replaces: replaced.map(({ metric }) => metric) } },
  )
}

/** The tables that a metric of the document is over, through those that it is made of. */
function tablesOfDraft(
  model: SemanticModel,
  drafts: ReadonlyMap<string, DraftMetric>,
  metric: DraftMetric,
  above: ReadonlySet<string> = new Set(),
): readonly TableRef[] {
  const { table } = metric.body as { readonly table?: TableRef }
  if (table !== undefined) return [table]
  if (above.has(metric.name)) return []
  const path = new Set(above).add(metric.name)
  const found = needsOf(metric).flatMap((name) => {
    const draft = drafts.get(name)
    if (draft !== undefined) return tablesOfDraft(model, drafts, draft, path)
    const now = model.metrics.get(name)
    return now === undefined ? [] : tablesOf(model, now)
  })
  return [...new Map(found.map((each) => [tableKey(each), each])).values()]
}

function isSameTables(one: readonly TableRef[], other: readonly TableRef[]): boolean {
  const keys = (tables: readonly TableRef[]) => new Set(tables.map(tableKey))
  const [left, right] = [keys(one), keys(other)]
  return left.size === right.size && left.isSubsetOf(right)
}

function saysTheSame(
  definition: MetricDefinition,
  governances: Parameters<typeof bodyOf>[1],
  { body }: DraftMetric,
): boolean {
  return isSame({ kind: 'simple', ...body }, bodyOf(definition, governances))
}

function tableChange(model: SemanticModel, { table, body }: DraftTable): ImportChange | undefined {
  const now = model.tables.get(tableKey(table))
  if (now === undefined) return { table, change: 'added' }
  const names = new Set([...body.dimensions, ...body.relationships].map(({ name }) => name))
  const removes = [...now.dimensions, ...now.relationships]
    .map(({ name }) => name)
    .filter((name) => !names.has(name))
  if (removes.length === 0 && isSame(shapeOfModel(now), shapeOfDraft(body))) return undefined
  return { table, change: 'changed', removes }
}

/** What tells one model from another, as the document says it. */
function shapeOfDraft({
  dimensions,
  relationships,
  entity,
  time_dimension: time,
  kpis,
  sets,
}: DraftTable['body']): object {
  return {
    ...{ time, entity, kpis, sets },
    dimensions: dimensions.map(({ kind = 'categorical', expression, ...about }) => ({
      ...{ ...about, kind, expression: expression ?? `"${about.name}"` },
    })),
    relationships: relationships.map(({ name, to }) => ({ name, to: tableKey(to) })),
  }
}

function shapeOfModel({
  dimensions,
  relationships,
  entity,
  timeDimension: time,
  kpis,
  sets,
}: TableModel): object {
  return {
    ...{ time, entity, kpis, sets },
    dimensions: dimensions.map(({ expression, ...about }) => ({ ...about, expression: expression.text })),
    relationships: relationships.map(({ name, to }) => ({ name, to: tableKey(to) })),
  }
}
