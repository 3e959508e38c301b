/**
 * Finds the range of values that a statement can use of each column, so that an engine may skip files. A range comes
 * only from ANDed conditions that compare a bare column with literals, because these hold for every used row.
 *
 * Where a row filter applies, the statement's own conditions are ignored: otherwise the bytes read would depend on
 * hidden rows in a way that the principal controls. Conditions on masked columns are ignored for the same reason.
 */

import type { ColumnRange, RangeBound } from '../../../core/column-range.ts'
import type { GovernedTable } from '../../../core/governed-table.ts'
import type { IcebergType } from '../../../core/iceberg-type.ts'
import type { ColumnExpr, Expr, FromItem, LiteralExpr, Query, TableItem } from '../base/ir.ts'
import type { TableAppearance } from '../resolve/context.ts'
import { rawAlias } from './policy-expression.ts'
import { isMasked, type Protection } from './protect.ts'

/**
 * The ranges of each table that a statement reads.
 * @param appearances every appearance of a table
 * @param protections by the appearance's id
 */
export function columnRanges(
  query: Query,
  appearances: readonly TableAppearance[],
  protections: ReadonlyMap<string, Protection>,
): ReadonlyMap<GovernedTable, readonly ColumnRange[]> {
  const ranges = new Map<GovernedTable, readonly ColumnRange[]>()
  for (const [table, all] of Map.groupBy(appearances, (each) => each.table)) {
    const [first, second] = all
    const protection = first && protections.get(first.id)
    if (first === undefined || protection === undefined) continue
    if (protection.filters.length > 0)
      ranges.set(
        table,
        protection.filters.flatMap((filter) => rangesIn(filter, rawAlias, table)),
      )
    // A table that appears twice gets no ranges, because each appearance may use other rows.
    else if (second === undefined) ranges.set(table, statementRanges(query, first, protection))
  }
  return ranges
}

function statementRanges(
  query: Query,
  { id, table }: TableAppearance,
  { columns }: Protection,
): ColumnRange[] {
  const masked = new Set(
    columns.flatMap((column) => (isMasked(column) ? (table.columns[column.index]?.fieldId ?? []) : [])),
  )
  return conditionsOn(id, query)
    .flatMap((where) => rangesIn(where, id, table))
    .filter(({ fieldId }) => !masked.has(fieldId))
}

/** The conditions that every used row of an appearance meets in its own SELECT. */
function conditionsOn(id: string, query: Query): readonly Expr[] {
  const inCtes = query.ctes.flatMap((cte) => conditionsOn(id, cte.query))
  const { body } = query
  if (body.kind === 'values') return inCtes
  if (body.kind === 'set') return [...inCtes, ...conditionsOn(id, body.left), ...conditionsOn(id, body.right)]
  const here = body.where !== undefined && body.from.some((item) => keepsWhere(item, id))
  return [
    ...inCtes,
    ...(here && body.where ? [body.where] : []),
    ...body.from.flatMap(subqueriesOf).flatMap((sub) => conditionsOn(id, sub)),
  ]
}

/** Whether WHERE drops rows of the appearance without a trace: no outer join puts NULLs in their place. */
function keepsWhere(item: FromItem, id: string): boolean {
  if (item.kind === 'table') return (item as TableItem).id === id
  if (item.kind !== 'join') return false
  const { type, left, right } = item
  return (
    (type !== 'RIGHT' && type !== 'FULL' && keepsWhere(left, id)) ||
    (type !== 'LEFT' && type !== 'FULL' && keepsWhere(right, id))
  )
}

function subqueriesOf(item: FromItem): readonly Query[] {
  if (item.kind === 'subquery') return [item.query]
  return item.kind === 'join' ? [...subqueriesOf(item.left), ...subqueriesOf(item.right)] : []
}

/** The ranges that a condition sets to the columns of one relation. */
function rangesIn(condition: Expr, relation: string, table: GovernedTable): ColumnRange[] {
  if (condition.kind === 'logic' && condition.op === 'AND')
    return condition.args.flatMap((each) => rangesIn(each, relation, table))
  const compared = comparisonOf(condition)
  if (compared === undefined || compared.column.relation !== relation || compared.column.levelsUp > 0)
    return []
  const column = table.columns[compared.column.index]
  if (column === undefined) return []
  const { fieldId, type } = column
  const lower = compared.lower && boundOf(compared.lower, type)
  const upper = compared.upper && boundOf(compared.upper, type)
  // Engines order texts by different collations, so only equality makes a range.
  if (type === 'string' && lower !== upper) return []
  return lower === undefined && upper === undefined ? [] : [{ fieldId, lower, upper }]
}

interface Comparison {
  readonly column: ColumnExpr
  readonly lower?: LiteralExpr | undefined
  readonly upper?: LiteralExpr | undefined
}

const flipped: Readonly<Record<string, string>> = { '=': '=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' }

function comparisonOf(expr: Expr): Comparison | undefined {
  if (expr.kind === 'in') {
    const [only, more] = expr.list
    // A list of one is an equality. The bounds of a longer list cost more to find than they save.
    return only === undefined || more !== undefined ? undefined : compare('=', expr.arg, only)
  }
  if (expr.kind !== 'call') return undefined
  const [first, second, third] = expr.args
  if (first === undefined || second === undefined) return undefined
  if (expr.def.name === 'between' && third !== undefined) {
    if (first.kind !== 'column' || second.kind !== 'literal' || third.kind !== 'literal') return undefined
    return { column: first, lower: second, upper: third }
  }
  return compare(expr.def.name, first, second)
}

function compare(sign: string, left: Expr, right: Expr): Comparison | undefined {
  const other = flipped[sign]
  if (other === undefined) return undefined
  if (left.kind === 'literal') return right.kind === 'column' ? compare(other, right, left) : undefined
  if (left.kind !== 'column' || right.kind !== 'literal') return undefined
  return {
    column: left,
    ...(sign !== '<' && sign !== '<=' && { lower: right }),
    ...(sign !== '>' && sign !== '>=' && { upper: right }),
  }
}

/** A literal as the bound that Iceberg stores for a column; undefined where the types differ. */
function boundOf({ value, type }: LiteralExpr, column: IcebergType): RangeBound | undefined {
  if (value === null) return undefined
  if (column === 'int' || column === 'long')
    return /^int[248]$/.test(type) && /^-?\d+$/.test(value) ? BigInt(value) : undefined
  if (column === 'string') return type === 'text' || type === 'varchar' ? value : undefined
  if (column === 'date') return type === 'date' ? daysOf(value) : undefined
  if (column === 'timestamp' || column === 'timestamptz') return type === column ? microsOf(value) : undefined
  return undefined
}

const day = /^(\d{4})-(\d\d)-(\d\d)$/
const instant = /^(\d{4}-\d\d-\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?$/

function daysOf(text: string): bigint | undefined {
  if (!day.test(text)) return undefined
  const ms = Date.parse(`${text}T00:00:00Z`)
  return Number.isNaN(ms) ? undefined : BigInt(ms / 86_400_000)
}

function microsOf(text: string): bigint | undefined {
  const [, date = '', hours, minutes, seconds, fraction = ''] = instant.exec(text) ?? []
  const days = daysOf(date)
  if (days === undefined) return undefined
  const ofDay = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)
  return (days * 86_400n + BigInt(ofDay)) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
}
