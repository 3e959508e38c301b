/**
 * The part of a tenant's semantic layer that some statement needs, and what follows from it: the relation of a table,
 * with its dimensions, those of the tables that it leads to, and its metrics.
 */

import type { Attestation, Dimension, MetricVersion, Relationship, TableModel } from './metric.ts'
import { isOverPeriods, metricTime } from './metric.ts'
import { type TableRef, tableKey } from './table-ref.ts'

export interface SemanticModel {
  /** By tableKey. */
  readonly tables: ReadonlyMap<string, TableModel>
  /** Those in force, by name. */
  readonly metrics: ReadonlyMap<string, MetricVersion>
  /** Those that hold now, by metric. */
  readonly attestations: ReadonlyMap<string, Attestation>
}

/** A way from a table to another one, over relationships. */
export interface Route {
  /** Names of the relationships, joined by `__`; empty for the table itself. */
  readonly path: string
  readonly table: TableModel
  /** Undefined for the table itself. */
  readonly from?: { readonly route: Route; readonly relationship: Relationship }
}

export interface PlacedDimension {
  readonly route: Route
  readonly dimension: Dimension
}

/** What rows belong to: the key of a table, or the columns of a relationship that lead to one. */
interface PlacedEntity extends PlacedDimension {
  readonly of: TableRef
}

/** What a table shows under the suffix `__metrics`. */
export interface MetricRelation {
  readonly table: TableModel
  readonly dimensions: ReadonlyMap<string, PlacedDimension>
  /** By which rows can be grouped as well: names of keys and of relationships over one column. */
  readonly entities: ReadonlyMap<string, PlacedEntity>
  /** Metrics that are computed over this table alone; none is over periods. */
  readonly metrics: ReadonlyMap<string, MetricVersion>
}

const routeStepsMax = 3

/** The relation of a table; undefined where the table has no model. */
export function relationOf(model: SemanticModel, table: TableRef): MetricRelation | undefined {
  const own = model.tables.get(tableKey(table))
  if (own === undefined) return undefined
  const dimensions = new Map<string, PlacedDimension>()
  const routes = routesFrom(model, { path: '', table: own })
  for (const route of routes)
    for (const dimension of route.table.dimensions)
      dimensions.set(nameOn(route, dimension.name), { route, dimension })
  const time = own.timeDimension === undefined ? undefined : dimensions.get(own.timeDimension)
  if (time !== undefined) dimensions.set(metricTime, time)
  const metrics = new Map(
    [...model.metrics].filter(([name]) => {
      const leaves = leavesOf(model, name)
      return (
        leaves !== undefined && leaves.length > 0 && leaves.every((leaf) => isOver(leaf, tableKey(table)))
      )
    }),
  )
  const entities = routes.flatMap(entitiesOf).filter(([name]) => !metrics.has(name) && !dimensions.has(name))
  return { table: own, dimensions, metrics, entities: new Map(entities) }
}

function nameOn({ path }: Route, name: string): string {
  return path === '' ? name : `${path}__${name}`
}

/** The entities of a route's table by their names in the relation. Those of several columns have no values. */
function entitiesOf(route: Route): readonly (readonly [string, PlacedEntity])[] {
  const { table, entity, key, relationships } = route.table
  const placed = (name: string, columns: readonly number[], of: TableRef) =>
    columns.length === 1
      ? [[nameOn(route, name), { route, of, dimension: ofColumn(name, columns) }] as const]
      : []
  return [
    ...(entity === undefined ? [] : placed(entity, key, table)),
    ...relationships.flatMap(({ name, columns, to }) => placed(name, columns, to)),
  ]
}

function ofColumn(name: string, [fieldId = -1]: readonly number[]): Dimension {
  return { name, kind: 'categorical', expression: { text: `"${name}"`, names: { [name]: fieldId } } }
}

/** The relation with its entities as dimensions. */
export function withEntities(relation: MetricRelation): MetricRelation {
  const { dimensions, entities } = relation
  return { ...relation, dimensions: new Map([...dimensions, ...entities]) }
}

/** Every route from a table, itself first. No route visits a table twice. */
function routesFrom(model: SemanticModel, route: Route, steps = 0): readonly Route[] {
  const further = steps === routeStepsMax ? [] : route.table.relationships
  return [
    route,
    ...further.flatMap((relationship) => {
      const table = model.tables.get(tableKey(relationship.to))
      if (table === undefined || isOn(route, table)) return []
      return routesFrom(
        model,
        { path: nameOn(route, relationship.name), table, from: { route, relationship } },
        steps + 1,
      )
    }),
  ]
}

function isOn(route: Route, table: TableModel): boolean {
  return route.table === table || (route.from !== undefined && isOn(route.from.route, table))
}

function isOver({ definition: { computation } }: MetricVersion, key: string): boolean {
  return computation.kind === 'simple' && tableKey(computation.table) === key
}

const nestingMax = 8

/**
 * The metrics that a metric is made of in the end: simple ones and those of a simple one over periods, itself where it is
 * one. One over the periods of a composed metric is made of a part for each of that one's, with a name of both.
 * @returns undefined where one of them is not in force, or a metric is made of itself, or lies over periods twice
 */
export function leavesOf(
  { metrics }: Pick<SemanticModel, 'metrics'>,
  name: string,
  depth = 0,
): readonly MetricVersion[] | undefined {
  const metric = metrics.get(name)
  if (metric === undefined || depth > nestingMax) return undefined
  const { computation } = metric.definition
  if (isOverPeriods(computation) && metrics.get(computation.metric)?.definition.computation.kind !== 'simple')
    return partsOverPeriods({ metrics }, metric, depth)
  if (computation.kind === 'conversion') {
    const base = metrics.get(computation.base)
    const isCounted = [base, metrics.get(computation.conversion)].every(
      (each) => each?.definition.computation.kind === 'simple',
    )
    return base !== undefined && isCounted ? [base, metric] : undefined
  }
  const inputs = inputsOf(metric)
  if (inputs === undefined) return [metric]
  const found = inputs.map((input) => leavesOf({ metrics }, input, depth + 1))
  return found.every((each) => each !== undefined) ? found.flat() : undefined
}

/**
 * The metric whose rows a leaf is computed from: the one that it is over periods of, else the leaf itself.
 * @returns undefined where that is not in force
 */
export function baseOfLeaf<Leaf extends Pick<MetricVersion, 'definition'>>(
  { metrics }: Pick<SemanticModel, 'metrics'>,
  leaf: Leaf,
): Leaf | MetricVersion | undefined {
  const { computation } = leaf.definition
  return isOverPeriods(computation) ? metrics.get(computation.metric) : leaf
}

function partsOverPeriods(
  { metrics }: Pick<SemanticModel, 'metrics'>,
  metric: MetricVersion,
  depth: number,
): readonly MetricVersion[] | undefined {
  const { definition } = metric
  const over = definition.computation
  if (!isOverPeriods(over)) return undefined
  const parts = leavesOf({ metrics }, over.metric, depth + 1)?.map((leaf): MetricVersion | undefined => {
    const { computation } = leaf.definition
    const named = (of: MetricVersion['definition']['computation']) => ({
      ...metric,
      name: partName(metric.name, leaf.name),
      definition: { ...definition, computation: of },
    })
    if (computation.kind === 'simple') return named({ ...over, metric: leaf.name })
    if (computation.kind !== 'cumulative' || over.kind !== 'offset') return undefined
    const { metric: base, window, toDate } = computation
    return named({
      ...over,
      metric: base,
      accumulated: { ...(window && { window }), ...(toDate && { toDate }) },
    })
  })
  return parts?.every((each) => each !== undefined) ? parts : undefined
}

/** The name of a part of a metric over periods. No metric has a full stop in its own. */
export function partName(metric: string, part: string): string {
  return `${metric}.${part}`
}

/** The metrics of which a ratio, a derived metric or a conversion is made; undefined for another kind. */
export function inputsOf({
  definition: { computation },
}: Pick<MetricVersion, 'definition'>): readonly string[] | undefined {
  if (computation.kind === 'ratio') return [computation.numerator, computation.denominator]
  if (computation.kind === 'conversion') return [computation.base, computation.conversion]
  return computation.kind === 'derived' ? computation.metrics : undefined
}
