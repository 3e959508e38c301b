/**
 * Says row filters as predicates of Iceberg, for engines that apply them. SQL drops a row whose filter is NULL, while
 * Iceberg's predicates are true or false and some are true for NULL: so what must not hold for NULL is said with
 * `not-null`. What cannot be said exactly is not said at all.
 */

import type { JsonValue } from '../../base/json.ts'
import type { GovernedColumn, GovernedTable } from '../../core/governed-table.ts'
import type { IcebergType } from '../../core/iceberg-type.ts'
import type { ComparisonType, Operand, Predicate } from '../../wire/iceberg/predicate.ts'
import type { CallExpr, Expr, LiteralExpr } from '../compile/base/ir.ts'
import * as special from '../compile/functions/special.ts'
import { rawAlias } from '../compile/protect/policy-expression.ts'

/** A predicate that is true exactly for the rows for which an expression is true, and one for those where it is false. */
interface Told {
  readonly whenTrue: Predicate
  readonly whenFalse: Predicate
}

/**
 * The predicate that keeps the rows that a filter keeps.
 * @param filter resolved against the raw columns of `table`
 * @returns undefined where Iceberg has no predicate that keeps exactly these
 */
export function tellFilter(table: GovernedTable, filter: Expr): Predicate | undefined {
  return told(table, filter)?.whenTrue
}

const constant = (value: boolean): Predicate => ({ kind: 'constant', value })
const decided = (value: boolean): Told => ({ whenTrue: constant(value), whenFalse: constant(!value) })
const joined = (kind: 'and' | 'or', predicates: readonly Predicate[]): Predicate =>
  predicates.reduce((left, right) => ({ kind, left, right }))

function told(table: GovernedTable, expr: Expr): Told | undefined {
  switch (expr.kind) {
    case 'literal':
      return { whenTrue: constant(expr.value === 'true'), whenFalse: constant(expr.value === 'false') }
    case 'logic': {
      const parts = expr.args.map((arg) => told(table, arg))
      const known = parts.filter((part) => part !== undefined)
      if (known.length !== parts.length || known.length === 0) return undefined
      const trues = known.map(({ whenTrue }) => whenTrue)
      const falses = known.map(({ whenFalse }) => whenFalse)
      if (expr.op === 'NOT') return { whenTrue: joined('and', falses), whenFalse: joined('and', trues) }
      const [yes, no] = expr.op === 'AND' ? (['and', 'or'] as const) : (['or', 'and'] as const)
      return { whenTrue: joined(yes, trues), whenFalse: joined(no, falses) }
    }
    case 'column': {
      const column = columnOf(table, expr)
      return column?.type === 'boolean' ? compared(column, 'eq', true) : undefined
    }
    case 'is': {
      const column = columnOf(table, expr.arg)
      if (column === undefined || (expr.test !== 'NULL' && expr.test !== 'NOT NULL')) return undefined
      const [isNull, notNull] = [unary(column, 'is-null'), unary(column, 'not-null')]
      return expr.test === 'NULL'
        ? { whenTrue: isNull, whenFalse: notNull }
        : { whenTrue: notNull, whenFalse: isNull }
    }
    case 'in': {
      const texts = [expr.arg, ...expr.list].map(textOf)
      const [text, ...others] = texts
      // As `current_principal() IN (…)` after its function was replaced.
      if (text !== undefined && !texts.includes(undefined)) return decided(others.includes(text))
      const column = columnOf(table, expr.arg)
      const values = column && expr.list.map((item) => singleValue(item, column.type, false))
      if (column === undefined || values === undefined || values.length === 0) return undefined
      const known = values.filter((value) => value !== undefined)
      if (known.length !== values.length) return undefined
      return {
        whenTrue: { kind: 'set', type: 'in', operand: operandOf(column), values: known },
        whenFalse: present(column, {
          kind: 'set',
          type: 'not-in',
          operand: operandOf(column),
          values: known,
        }),
      }
    }
    case 'call':
      return toldCall(table, expr)
    default:
      return undefined
  }
}

const signs: ReadonlyMap<string, readonly [holds: ComparisonType, flipped: ComparisonType]> = new Map([
  ['=', ['eq', 'eq']],
  ['<>', ['not-eq', 'not-eq']],
  ['<', ['lt', 'gt']],
  ['<=', ['lt-eq', 'gt-eq']],
  ['>', ['gt', 'lt']],
  ['>=', ['gt-eq', 'lt-eq']],
])

function toldCall(table: GovernedTable, { def, args }: CallExpr): Told | undefined {
  const [first, second, third] = args
  if (first === undefined || second === undefined) return undefined
  const [left, right] = [textOf(first), textOf(second)]
  if (left !== undefined && right !== undefined) {
    if (def.name === '=' || def === special.isNotDistinct) return decided(left === right)
    if (def.name === '<>' || def === special.isDistinct) return decided(left !== right)
    return undefined
  }
  const sign = special.comparisons.get(def.name) === def ? signs.get(def.name) : undefined
  if (sign !== undefined) {
    const [holds, flipped] = sign
    return comparison(table, holds, first, second) ?? comparison(table, flipped, second, first)
  }
  if (def === special.isDistinct || def === special.isNotDistinct) {
    const column = columnOf(table, first) ?? columnOf(table, second)
    const same = comparison(table, 'eq', first, second) ?? comparison(table, 'eq', second, first)
    if (column === undefined || same === undefined) return undefined
    const differs = joined('or', [unary(column, 'is-null'), same.whenFalse])
    return def === special.isDistinct
      ? { whenTrue: differs, whenFalse: same.whenTrue }
      : { whenTrue: same.whenTrue, whenFalse: differs }
  }
  if (def === special.between && third !== undefined) {
    const least = comparison(table, 'gt-eq', first, second)
    const most = comparison(table, 'lt-eq', first, third)
    if (least === undefined || most === undefined) return undefined
    return {
      whenTrue: joined('and', [least.whenTrue, most.whenTrue]),
      whenFalse: joined('or', [least.whenFalse, most.whenFalse]),
    }
  }
  if (def !== special.like || second.kind !== 'literal' || second.value === null) return undefined
  const column = columnOf(table, first)
  const prefix = prefixOf(second.value)
  if (column?.type !== 'string' || prefix === undefined) return undefined
  if (prefix.isWhole) return compared(column, 'eq', prefix.text)
  const starts = (type: 'starts-with' | 'not-starts-with'): Predicate =>
    present(column, { kind: 'comparison', type, operand: operandOf(column), value: prefix.text })
  return { whenTrue: starts('starts-with'), whenFalse: starts('not-starts-with') }
}

function comparison(table: GovernedTable, type: ComparisonType, left: Expr, right: Expr): Told | undefined {
  const column = columnOf(table, left)
  const orders = type !== 'eq' && type !== 'not-eq'
  const value = column && singleValue(right, column.type, orders)
  return column === undefined || value === undefined ? undefined : compared(column, type, value)
}

const opposites: Readonly<Record<string, ComparisonType>> = {
  eq: 'not-eq',
  'not-eq': 'eq',
  lt: 'gt-eq',
  'lt-eq': 'gt',
  gt: 'lt-eq',
  'gt-eq': 'lt',
}

function compared(column: GovernedColumn, type: ComparisonType, value: JsonValue): Told | undefined {
  const opposite = opposites[type]
  if (opposite === undefined) return undefined
  const says = (each: ComparisonType): Predicate => {
    const predicate: Predicate = { kind: 'comparison', type: each, operand: operandOf(column), value }
    // Equality is false for NULL to every reader.
    return each === 'eq' ? predicate : present(column, predicate)
  }
  return { whenTrue: says(type), whenFalse: says(opposite) }
}

function present(column: GovernedColumn, predicate: Predicate): Predicate {
  return column.required ? predicate : joined('and', [unary(column, 'not-null'), predicate])
}

function unary(column: GovernedColumn, type: 'is-null' | 'not-null'): Predicate {
  return { kind: 'unary', type, operand: operandOf(column) }
}

function operandOf({ fieldId }: GovernedColumn): Operand {
  return { kind: 'field', id: fieldId }
}

function columnOf(table: GovernedTable, expr: Expr): GovernedColumn | undefined {
  if (expr.kind !== 'column' || expr.relation !== rawAlias || expr.levelsUp > 0) return undefined
  return table.columns[expr.index]
}

/** The text of a literal; undefined for NULL, another type, or what is no literal. */
function textOf(expr: Expr): string | undefined {
  if (expr.kind !== 'literal' || (expr.type !== 'text' && expr.type !== 'varchar')) return undefined
  return expr.value ?? undefined
}

const int32 = [-(2n ** 31n), 2n ** 31n - 1n] as const

/**
 * A literal in JSON single-value form of a column's type.
 * @param orders whether it is compared by order: engines order texts by different collations
 * @returns undefined where it is NULL, no literal, or no value of the type
 */
function singleValue(expr: Expr, type: IcebergType, orders: boolean): JsonValue | undefined {
  if (expr.kind !== 'literal' || expr.value === null) return undefined
  const { value } = expr
  switch (type) {
    case 'boolean':
      return expr.type === 'bool' && !orders ? value === 'true' : undefined
    case 'int':
    case 'long': {
      if (!/^int[248]$/.test(expr.type) || !/^-?\d+$/.test(value)) return undefined
      const whole = BigInt(value)
      return type === 'long' || (whole >= int32[0] && whole <= int32[1]) ? whole : undefined
    }
    case 'string':
      return (expr.type === 'text' || expr.type === 'varchar') && !orders ? value : undefined
    case 'uuid':
      return expr.type === 'uuid' && !orders && uuid.test(value) ? value.toLowerCase() : undefined
    case 'date':
      return expr.type === 'date' && day.test(value) ? value : undefined
    case 'timestamp':
    case 'timestamptz':
      return expr.type === type ? instantOf(value, type === 'timestamptz') : undefined
    default:
      return decimalOf(expr, type)
  }
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const day = /^\d{4}-\d\d-\d\d$/
const instant = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?$/

function instantOf(text: string, hasZone: boolean): string | undefined {
  const [, date, time, fraction = ''] = instant.exec(text) ?? []
  if (date === undefined) return undefined
  return `${date}T${time}.${fraction.padEnd(6, '0')}${hasZone ? '+00:00' : ''}`
}

/** With exactly the digits of the column's scale. */
function decimalOf({ type: literal, value }: LiteralExpr, type: IcebergType): string | undefined {
  const scale = typeof type === 'string' ? /^decimal\(\d+,\s*(\d+)\)$/.exec(type)?.[1] : undefined
  if (scale === undefined || value === null || !/^(?:numeric|int[248])$/.test(literal)) return undefined
  const [, whole, fraction = ''] = /^(-?\d+)(?:\.(\d+))?$/.exec(value) ?? []
  const digits = fraction.replace(/0+$/, '')
  if (whole === undefined || digits.length > Number(scale)) return undefined
  return Number(scale) === 0 ? whole : `${whole}.${digits.padEnd(Number(scale), '0')}`
}

/** The text before the one `%` at the end of a pattern, or the whole of a pattern without wildcards. */
function prefixOf(pattern: string): { readonly text: string; readonly isWhole: boolean } | undefined {
  const characters = [...pattern]
  let text = ''
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? ''
    if (character === '%' && at === characters.length - 1) return { text, isWhole: false }
    if (character === '%' || character === '_') return undefined
    text += character === '\\' ? (characters[++at] ?? '') : character
  }
  return { text, isWhole: true }
}
