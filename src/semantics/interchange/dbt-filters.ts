/**
 * Writes filters of dbt as SQL over columns and dimensions: `{{ Dimension('customer__region') }}` of a model that an entity
 * leads to, `{{ Entity('customer') }}`, and `{{ TimeDimension('order__placed_on', 'month') }}`.
 */

import { grains } from '../../core/metric.ts'
import type { DbtModel } from './dbt-metrics.ts'
import type { DraftDimension } from './draft.ts'
import { identifier } from './sql-names.ts'

const text = String.raw`['"](\w+)['"]`
const path = String.raw`\s*,\s*(?:entity_path\s*=\s*)?\[([\s\w'",]*)\]`
const templates = new RegExp(
  String.raw`\{\{\s*(Dimension|TimeDimension|Entity)\(\s*${text}(?:\s*,\s*${text})?(?:${path})?\s*\)\s*\}\}`,
  'g',
)

/** Filters of a metric of a model with the SQL of what they name; null for one that names what the model does not lead to. */
export function filterOf(
  filters: readonly string[],
  model: DbtModel,
  models: readonly DbtModel[],
): string | null | undefined {
  if (filters.length === 0) return undefined
  const written = filters.map((filter) =>
    filter.replaceAll(templates, (template, call: string, name: string, grain?: string, by?: string) => {
      const steps = [...(by?.match(/\w+/g) ?? []), ...name.split('__')]
      const sql = call === 'Entity' ? entityAt(model, steps) : dimensionAt(model, models, steps)
      return (sql && (grain === undefined ? sql : inPeriod(sql, grain))) ?? template
    }),
  )
  if (written.some((each) => /\{\{|\}\}|\{%/.test(each))) return null
  return written.map((each) => (written.length > 1 ? `(${each})` : each)).join(' AND ')
}

function inPeriod(sql: string, grain: string): string | undefined {
  if (grain === 'day') return sql
  return (grains as readonly string[]).includes(grain) ? `date_trunc('${grain}', ${sql})` : undefined
}

function dimensionAt(
  model: DbtModel,
  models: readonly DbtModel[],
  [first = '', ...more]: readonly string[],
): string | undefined {
  if (more.length === 0) return sqlOf(model.dimensions, first === 'metric_time' ? model.timeDimension : first)
  if (more.length === 1 && model.entities.has(first)) return sqlOf(model.dimensions, more[0])
  // What other models have is named by its way, as the metric relation does.
  return reached(model, models, [first, ...more], ({ dimensions }, name) =>
    dimensions.some((one) => one.name === name),
  )
}

function sqlOf(dimensions: readonly DraftDimension[], name: string | undefined): string | undefined {
  const found = dimensions.find((one) => one.name === name)
  return found && `(${found.expression ?? found.name})`
}

function entityAt(model: DbtModel, [entity = '', ...more]: readonly string[]): string | undefined {
  const column = model.entities.get(entity) ?? model.leading.get(entity)
  return more.length === 0 && column !== undefined ? identifier(column) : undefined
}

/** The name of what the last model of a way has. */
function reached(
  model: DbtModel,
  models: readonly DbtModel[],
  steps: readonly string[],
  has: (model: DbtModel, name: string) => boolean,
): string | undefined {
  let at = model
  for (const entity of steps.slice(0, -1)) {
    const next = at.leading.has(entity) ? models.find(({ entities }) => entities.has(entity)) : undefined
    if (next === undefined) return undefined
    at = next
  }
  return has(at, steps.at(-1) ?? '') ? steps.join('__') : undefined
}
