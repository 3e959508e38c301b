/**
 * Resolves rows that a statement only shows: `SELECT (a, b)`. They are printed as PostgreSQL prints a record, and are
 * texts. Nowhere else is a row a value, because texts are not compared, sorted or grouped as rows are.
 */

import type { Node, RowExpr, SelectStmt } from 'libpg-query'
import type { Expr } from '../base/ir.ts'
import { notSupported } from '../base/sql-error.ts'
import { casts, isString } from '../base/types.ts'
import { rowText } from '../functions/row-text.ts'
import { castTo, typed } from './coerce.ts'
import { type Env, identifierOf, type Resolver } from './context.ts'
import { shortBoolean } from './short-boolean.ts'

/** The rows that the outermost select list shows and by which nothing is sorted, grouped or made distinct. */
export function shownRows(tree: SelectStmt): ReadonlySet<RowExpr> {
  const { targetList = [], distinctClause, op, sortClause = [], groupClause = [] } = tree
  const keys = [...sortClause, ...groupClause]
  if (distinctClause !== undefined || op !== 'SETOP_NONE') return new Set()
  const rows = targetList.flatMap((node, index) => {
    const target = 'ResTarget' in node ? node.ResTarget : undefined
    const value = target?.val
    if (value === undefined || !('RowExpr' in value)) return []
    const isKey = keys.some((key) => isNamedBy(key, index + 1, target?.name ?? 'row'))
    return isKey ? [] : [value.RowExpr]
  })
  return new Set(rows)
}

function isNamedBy(key: Node, ordinal: number, name: string): boolean {
  const by = 'SortBy' in key ? key.SortBy.node : key
  if (by !== undefined && 'A_Const' in by) return by.A_Const.ival?.ival === ordinal
  if (by === undefined || !('ColumnRef' in by)) return false
  const [field, ...more] = by.ColumnRef.fields ?? []
  return more.length === 0 && field !== undefined && 'String' in field && identifierOf(field) === name
}

/**
 * The text of a row.
 * @param isText whether the row is cast to text, which is a value everywhere
 * @throws SqlError 0A000 for a row that is more than shown, and for a field without a text
 */
export function resolveRow(resolver: Resolver, row: RowExpr, env: Env, isText = false): Expr {
  const { args = [] } = row
  const isServed = isText || resolver.shownRows.has(row)
  if (!isServed || args.length === 0) throw notSupported('A row value', row.location)
  const texts = args.map((arg) => {
    const inner = { ...env, sets: undefined }
    const field =
      'RowExpr' in arg ? resolveRow(resolver, arg.RowExpr, inner, true) : typed(resolver.expr(arg, inner))
    if (field.type === 'bool') return shortBoolean(field)
    if (isString(field.type)) return field
    if (!casts(field.type, 'text')) throw notSupported(`A row value with ${field.type}`, row.location)
    return castTo(field, 'text')
  })
  return { kind: 'call', type: 'text', def: rowText, args: texts }
}
