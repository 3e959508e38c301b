/**
 * Compiles a request for metrics to a statement over metric relations, which the read path then expands and protects.
 * Metrics of several tables are computed apart and brought together on the dimensions that they share, so that no table
 * multiplies the rows of another.
 */

import { quoteIdentifier } from '../../../base/sql-text.ts'
import { type Grain, grains, metricsSuffix, metricTime } from '../../../core/metric.ts'
import type { MetricRelation, SemanticModel } from '../../../core/semantic-model.ts'
import { SqlError } from '../base/sql-error.ts'
import { type Branch, type BranchParts, planBranches } from './branches.ts'
import { periodName } from './own-names.ts'
import { periodsOf, shift, startOf } from './periods.ts'

export const filterOperators = [
  '=',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  'in',
  'not in',
  'is null',
  'is not null',
] as const
export type FilterOperator = (typeof filterOperators)[number]

export interface MetricFilter {
  readonly dimension: string
  readonly operator: FilterOperator
  /** PostgreSQL text forms. */
  readonly values: readonly string[]
}

export interface MetricRequest {
  readonly metrics: readonly string[]
  readonly dimensions: readonly { readonly name: string; readonly grain?: Grain | undefined }[]
  readonly where: readonly MetricFilter[]
  /** Groups by the metrics' own time. */
  readonly grain?: Grain | undefined
  /** Half-open range of the metrics' own time. */
  readonly from?: Date | undefined
  readonly to?: Date | undefined
  readonly orderBy: readonly { readonly name: string; readonly descending: boolean }[]
  readonly limit: number
}

export interface MetricStatement {
  readonly text: string
  /** Values of `$1` and so on. */
  readonly parameters: readonly string[]
}

export interface Key {
  readonly name: string
  readonly grain: Grain | undefined
}

interface Writing {
  readonly request: MetricRequest
  readonly keys: readonly Key[]
  readonly parameters: string[]
  /** Written once; every branch filters by the same parameters. */
  readonly conditions: readonly { readonly dimension: string; readonly sql: string }[]
}

/**
 * Compiles a request.
 * @throws SqlError 42703 for an unknown metric or dimension, 0A000 for metrics that cannot be asked for together
 */
export function compileMetricRequest(model: SemanticModel, request: MetricRequest): MetricStatement {
  const keys = keysOf(request)
  assertNames(request, keys)
  const named = [...keys, ...request.where.map(({ dimension: name }) => ({ name }))].map(({ name }) => name)
  const parts: BranchParts = {
    model,
    metrics: request.metrics,
    dimensions: rangeOf(request) ? [...named, metricTime] : named,
  }
  const { branches, isDirect } = planBranches(parts)
  const parameters: string[] = []
  const conditions = request.where.map((filter) => ({
    dimension: filter.dimension,
    sql: conditionSql(filter, parameters),
  }))
  const writing: Writing = { request, keys, parameters, conditions }
  const [only] = branches
  const core =
    isDirect && only !== undefined
      ? branchSql(writing, only, request.metrics)
      : togetherSql(writing, branches)
  const text = `${core}${orderSql(writing)} LIMIT ${request.limit}`
  return { text, parameters }
}

function rangeOf({ from, to }: MetricRequest): boolean {
  return from !== undefined || to !== undefined
}

function keysOf({ dimensions, grain }: MetricRequest): readonly Key[] {
  const asked = dimensions.map((each) => ({
    name: each.name,
    grain: each.grain ?? (each.name === metricTime ? grain : undefined),
  }))
  if (grain === undefined || asked.some(({ name }) => name === metricTime)) return asked
  return [{ name: metricTime, grain }, ...asked]
}

function assertNames({ metrics, orderBy }: MetricRequest, keys: readonly Key[]): void {
  const names = [...keys.map(({ name }) => name), ...metrics]
  if (metrics.length === 0) throw new SqlError('42601', 'At least one metric is needed.')
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) throw new SqlError('42702', `"${repeated}" is asked for twice.`)
  const unknown = orderBy.find(({ name }) => !names.includes(name))
  if (unknown !== undefined) throw new SqlError('42703', `"${unknown.name}" is not among what is asked for.`)
}

const quote = quoteIdentifier

/** A dimension of the relation `f` as a key of the result. @throws SqlError 22023 for an unknown grain */
export function keySql({ name, grain }: Key): string {
  const column = `"f".${quote(name)}`
  if (grain === undefined) return column
  if (!grains.includes(grain)) throw new SqlError('22023', 'There is no such grain.')
  if (grain === 'hour') return `date_trunc('hour', CAST(${column} AS timestamp))`
  return `${periodName}('${grain}', ${column})`
}

function conditionSql({ dimension, operator, values }: MetricFilter, parameters: string[]): string {
  const column = `"f".${quote(dimension)}`
  const counts: Partial<Record<FilterOperator, (count: number) => boolean>> = {
    'is null': (count) => count === 0,
    'is not null': (count) => count === 0,
    in: (count) => count > 0,
    'not in': (count) => count > 0,
  }
  const fits = counts[operator] ?? ((count: number) => count === 1)
  if (!fits(values.length))
    throw new SqlError('42601', `The filter \`${operator}\` has the wrong number of values.`)
  const placed = values.map((value) => `$${parameters.push(value)}`)
  switch (operator) {
    case 'is null':
    case 'is not null':
      return `${column} ${operator.toUpperCase()}`
    case 'in':
    case 'not in':
      return `${column} ${operator.toUpperCase()} (${placed.join(', ')})`
    default:
      return `${column} ${operator === '!=' ? '<>' : operator} ${placed[0]}`
  }
}

const momentSql = (ms: number) =>
  `CAST('${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}' AS timestamp)`

/** One table's metrics by the keys. @param outputs names of metrics and of columns that stay NULL here */
function branchSql(writing: Writing, branch: Branch, outputs: readonly string[]): string {
  const { request, keys, conditions } = writing
  const { relation, metrics, cumulative } = branch
  const time = `"f".${quote(metricTime)}`
  const where = conditions.map(({ sql }) => sql)
  if (cumulative === undefined) {
    if (request.from !== undefined) where.push(`${time} >= ${momentSql(request.from.getTime())}`)
    if (request.to !== undefined) where.push(`${time} < ${momentSql(request.to.getTime())}`)
  }
  const keyTargets = keys.map((key) =>
    cumulative !== undefined && key.name === metricTime
      ? `${key.grain === 'hour' ? '"p"."t"' : 'CAST("p"."t" AS date)'} AS ${quote(metricTime)}`
      : `${keySql(key)} AS ${quote(key.name)}`,
  )
  const measures = outputs.map((name) => {
    const measured = metrics.get(name)
    return measured === undefined ? `NULL AS ${quote(name)}` : `MEASURE(${quote(measured)}) AS ${quote(name)}`
  })
  const from = cumulative === undefined ? relationSql(relation) : cumulativeSql(writing, branch)
  const group = keys.length > 0 ? ` GROUP BY ${keys.map((_, index) => index + 1).join(', ')}` : ''
  return `SELECT ${[...keyTargets, ...measures].join(', ')} FROM ${from}${where.length > 0 ? ` WHERE ${where.join(' AND ')}` : ''}${group}`
}

function relationSql({ table: { table } }: MetricRelation): string {
  return `${quote(table.namespace.join('.'))}.${quote(`${table.name}${metricsSuffix}`)} AS "f"`
}

/** The relation, each row beside every period that counts it. */
function cumulativeSql({ request, keys }: Writing, { relation, cumulative }: Branch): string {
  const grain = keys.find(({ name }) => name === metricTime)?.grain
  const { from, to } = request
  if (grain === undefined || from === undefined || to === undefined)
    throw new SqlError('42601', 'A cumulative metric needs `grain`, `from` and `to`.')
  const { window, toDate } = cumulative ?? {}
  const rows = periodsOf(grain, from.getTime(), to.getTime()).map(({ startMs, endMs }) => {
    const beginMs = window
      ? shift(
          window.grain,
          window.grain === grain ? startMs : startOf(window.grain, endMs - 1),
          1 - window.count,
        )
      : toDate && startOf(toDate, startMs)
    const begin = beginMs === undefined ? 'CAST(NULL AS timestamp)' : momentSql(beginMs)
    return `(${momentSql(startMs)}, ${begin}, ${momentSql(endMs)})`
  })
  const time = `"f".${quote(metricTime)}`
  const begins = window || toDate ? `${time} >= "p"."lo" AND ` : ''
  return `(VALUES ${rows.join(', ')}) AS "p" ("t", "lo", "hi") JOIN ${relationSql(relation)} ON ${begins}${time} < "p"."hi"`
}

/** Branches one below the other, each group's values brought together, and what is computed from them. */
function togetherSql(writing: Writing, branches: readonly Branch[]): string {
  const { keys, request } = writing
  const leaves = [...new Set(branches.flatMap(({ metrics }) => [...metrics.keys()]))]
  const union = branches.map((branch) => branchSql(writing, branch, leaves)).join(' UNION ALL ')
  const keyNames = keys.map(({ name }) => quote(name))
  // Every branch gives one row for a group, so the greatest value is the only one.
  const values = leaves.map((name) => `max(${quote(name)}) AS ${quote(name)}`)
  const group = keys.length > 0 ? ` GROUP BY ${keyNames.join(', ')}` : ''
  const grouped = `SELECT ${[...keyNames, ...values].join(', ')} FROM (${union}) AS "b"${group}`
  const results = request.metrics.map((name) => `metric_over(${quote(name)}) AS ${quote(name)}`)
  return `SELECT ${[...keyNames, ...results].join(', ')} FROM (${grouped}) AS "u"`
}

/** Without an order the keys order the result, so that a limit always cuts the same rows. */
function orderSql({ request, keys }: Writing): string {
  const names = [...keys.map(({ name }) => name), ...request.metrics]
  const orders = request.orderBy.map(
    ({ name, descending }) => `${names.indexOf(name) + 1}${descending ? ' DESC' : ''} NULLS LAST`,
  )
  const rest = keys.flatMap(({ name }, index) =>
    request.orderBy.some((each) => each.name === name) ? [] : [`${index + 1} NULLS LAST`],
  )
  const all = [...orders, ...rest]
  return all.length > 0 ? ` ORDER BY ${all.join(', ')}` : ''
}
