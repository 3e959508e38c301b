/** Lists what of the semantic layer in force reads which columns of some tables, by field id. It reads no value. */

import { type BoundExpression, isOverPeriods, type TableModel } from '../../core/metric.ts'
import { inputsOf } from '../../core/semantic-model.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import { tableId } from '../contract/targets.ts'
import type { RunQuery } from '../contract/versions.ts'
import { inForce, overOf, type StoredMetric } from './metrics.ts'

export interface ColumnUse {
  /** What reads them, as in a sentence: `metric revenue`. */
  readonly what: string
  readonly kind: 'metric' | 'dimension'
  readonly table: TableRef
  readonly fieldIds: readonly number[]
}

/** The uses, metrics first. What is made of other metrics is named beside those. */
export async function readColumnUses(
  run: RunQuery,
  tables: readonly TableRef[],
): Promise<readonly ColumnUse[]> {
  if (tables.length === 0) return []
  const metrics = await inForce(run)
  const keys = new Set(tables.map(tableKey))
  const ofMetrics = metrics.flatMap((metric): ColumnUse[] => {
    const over = overOf(metric.definition)
    if (over === undefined || !keys.has(tableKey(over.table))) return []
    const made = madeOf(metrics, metric.name)
    const what = `metric ${metric.name}${made.length > 0 ? ` (and ${made.join(', ')})` : ''}`
    return [{ what, kind: 'metric', ...over }]
  })
  return [...ofMetrics, ...(await modelsOf(run, tables)).flatMap(usesOf)]
}

/** The metrics that are made of one, through others as well. */
function madeOf(metrics: readonly StoredMetric[], name: string): readonly string[] {
  const found = new Set([name])
  for (const part of found)
    for (const metric of metrics) {
      const { computation } = metric.definition
      const inputs = isOverPeriods(computation) ? [computation.metric] : inputsOf(metric)
      if (inputs?.includes(part)) found.add(metric.name)
    }
  return [...found].slice(1)
}

async function modelsOf(run: RunQuery, tables: readonly TableRef[]) {
  const rows = await run<{ readonly definition: Omit<TableModel, 'number'> }>(
    `select distinct on (table_id) definition from svc.table_model where tenant_id = svc.current_tenant()
       and table_id in (select jsonb_array_elements_text($1::text::jsonb)) order by table_id, number desc`,
    [JSON.stringify(tables.map(tableId))],
  )
  return rows.map(({ definition }) => definition)
}

function usesOf({ table, dimensions, relationships, key }: Omit<TableModel, 'number'>): readonly ColumnUse[] {
  const idsOf = ({ names }: BoundExpression) => [...new Set(Object.values(names))]
  const use = (what: string, fieldIds: readonly number[]): ColumnUse => ({
    what,
    kind: 'dimension',
    table,
    fieldIds,
  })
  return [
    ...dimensions.map(({ name, expression }) => use(`dimension ${name}`, idsOf(expression))),
    ...relationships.map(({ name, columns }) => use(`relationship ${name}`, columns)),
    use('key of the semantic model', key),
  ]
}
