/**
 * Writes filters of dbt as SQL over columns and dimensions: `{{ Dimension('customer__region') }}` of a model that an entity
 * leads to, `{{ Entity('customer') }}`, and `{{ TimeDimension('order__placed_on', 'month') }}`.
 */

import { grains } from '../../core/metric.ts'
import type { DraftDimension } from './draft.ts'
import { identifier } from './sql-names.ts'

/** What a filter may name of a model. */
interface FilteredModel {
  readonly dimensions: readonly DraftDimension[]
  readonly timeDimension: string | undefined
  /** Columns of the entities that are keys, and of those that lead to other models, by name. */
  readonly entities: ReadonlyMap<string, string>
  readonly leading: ReadonlyMap<string, string>
}

const text = String.raw`['"](\w+)['"]`
const path = String.raw`\s*,\s*(?:entity_path\s*=\s*)?\[([\s\w'",]*)\]`
const templates = new RegExp(
  String.raw`\{\{\s*(Dimension|TimeDimension|Entity)\(\s*${text}(?:\s*,\s*${text})?(?:${path})?\s*\)\s*\}\}`,
  'g',
)

/** Filters of a metric of a model with the SQL of what they name; null for one that names what the model does not lead to. */
export function filterOf(
  filters: readonly string[],
  model: FilteredModel,
  models: readonly FilteredModel[],
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
  model: FilteredModel,
  models: readonly FilteredModel[],
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

function entityAt(model: FilteredModel, [entity = '', ...more]: readonly string[]): string | undefined {
  const column = model.entities.get(entity) ?? model.leading.get(entity)
  return more.length === 0 && column !== undefined ? identifier(column) : undefined
}

/** The name of what the last model of a way has. */
function reached(
  model: FilteredModel,
  models: readonly FilteredModel[],
  steps: readonly string[],
  has: (model: FilteredModel, name: string) => boolean,
): string | undefined {
  let at = model
  for (const entity of steps.slice(0, -1)) {
    const next = at.leading.has(entity) ? models.find(({ entities }) => entities.has(entity)) : undefined
    if (next === undefined) return undefined
    at = next
  }
  return has(at, steps.at(-1) ?? '') ? steps.join('__') : undefined
}
