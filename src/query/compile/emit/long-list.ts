/**
 * Writes a long IN list of constants as one constant. Engines take long to bind thousands of them: DuckDB a second for
 * 90,000. Only conditions of WHERE have such lists, because DuckDB reads no subquery in a lambda or an outer join's ON.
 */

import { quoteText } from '../../../base/sql-text.ts'
import type { NumericSize, SqlType } from '../../../core/sql-type.ts'
import type { Expr } from '../base/ir.ts'
import { literalSize } from '../base/literal.ts'
import { isInteger, isNumber, isString } from '../base/types.ts'
import { expressionCanFail } from '../protect/fallible.ts'

/** Constants from which a list is long. */
const longListMin = 256

/** A constant's text, NULL, or the number and type of a parameter. */
export type Member = string | null | readonly [number: number, type: SqlType]

interface LongList {
  readonly arg: Expr
  readonly type: SqlType
  readonly members: readonly Member[]
}

/** Types whose constants DuckDB reads from the text that PostgreSQL writes, with the same meaning. */
const types: readonly SqlType[] = [
  ...(['int2', 'int4', 'int8', 'numeric', 'text', 'varchar'] as const),
  ...(['date', 'timestamp', 'timestamptz', 'uuid'] as const),
]

/** @returns undefined for any expression but a long list, and where an error could tell of hidden rows */
export function longListOf(expr: Expr): LongList | undefined {
  if (expr.kind !== 'in' || expr.list.length < longListMin || !types.includes(expr.arg.type)) return undefined
  const { type } = expr.arg
  const members: Member[] = []
  for (const each of expr.list) {
    const member = memberOf(each, type)
    if (member === undefined) return undefined
    members.push(member)
  }
  return expressionCanFail(expr.arg) ? undefined : { arg: expr.arg, type, members }
}

/** Widening an integer or a text keeps what it looks like. */
function memberOf(expr: Expr, type: SqlType): Member | undefined {
  if (expr.kind === 'literal') return keepsText(expr.type, type) ? expr.value : undefined
  if (expr.kind === 'parameter') return keepsText(expr.type, type) ? [expr.number, expr.type] : undefined
  const isPlain = expr.kind === 'cast' && expr.size === undefined && expr.length === undefined
  return isPlain && keepsText(expr.arg.type, expr.type) ? memberOf(expr.arg, type) : undefined
}

const order: readonly SqlType[] = ['int2', 'int4', 'int8', 'numeric']

function keepsText(from: SqlType, to: SqlType): boolean {
  if (isString(from) && isString(to)) return true
  if (isInteger(from) && isNumber(to)) return order.indexOf(from) <= order.indexOf(to)
  return from === to
}

/**
 * The right side of IN, for DuckDB.
 *
 * @param texts of constants
 * @param typeName of the list's type; of a numeric with the size that holds all of them
 * @returns undefined where no decimal holds all of them
 */
export function duckdbMembers(
  texts: readonly (string | null)[],
  type: SqlType,
  typeName: (type: SqlType, size?: NumericSize) => string,
): string | undefined {
  const size = type === 'numeric' ? sizeOf(texts) : undefined
  if (type === 'numeric' && size === undefined) return undefined
  const zone = type === 'timestamptz' ? '+00' : ''
  const json = JSON.stringify(zone === '' ? texts : texts.map((text) => text && `${text}${zone}`))
  const list = `CAST(CAST(${quoteText(json)} AS JSON) AS VARCHAR[])`
  return `(SELECT unnest(${isString(type) ? list : `CAST(${list} AS ${typeName(type, size)}[])`}))`
}

function sizeOf(texts: readonly (string | null)[]): NumericSize | undefined {
  let [whole, scale] = [1, 0]
  for (const text of texts) {
    const size = text === null ? ([1, 0] as const) : literalSize(text)
    if (size === undefined) return undefined
    whole = Math.max(whole, size[0] - size[1])
    scale = Math.max(scale, size[1])
  }
  return whole + scale > 38 ? undefined : [whole + scale, scale]
}
