/**
 * Finds which columns of tables a resolved statement reads into each column of its result. It depends on no policy and
 * no engine: a masked column is read, whatever its readers see of it.
 */

import { type ReadColumn, type ReadLineage, readLineageBounds } from '../../../core/read-lineage.ts'
import { tableKey } from '../../../core/table-ref.ts'
import {
  type ColumnExpr,
  childrenOf,
  columnAt,
  type Expr,
  type FromItem,
  type Query,
  type Relation,
  relationsOf,
  type Select,
} from '../base/ir.ts'
import { groupExprs } from '../resolve/grouping.ts'

/** Columns by {@link columnKey}. */
type Columns = ReadonlyMap<string, ReadColumn>

interface Sources {
  /** By place in the result. */
  readonly outputs: readonly Columns[]
  readonly conditions: Columns
}

interface Walk {
  readonly relations: Map<string, Relation>
  readonly ctes: Map<string, Query>
  readonly done: Map<Query, Sources>
}

/** The lineage of a statement. */
export function lineageOf(query: Query): ReadLineage {
  const walk: Walk = { relations: new Map(), ctes: new Map(), done: new Map() }
  const { outputs, conditions } = sourcesOf(walk, query)
  const { outputsMax, columnsMax } = readLineageBounds
  const places = new Map<string, number>()
  const columns: ReadColumn[] = []
  let truncated = outputs.length > outputsMax
  const placesOf = (found: Columns): readonly number[] =>
    [...found].flatMap(([key, column]) => {
      const known = places.get(key)
      if (known !== undefined) return known
      if (columns.length >= columnsMax) {
        truncated = true
        return []
      }
      places.set(key, columns.length)
      return columns.push(column) - 1
    })
  const kept = outputs.slice(0, outputsMax).map(placesOf)
  return { columns, outputs: kept, conditions: placesOf(conditions), truncated }
}

const columnKey = (column: ReadColumn) => `${tableKey(column)}\u001f${column.column}`

function union(all: Iterable<Columns>): Columns {
  const whole = new Map<string, ReadColumn>()
  for (const one of all) for (const [key, column] of one) whole.set(key, column)
  return whole
}

function sourcesOf(walk: Walk, query: Query): Sources {
  const known = walk.done.get(query)
  if (known !== undefined) return known
  const conditions: Columns[] = []
  for (const { id, query: cte } of query.ctes) walk.ctes.set(id, cte)
  const { body } = query
  let outputs: readonly Columns[]
  if (body.kind === 'select') outputs = ofSelect(walk, body, conditions)
  else if (body.kind === 'values')
    outputs = query.columns.map((_, index) =>
      union(body.rows.map((row) => (row[index] ? flow(walk, row[index], conditions) : new Map()))),
    )
  else {
    const left = sourcesOf(walk, body.left)
    const right = body.recursive === undefined ? sourcesOf(walk, body.right) : ofStep(walk, query, left)
    conditions.push(left.conditions, right.conditions)
    // Which rows remain depends on all columns of both sides, unless all rows do.
    if (body.op !== 'UNION' || !body.all) conditions.push(...left.outputs, ...right.outputs)
    outputs = left.outputs.map((one, index) => union([one, right.outputs[index] ?? new Map()]))
  }
  for (const { expr } of query.orderBy) {
    // ORDER BY of a set operation names a column of its result by place.
    if (expr.kind === 'column' && expr.relation === '') conditions.push(outputs[expr.index] ?? new Map())
    else conditions.push(flow(walk, expr, conditions))
  }
  const sources = { outputs, conditions: union(conditions) }
  walk.done.set(query, sources)
  return sources
}

/** The recursive term, which reads the query's own columns, until these have no further source. */
function ofStep(walk: Walk, query: Query, left: Sources): Sources {
  const step = query.body.kind === 'set' ? query.body.right : query
  for (let known = left; ; ) {
    const level: Walk = { ...walk, done: new Map(walk.done).set(query, known) }
    const right = sourcesOf(level, step)
    const outputs = known.outputs.map((one, index) => union([one, right.outputs[index] ?? new Map()]))
    const conditions = union([known.conditions, right.conditions])
    const count = (sources: Sources) =>
      sources.conditions.size + sources.outputs.reduce((sum, one) => sum + one.size, 0)
    if (count({ outputs, conditions }) === count(known)) return right
    known = { outputs, conditions }
  }
}

function ofSelect(walk: Walk, select: Select, conditions: Columns[]): readonly Columns[] {
  const { from, targets, where, groupBy, having, distinct, distinctOn = [] } = select
  // Before any is walked, because they may name each other.
  for (const item of from.flatMap(relationsOf)) walk.relations.set(item.id, item)
  for (const item of from) joinConditions(walk, item, conditions)
  const deciding = [...(where ? [where] : []), ...(having ? [having] : []), ...distinctOn]
  for (const expr of [...deciding, ...groupBy.flatMap(groupExprs)])
    conditions.push(flow(walk, expr, conditions))
  const outputs = targets.map((target) => flow(walk, target, conditions))
  if (distinct) conditions.push(...outputs)
  return outputs
}

/** What decides which rows a FROM has: conditions of joins, and those of the queries that it names. */
function joinConditions(walk: Walk, item: FromItem, conditions: Columns[]): void {
  if (item.kind === 'join') {
    joinConditions(walk, item.left, conditions)
    joinConditions(walk, item.right, conditions)
    if (item.on) conditions.push(flow(walk, item.on, conditions))
  } else if (item.kind === 'function') {
    for (const arg of item.args) conditions.push(flow(walk, arg, conditions))
  } else {
    const query = queryOf(walk, item)
    if (query !== undefined) conditions.push(sourcesOf(walk, query).conditions)
  }
}

function queryOf(walk: Walk, item: FromItem): Query | undefined {
  if (item.kind === 'subquery') return item.query
  return item.kind === 'cte' ? walk.ctes.get(item.cte) : undefined
}

/** The columns whose values flow into an expression. Those that only choose or order values are conditions. */
function flow(walk: Walk, expr: Expr, conditions: Columns[]): Columns {
  const into = (some: readonly Expr[]) => union(some.map((one) => flow(walk, one, conditions)))
  const decide = (some: readonly Expr[]) => void conditions.push(into(some))
  switch (expr.kind) {
    case 'column':
      return ofColumn(walk, expr, conditions)
    case 'case':
      decide(expr.whens.map(({ when }) => when))
      return into([...expr.whens.map(({ result }) => result), ...(expr.otherwise ? [expr.otherwise] : [])])
    case 'aggregate':
      decide([...expr.orderBy.map(({ expr: key }) => key), ...(expr.filter ? [expr.filter] : [])])
      return into(expr.args)
    case 'window':
      decide([...expr.partitionBy, ...expr.orderBy.map(({ expr: key }) => key)])
      return flow(walk, expr.call, conditions)
    case 'subquery': {
      const { outputs, conditions: below } = sourcesOf(walk, expr.query)
      conditions.push(below)
      return union([into(expr.args), ...outputs])
    }
    default:
      return into(childrenOf(expr))
  }
}

function ofColumn(walk: Walk, { relation, index }: ColumnExpr, conditions: Columns[]): Columns {
  const item = walk.relations.get(relation)
  if (item === undefined) return new Map()
  if (item.kind === 'table') {
    const { ref } = item.table
    const name = columnAt(item.table, index)?.name
    if (name === undefined) return new Map()
    const column = { namespace: ref.namespace, name: ref.name, column: name }
    return new Map([[columnKey(column), column]])
  }
  if (item.kind === 'function') return union(item.args.map((arg) => flow(walk, arg, conditions)))
  const query = queryOf(walk, item)
  return (query && sourcesOf(walk, query).outputs[index]) ?? new Map()
}
