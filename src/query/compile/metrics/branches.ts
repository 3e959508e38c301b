/** Plans which tables a request for metrics reads, and checks that its dimensions mean the same in all of them. */

import {
  type Conversion,
  isOverPeriods,
  type MetricVersion,
  metricTime,
  type OverPeriods,
} from '../../../core/metric.ts'
import {
  leavesOf,
  type MetricRelation,
  type PlacedDimension,
  relationOf,
  type SemanticModel,
  withEntities,
} from '../../../core/semantic-model.ts'
import { type TableRef, tableKey, tableName } from '../../../core/table-ref.ts'
import { SqlError } from '../base/sql-error.ts'

/** What is computed over one table in one grouping. */
export interface Branch {
  readonly relation: MetricRelation
  /** The metric that each result measures. */
  readonly metrics: Map<string, string>
  /** Set where each row counts for several periods. */
  readonly periods?: OverPeriods | undefined
  /** Set where it counts the rows that lead to rows of another table. */
  readonly conversion?: BranchConversion | undefined
}

export interface BranchConversion {
  readonly name: string
  readonly computation: Conversion
  /** Of what the rows lead to. */
  readonly to: MetricRelation
}

export interface BranchParts {
  readonly model: SemanticModel
  readonly metrics: readonly string[]
  /** Every dimension that the request names. */
  readonly dimensions: readonly string[]
}

export interface Branches {
  readonly branches: readonly Branch[]
  /** Whether one branch gives every metric as it is asked for. */
  readonly isDirect: boolean
}

/** @throws SqlError 42703 for an unknown metric or dimension, 0A000 for a dimension that the tables do not share */
export function planBranches({ model, metrics, dimensions }: BranchParts): Branches {
  const relations = new Map<string, MetricRelation>()
  const relation = (table: TableRef) => {
    const before = relations.get(tableKey(table))
    if (before !== undefined) return before
    const found = relationOf(model, table)
    if (found === undefined)
      throw new SqlError('42703', `${tableName(table)} has no dimensions. Declare its model first.`)
    const whole = withEntities(found)
    relations.set(tableKey(table), whole)
    return whole
  }
  const branches = new Map<string, Branch>()
  const branch = (table: TableRef, periods?: OverPeriods) => {
    const key = JSON.stringify([tableKey(table), periods && { ...periods, metric: '' }])
    const found = branches.get(key) ?? { relation: relation(table), metrics: new Map(), periods }
    branches.set(key, found)
    return found
  }
  const leaves = metrics.map((name) => {
    const found = leavesOf(model, name)
    if (found === undefined) throw new SqlError('42703', `there is no metric "${name}"`)
    return [name, found.map((leaf) => ({ leaf, ...placeOf(model, leaf) }))] as const
  })
  const tables = new Set(leaves.flatMap(([, found]) => found.map(({ table }) => tableKey(table))))
  const isPlain = ({ periods, conversion }: Place) => !periods && !conversion
  const isDirect = tables.size === 1 && leaves.every(([, found]) => found.every(isPlain))
  for (const [name, found] of leaves)
    for (const { leaf, table, measured, periods, conversion } of found)
      if (isDirect) branch(table).metrics.set(name, name)
      else if (conversion)
        branches.set(JSON.stringify(['conversion', leaf.name]), {
          relation: relation(table),
          metrics: new Map([[leaf.name, measured]]),
          conversion: { name: leaf.name, computation: conversion.computation, to: relation(conversion.to) },
        })
      else branch(table, periods).metrics.set(leaf.name, measured)
  const planned = [...branches.values()]
  for (const name of new Set(dimensions)) assertShared(planned, name)
  return { branches: planned, isDirect }
}

interface Place {
  readonly table: TableRef
  /** The metric whose aggregates are computed. */
  readonly measured: string
  readonly periods?: OverPeriods
  readonly conversion?: { readonly computation: Conversion; readonly to: TableRef }
}

function placeOf(model: SemanticModel, { name, definition: { computation } }: MetricVersion): Place {
  if (computation.kind === 'simple') return { table: computation.table, measured: name }
  if (isOverPeriods(computation)) {
    const base = model.metrics.get(computation.metric)?.definition.computation
    // Attestations are of cumulative metrics by their own names. Anything else over periods lifts nothing.
    const isNamed = computation.kind === 'cumulative' && model.metrics.has(name)
    const measured = isNamed ? name : computation.metric
    if (base?.kind === 'simple') return { table: base.table, measured, periods: computation }
  }
  if (computation.kind === 'conversion') {
    const [base, to] = [computation.base, computation.conversion].map(
      (each) => model.metrics.get(each)?.definition.computation,
    )
    if (base?.kind === 'simple' && to?.kind === 'simple')
      return { table: base.table, measured: name, conversion: { computation, to: to.table } }
  }
  throw new SqlError('42703', `what the metric "${name}" is made of is not in force`)
}

/** @throws SqlError unless the dimension is one and the same in all tables */
function assertShared(branches: readonly Branch[], name: string): void {
  const meanings = new Set(branches.map(({ relation }) => meaningOf(relation, name)))
  if (meanings.size > 1)
    throw new SqlError(
      '0A000',
      `"${name}" is not the same dimension in ${branches.map(({ relation }) => tableName(relation.table.table)).join(' and ')}. Give both the same glossary term, or ask for the metrics apart.`,
    )
}

function meaningOf(relation: MetricRelation, name: string): string {
  const placed = relation.dimensions.get(name)
  if (placed === undefined)
    throw new SqlError(
      '42703',
      `there is no dimension "${name}" for the metrics of ${tableName(relation.table.table)}`,
    )
  if (name === metricTime) return metricTime
  const { route, dimension } = placed
  if (dimension.term !== undefined) return `term ${dimension.term}`
  const of = relation.entities.get(name)?.of ?? (isKey(placed) ? route.table.table : undefined)
  if (of !== undefined) return `entity ${tableKey(of)}`
  return JSON.stringify([tableKey(route.table.table), dimension.expression])
}

/** Whether a dimension is the column that is the whole key of its table. */
function isKey({ route, dimension: { expression } }: PlacedDimension): boolean {
  const [named, ...more] = Object.entries(expression.names)
  if (named === undefined || more.length > 0) return false
  const [name, fieldId] = named
  const isColumn = expression.text === name || expression.text === `"${name}"`
  return isColumn && route.table.key.length === 1 && route.table.key[0] === fieldId
}
