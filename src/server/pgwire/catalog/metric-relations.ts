/** Shows the metric relation of each readable table that has one: its dimensions and metrics as columns. */

import type { Governance } from '../../../core/governance.ts'
import { metricsSuffix } from '../../../core/metric.ts'
import { type MetricRelation, relationOf, type SemanticModel } from '../../../core/semantic-model.ts'
import { tableKey } from '../../../core/table-ref.ts'
import type { TenantId } from '../../../core/tenant.ts'
import type { ResultColumn } from '../../../query/compile/compile.ts'
import { isValidIdentifier } from '../../../query/compile/output/shown-columns.ts'
import { relationTypes } from '../../../semantics/relation-types.ts'
import { loadGovernances } from '../../../store/governance/governance.ts'
import type { ReadableTable } from '../../../store/governance/readable-tables.ts'
import { loadSemanticModel } from '../../../store/semantics/load-model.ts'
import type { Store } from '../../../store/store.ts'
import type { ShadowColumn, ShadowTable } from './shadow-table.ts'

/** The relations over these tables. A dimension or metric that no longer compiles is left out. */
export async function metricRelations(
  store: Store,
  tenant: TenantId,
  tables: readonly ReadableTable[],
): Promise<readonly ShadowTable[]> {
  const { model } = await loadSemanticModel(store, tenant, 0)
  if (model.tables.size === 0) return []
  const refs = [...model.tables.values()].map(({ table }) => table)
  const governances = await loadGovernances(store, tenant, refs)
  const taken = new Set(tables.map(({ ref }) => tableKey(ref)))
  return tables.flatMap(({ ref }): ShadowTable[] => {
    const relation = relationOf(model, ref)
    const tableName = `${ref.name}${metricsSuffix}`
    if (relation === undefined || !isValidIdentifier(tableName)) return []
    if (taken.has(tableKey({ ...ref, name: tableName }))) return []
    const columns = columnsOf(model, governances, relation)
    const comment = `Dimensions of ${ref.name}, and metrics as MEASURE(…)`
    return columns.length > 0 ? [{ schemaName: ref.namespace.join('.'), tableName, columns, comment }] : []
  })
}

function columnsOf(
  model: SemanticModel,
  governances: ReadonlyMap<string, Governance>,
  relation: MetricRelation,
): readonly ShadowColumn[] {
  const { dimensions, metrics } = relationTypes(model, governances, relation)
  const about = (name: string) => {
    const { unit, description = '' } = relation.metrics.get(name)?.definition ?? {}
    return `Use MEASURE(${name})${unit === undefined ? '' : `, in ${unit}`}. ${description}`.trim()
  }
  return [
    ...dimensions.map(([name, column]) => {
      const comment = relation.dimensions.get(name)?.dimension.description
      return shadowColumn(name, column, comment)
    }),
    ...metrics.map(([name, column]) => shadowColumn(name, column, about(name))),
  ].filter(({ name }) => isValidIdentifier(name))
}

function shadowColumn(name: string, { type, size }: ResultColumn, comment: string | undefined): ShadowColumn {
  return { name, type, ...(size && { size }), notNull: false, ...(comment && { comment }) }
}
