/** Writes expressions. Identifiers are generated, literals go through the dialect, and no text of a statement is copied. */

import { elementOf, isArray } from '../../../core/sql-type.ts'
import { limits } from '../../../limits.ts'
import type { Template } from '../base/function-definition.ts'
import type { AggregateExpr, CallExpr, Expr, FrameBound, Query, SortKey, WindowExpr } from '../base/ir.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'
import { isInteger, isString } from '../base/types.ts'
import * as special from '../functions/special.ts'
import { nodeCanFail } from '../protect/fallible.ts'
import { operandShape } from '../resolve/decimal.ts'
import { isWide } from '../resolve/wide.ts'
import type { Dialect } from './dialect.ts'
import { emitArray, emitLiteral } from './literal.ts'
import { longListOf } from './long-list.ts'

export interface Emitter {
  readonly dialect: Dialect
  readonly query: (query: Query) => string
  /** Whether expressions that can fail are marked for the engine; see barrier.ts. */
  readonly marksFallible: boolean
  /** A column of a relation, by its index. */
  readonly column: (relation: string, index: number) => string
  /** The same column for a condition that cannot fail; undefined where no column stands behind a barrier. */
  readonly bareColumn: ((relation: string, index: number) => string) | undefined
  /** The column of a group key that a subquery computed; undefined for other expressions. */
  readonly grouped?: (expr: Expr) => string | undefined
}

/** The mark around a slot that a run fills in. No SQL text can contain it. */
export const slotMark = '\0'

/** Writes one expression. */
export function emitExpression(emitter: Emitter, expr: Expr): string {
  const sql = write(emitter, expr)
  if (sql.length > limits.compiledStatementBytesMax)
    throw new SqlError('54001', 'The SQL for the engine is too long. Shorten the statement.')
  return sql
}

/** Writes a condition of WHERE, where a long list of constants may be one constant. */
export function emitTest(emitter: Emitter, expr: Expr): string {
  if (emitter.grouped !== undefined || emitter.dialect.members === undefined)
    return emitExpression(emitter, expr)
  if (expr.kind === 'logic') {
    const args = expr.args.map((each) => emitTest(emitter, each))
    return expr.op === 'NOT' ? `(NOT ${args.join('')})` : `(${args.join(` ${expr.op} `)})`
  }
  const long = longListOf(expr)
  if (long === undefined) return emitExpression(emitter, expr)
  const { arg, ...list } = long
  return `(${emitExpression(emitter, arg)} IN ${slotMark}m${JSON.stringify(list)}${slotMark})`
}

function write(emitter: Emitter, expr: Expr): string {
  const grouped = emitter.grouped?.(expr)
  if (grouped !== undefined) return grouped
  const { dialect } = emitter
  const sub = (each: Expr) => emitExpression(emitter, each)
  switch (expr.kind) {
    case 'column':
      return emitter.column(expr.relation, expr.index)
    case 'literal':
      return emitLiteral(dialect, expr)
    case 'parameter':
      return `CAST(${slotMark}p${expr.number}${slotMark} AS ${dialect.typeName(expr.type)})`
    case 'cast': {
      const sql = isWide(expr.arg)
        ? fromWide(emitter, expr.arg, dialect.typeName(expr.type, expr.size))
        : dialect.cast(marked(emitter, expr, expr.arg), expr.arg.type, expr.type, expr.size)
      return expr.length === undefined || !isString(expr.type)
        ? sql
        : `substr(${sql}, 1, ${Number(expr.length)})`
    }
    case 'call': {
      const any = anyOfParameter(emitter, expr)
      if (any !== undefined) return any
      const args = expr.args.map((arg, index) => (index === 0 ? marked(emitter, expr, arg) : sub(arg)))
      return fill(emitter, dialect.template(expr.def), expr, args, expr.def.name)
    }
    case 'aggregate':
      return emitAggregate(emitter, expr, '')
    case 'window':
      return emitWindow(emitter, expr)
    case 'logic':
      if (expr.op === 'NOT') return `(NOT ${expr.args.map(sub).join('')})`
      return `(${expr.args.map(sub).join(` ${expr.op} `)})`
    case 'is':
      return emitIs(dialect, expr.test, sub(expr.arg))
    case 'case': {
      const whens = expr.whens.map(
        ({ when, result }) => `WHEN ${sub(when)} THEN ${marked(emitter, expr, result)}`,
      )
      return `CASE ${whens.join(' ')}${expr.otherwise ? ` ELSE ${sub(expr.otherwise)}` : ''} END`
    }
    case 'array':
      return emitArray(
        dialect,
        expr.elements.map((each) => marked(emitter, expr, each)),
        expr.type,
      )
    case 'in':
      return `(${marked(emitter, expr, expr.arg)} IN (${expr.list.map(sub).join(', ')}))`
    case 'grouping':
      return `CAST(grouping(${expr.args.map(sub).join(', ')}) AS INTEGER)`
    case 'subquery': {
      const query = emitter.query(expr.query)
      if (expr.form === 'exists') return `EXISTS (${query})`
      if (expr.form === 'scalar') return `(${query})`
      const args = expr.args.map((arg) => marked(emitter, expr, arg))
      if (expr.form === 'rows') return emitRowsIn(emitter, args, query)
      if (expr.form === 'in') {
        return `(${args.length === 1 ? args[0] : `(${args.join(', ')})`} IN (${query}))`
      }
      if (expr.form === 'compare') return `(${args.join('')} ${expr.compares} (${query}))`
      if (dialect.arraySubquery === undefined) throw notSupported('ARRAY of a subquery on this engine')
      return dialect.arraySubquery(query)
    }
  }
}

/** By its digits, because DuckDB's own conversion to a double loses the last of them. */
function fromWide(emitter: Emitter, arg: Expr, type: string): string {
  return `CAST(CAST(${emitExpression(emitter, arg)} AS VARCHAR) AS ${type})`
}

/**
 * Marks an argument of an expression that can fail by a conversion which DuckDB believes harmless: `flat` makes DuckDB
 * expect an error. Conversions of texts and functions marked fallible need no mark, because DuckDB knows that their SQL
 * may throw.
 */
function marked(emitter: Emitter, parent: Expr, arg: Expr): string {
  const sql = emitExpression(emitter, arg)
  const isMarked = parent.kind === 'call' ? parent.def.fallible : parent.kind === 'cast' && isString(arg.type)
  return emitter.marksFallible && !isMarked && nodeCanFail(parent) ? emitter.dialect.flat(sql) : sql
}

/**
 * `x = ANY ($1)` as an IN list of the parameter's elements, which engines look up in a hash table. An array would be
 * searched from its start for each row.
 */
function anyOfParameter(emitter: Emitter, { def, args }: CallExpr): string | undefined {
  const [value, given] = args
  if (def !== special.anyElement || value === undefined || given === undefined) return undefined
  // Engines compare integers of different sizes, so the elements need no cast.
  const isWidened =
    given.kind === 'cast' &&
    isArray(given.type) &&
    isArray(given.arg.type) &&
    isInteger(elementOf(given.arg.type)) &&
    isInteger(elementOf(given.type))
  const array = isWidened ? given.arg : given
  if (array.kind !== 'parameter') return undefined
  return `(${emitExpression(emitter, value)} IN ${slotMark}e${array.number}${slotMark})`
}

/** TRUE where a row is equal; NULL where a row with NULLs may be equal; else FALSE. */
function emitRowsIn(emitter: Emitter, args: readonly string[], query: string): string {
  const exists = (test: (equal: string) => string) =>
    `EXISTS (SELECT 1 FROM (${query}) AS q WHERE ${args.map((arg, index) => test(`(${arg} = q.c${index + 1})`)).join(' AND ')})`
  const may = (equal: string) => emitIs(emitter.dialect, 'NOT FALSE', equal)
  return `CASE WHEN ${exists((equal) => equal)} THEN TRUE WHEN ${exists(may)} THEN CAST(NULL AS BOOLEAN) ELSE FALSE END`
}

function emitIs(dialect: Dialect, test: string, sql: string): string {
  if (dialect.name === 'duckdb' || test.endsWith('NULL')) return `(${sql} IS ${test})`
  // Trino has no IS TRUE.
  const value = test.endsWith('TRUE') ? 'TRUE' : 'FALSE'
  return `(${sql} IS ${test.startsWith('NOT') ? '' : 'NOT '}DISTINCT FROM ${value})`
}

/** Text for the parentheses of an aggregate's or window function's own call, and behind them. */
interface OwnCall {
  readonly before: string
  readonly inside: string
  readonly behind: string
}

/**
 * Fills a template in one pass and never scans the filled-in text, so that a literal which looks like a placeholder
 * stays a literal.
 */
function fill(
  emitter: Emitter,
  template: Template,
  call: CallExpr | AggregateExpr,
  args: readonly string[],
  name: string,
  own?: OwnCall,
): string {
  if (template === null) throw lacking(emitter.dialect, name)
  if (typeof template === 'string') {
    let sql = ''
    for (const piece of piecesOf(template))
      if (typeof piece === 'number') sql += args[piece] ?? ''
      else if (piece === '{*}') sql += args.join(', ')
      else if (own && piece === '[') sql += `(${own.before}`
      else if (own && piece === ']') sql += `${own.inside})${own.behind}`
      else sql += piece
    return sql
  }
  return template(args, {
    types: call.args.map(({ type }) => type),
    type: call.type,
    literals: call.args.map((arg) => (arg.kind === 'literal' ? arg.value : undefined)),
    flat: emitter.marksFallible ? emitter.dialect.flat : (sql) => sql,
    sizeOf: (index) => {
      const arg = call.args[index]
      const shape = arg && operandShape(arg)
      return typeof shape === 'object' ? shape : undefined
    },
    isDouble: () => operandShape(call) === 'double',
  })
}

function lacking({ name: engine }: Dialect, name: string): SqlError {
  if (engine !== 'trino') return notSupported(`${name} on this engine`)
  const hint = 'Trino has no equal. Tables that the embedded engine reads have it.'
  return new SqlError('0A000', `${name} on this engine is not supported.`, undefined, { hint })
}

const pieces = new Map<string, readonly (string | number)[]>()

/** A template split into texts, argument numbers and marks. Cached by template. */
function piecesOf(template: string): readonly (string | number)[] {
  const cached = pieces.get(template)
  if (cached !== undefined) return cached
  const parts = template
    .split(/(\{\d+\}|\{\*\}|[[\]])/)
    .filter((part) => part !== '')
    .map((part) => (/^\{\d+\}$/.test(part) ? Number(part.slice(1, -1)) : part))
  pieces.set(template, parts)
  return parts
}

function emitAggregate(emitter: Emitter, expr: AggregateExpr, over: string): string {
  const { dialect } = emitter
  let args = expr.args.map((arg) => emitExpression(emitter, arg))
  let template = dialect.template(expr.def)
  // An average that no decimal has room for is one of doubles.
  if (expr.def.name === 'avg' && operandShape(expr) === 'double') template = 'avg[CAST({0} AS DOUBLE)]'
  const conditions = expr.filter ? [emitExpression(emitter, expr.filter)] : []
  if (expr.def.skipsNulls && dialect.filtersNulls) conditions.push(`${args[0]} IS NOT NULL`)
  let filter = conditions.length > 0 ? ` FILTER (WHERE ${conditions.join(' AND ')})` : ''
  if (filter !== '' && over !== '' && !dialect.filtersWindows) {
    const [first, ...rest] = args
    const only = (sql: string) => `CASE WHEN ${conditions.join(' AND ')} THEN ${sql} END`
    if (first === undefined) template = 'count[{0}]'
    args = [only(first ?? '1'), ...rest]
    filter = ''
  }
  const order = expr.orderBy.length > 0 ? ` ORDER BY ${emitSort(emitter, expr.orderBy, false)}` : ''
  const own = { before: expr.distinct ? 'DISTINCT ' : '', inside: order, behind: `${filter}${over}` }
  return fill(emitter, template, expr, args, expr.def.name, own)
}

function emitWindow(emitter: Emitter, { call, partitionBy, orderBy, frame }: WindowExpr): string {
  const clauses: string[] = []
  if (partitionBy.length > 0)
    clauses.push(
      `PARTITION BY ${partitionBy.map((each) => notOrdinal(each, emitExpression(emitter, each))).join(', ')}`,
    )
  if (orderBy.length > 0) clauses.push(`ORDER BY ${emitSort(emitter, orderBy, false)}`)
  if (frame)
    clauses.push(
      `${frame.mode} BETWEEN ${emitBound(emitter, frame.start)} AND ${emitBound(emitter, frame.end)}`,
    )
  const over = ` OVER (${clauses.join(' ')})`
  if (call.kind === 'aggregate') return emitAggregate(emitter, call, over)
  const args = call.args.map((arg) => emitExpression(emitter, arg))
  const own = { before: '', inside: '', behind: over }
  return fill(emitter, emitter.dialect.template(call.def), call, args, call.def.name, own)
}

function emitBound(emitter: Emitter, { bound, offset }: FrameBound): string {
  return offset === undefined ? bound : `${emitExpression(emitter, offset)} ${bound}`
}

/** @param ordinals whether keys of the select list are written as their place in it */
export function emitSort(emitter: Emitter, keys: readonly SortKey[], ordinals: boolean): string {
  return keys
    .map(({ expr, ordinal, descending, nullsFirst }) => {
      const sql =
        ordinals && ordinal !== undefined ? String(ordinal) : notOrdinal(expr, emitExpression(emitter, expr))
      return `${sql} ${descending ? 'DESC' : 'ASC'} NULLS ${nullsFirst ? 'FIRST' : 'LAST'}`
    })
    .join(', ')
}

/** A key of GROUP BY. DuckDB matches its text with the select list. */
export function emitGroupKey(emitter: Emitter, expr: Expr): string {
  const isBelow = emitter.grouped?.(expr) !== undefined
  const key = expr.kind === 'call' && !isBelow ? emitter.dialect.groupKey(expr.def) : undefined
  if (expr.kind !== 'call' || key === undefined) return notOrdinal(expr, emitExpression(emitter, expr))
  const args = expr.args.map((arg) => emitExpression(emitter, arg))
  return fill(emitter, key, expr, args, expr.def.name)
}

/** Wraps a constant in ORDER BY or GROUP BY, so that engines do not read it as a place in the select list. */
export function notOrdinal(expr: Expr, sql: string): string {
  const isConstant = expr.kind === 'literal' || expr.kind === 'parameter' || /^['\d]/.test(sql)
  return isConstant ? `coalesce(${sql}, ${sql})` : sql
}
