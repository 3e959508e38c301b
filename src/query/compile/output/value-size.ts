/**
 * Estimates how large the texts and arrays that a statement computes may become, and refuses huge ones before the
 * run. Engines compute thousands of values at once, count little of their memory and ignore cancels meanwhile.
 */

import { isArray, type SqlType } from '../../../core/sql-type.ts'
import {
  type AggregateExpr,
  type CallExpr,
  childrenOf,
  type Expr,
  type FromItem,
  type Query,
} from '../base/ir.ts'
import { recursionBounds } from '../base/recursion-bounds.ts'
import { SqlError } from '../base/sql-error.ts'
import { padsMax } from '../functions/text.ts'
import { groupExprs } from '../resolve/grouping.ts'

/**
 * Estimated size of one text or array in a statement, checked before it runs, because an engine computes 2,048 at
 * once.
 */
const statementValueBytesMax = 512 * 1024

/** Assumed bytes of a text or array in a table or parameter; functions multiply it. */
const storedBytes = 100
/** Assumed bytes of an aggregate's text or array. */
const gatheredBytes = 64 * 1024
/** Assumed bytes of a value of any other type, and of its text. */
const scalarBytes = 40

/** Least bytes of an array's element. */
const elementBytesMin = 16

interface Sizes {
  readonly parameters: readonly (string | null)[]
  readonly columns: Map<string, readonly number[]>
  readonly exprs: Map<Expr, number>
}

/**
 * Checks every value that a statement computes.
 *
 * @param query the whole statement
 * @param parameters in PostgreSQL's text form, `$1` first; empty when the statement is compiled
 * @throws SqlError 54001 where a text or an array may become too large
 */
export function checkValueSizes(query: Query, parameters: readonly (string | null)[] = []): void {
  sizesOf(query, { parameters, columns: new Map(), exprs: new Map() })
}

/** Whether parameters are longer than the compiler assumed. */
export function exceedAssumedSize(parameters: readonly (string | null)[]): boolean {
  return parameters.some((value) => value !== null && value.length > storedBytes)
}

/** Bytes of each column of a query's result. */
function sizesOf(query: Query, sizes: Sizes): readonly number[] {
  const size = (expr: Expr) => sizeOf(expr, sizes)
  for (const cte of query.ctes) {
    const { body } = cte.query
    // A recursive query reads its own values, which are cut off there.
    if (body.kind === 'set' && body.recursive !== undefined)
      sizes.columns.set(
        cte.id,
        cte.query.columns.map(() => recursionBounds.valueBytesMax),
      )
    sizes.columns.set(cte.id, sizesOf(cte.query, sizes))
  }
  const own = bodySizes(query.body, sizes)
  for (const { expr } of query.orderBy) size(expr)
  return own
}

function bodySizes(body: Query['body'], sizes: Sizes): readonly number[] {
  const size = (expr: Expr) => sizeOf(expr, sizes)
  if (body.kind === 'values') return largest(body.rows.map((row) => row.map(size)))
  if (body.kind === 'set') return largest([body.left, body.right].map((side) => sizesOf(side, sizes)))
  for (const item of body.from) addItem(item, sizes)
  const conditions = [body.where, body.having].filter((each) => each !== undefined)
  for (const expr of [...conditions, ...body.groupBy.flatMap(groupExprs), ...(body.distinctOn ?? [])])
    size(expr)
  return body.targets.map(size)
}

function largest(rows: readonly (readonly number[])[]): readonly number[] {
  return (rows[0] ?? []).map((_, index) => rows.reduce((most, row) => Math.max(most, row[index] ?? 0), 0))
}

function addItem(item: FromItem, sizes: Sizes): void {
  switch (item.kind) {
    case 'table':
      return
    case 'cte':
      sizes.columns.set(item.id, sizes.columns.get(item.cte) ?? [])
      return
    case 'subquery':
      sizes.columns.set(item.id, sizesOf(item.query, sizes))
      return
    case 'function':
      sizes.columns.set(
        item.id,
        item.outputs.map((_, index) => {
          const from = item.name === 'unnest' ? item.args.slice(index, index + 1) : item.args
          return from.reduce((most, arg) => Math.max(most, sizeOf(arg, sizes)), 0)
        }),
      )
      return
    case 'join':
      addItem(item.left, sizes)
      addItem(item.right, sizes)
      if (item.on !== undefined) sizeOf(item.on, sizes)
  }
}

function sizeOf(expr: Expr, sizes: Sizes): number {
  // A column is the most frequent expression, and has no parts.
  if (expr.kind === 'column')
    return isLong(expr.type) ? (sizes.columns.get(expr.relation)?.[expr.index] ?? storedBytes) : scalarBytes
  const found = sizes.exprs.get(expr)
  if (found !== undefined) return found
  const size = measure(expr, sizes)
  sizes.exprs.set(expr, size)
  return size
}

function measure(expr: Expr, sizes: Sizes): number {
  const subquery = expr.kind === 'subquery' ? sizesOf(expr.query, sizes) : []
  const parts = childrenOf(expr).map((part) => sizeOf(part, sizes))
  if (!isLong(expr.type)) return scalarBytes
  const most = parts.reduce((a, b) => Math.max(a, b), subquery[0] ?? scalarBytes)
  switch (expr.kind) {
    case 'literal':
      return Buffer.byteLength(expr.value ?? '')
    case 'parameter':
      return Buffer.byteLength(sizes.parameters[expr.number - 1] ?? ''.padEnd(storedBytes))
    case 'array':
      return grown(sum(parts), most)
    case 'aggregate':
      return gathers(expr) ? Math.max(most, gatheredBytes) : most
    case 'window':
      return expr.call.kind === 'aggregate' && gathers(expr.call) ? Math.max(most, gatheredBytes) : most
    case 'subquery':
      return expr.form === 'array' ? Math.max(most, gatheredBytes) : most
    case 'call':
      return grown(callSize(expr, parts, most), most)
    default:
      return most
  }
}

/** Refuses a large size, unless the expression only passes on an argument of that size. */
function grown(size: number, most: number): number {
  if (size > most && size > statementValueBytesMax)
    throw new SqlError('54001', 'A text or array that the statement computes may become too large.')
  return size
}

const gathers = ({ def }: AggregateExpr): boolean => def.name === 'string_agg' || def.name === 'array_agg'

const longTypes: ReadonlySet<SqlType> = new Set(['text', 'varchar', 'unknown', 'bytea', 'json', 'jsonb'])

function isLong(type: SqlType): boolean {
  return longTypes.has(type) || isArray(type)
}

function sum(parts: readonly number[]): number {
  return parts.reduce((a, b) => a + b, 0)
}

/** @param parts the sizes of the arguments; `most` is the largest of them, which few functions exceed */
function callSize({ def, args }: CallExpr, parts: readonly number[], most: number): number {
  const [first = 0, second = 0, third = 0] = parts
  const literal = (index: number) => {
    const arg = args[index]
    // With its value the statement is compiled again before it runs.
    if (arg?.kind === 'parameter' && arg.needsValue && arg.value === undefined) return '0'
    return arg?.kind === 'literal' ? (arg.value ?? undefined) : undefined
  }
  const count = Math.min(padsMax, Math.max(0, Number(literal(1) ?? padsMax)))
  switch (def.name) {
    case '||':
    case 'concat':
    case 'array_cat':
    case 'array_append':
    case 'array_prepend':
      return sum(parts)
    case 'concat_ws':
      return sum(parts) + first * parts.length
    case 'repeat':
      return first * count
    case 'lpad':
    case 'rpad':
      return 4 * count
    case 'array_to_string':
      return first * (1 + second / elementBytesMin)
    case 'replace':
      // The text is found at most this often.
      return first * Math.max(1, third / Math.max(1, Buffer.byteLength(literal(1) ?? '')))
    case 'regexp_replace': {
      const groups = literal(2)?.match(/\\[1-9&]/g)?.length ?? 0
      return first * (1 + groups) + third * (literal(3)?.includes('g') ? first + 1 : 1)
    }
    default:
      return most
  }
}
