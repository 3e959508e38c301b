/**
 * Values of columns among which every row that a statement can use must lie: engines leave out files by them.
 * A comparison counts where the rows that fail it are dropped for certain: a conjunct of a row filter, or of the
 * WHERE beside the table. Both drop NULL, so what an outer join makes of a missing row is dropped as well.
 */

import type { GovernedTable } from '../core/governed-table.ts'
import type { ColumnRange, RangeBound } from '../engine/engine.ts'
import { type Body, childrenOf, type Expr, type FromItem, type Query, type TableItem } from './ir.ts'
import { type Protection, rawAlias } from './protect.ts'

export type TableRanges = ReadonlyMap<GovernedTable, readonly ColumnRange[]>

interface Appearance {
  readonly item: TableItem
  /** What the rows must satisfy beside it. */
  readonly where: readonly Expr[]
}

/**
 * The ranges of each table that appears once; one that appears twice is opened once, for all of its rows.
 * @param appearances every one of the statement
 * @param protections by the appearance's id
 * @param parameters PostgreSQL text forms, `$1` first
 */
export function tableRanges(
  query: Query,
  appearances: readonly { readonly table: GovernedTable }[],
  protections: ReadonlyMap<string, Protection>,
  parameters: readonly (string | null)[],
): TableRanges {
  const ranges = new Map<GovernedTable, readonly ColumnRange[]>()
  for (const only of appearancesIn(query)) {
    const { table, id } = only.item
    const protection = protections.get(id)
    const isOnly = appearances.filter((each) => each.table === table).length === 1
    if (!isOnly || protection === undefined) continue
    const masked = new Set(protection.columns.flatMap(({ index, mask }) => (mask ? [index] : [])))
    const shown = only.where.flatMap((each) => rangesOf(each, id, table, masked, parameters))
    const filtered = protection.filters
      .flatMap(conjuncts)
      .flatMap((each) => rangesOf(each, rawAlias, table, new Set(), parameters))
    ranges.set(table, [...filtered, ...shown])
  }
  return ranges
}

function appearancesIn(query: Query): Appearance[] {
  const order = query.orderBy.map(({ expr }) => expr)
  return [
    ...query.ctes.flatMap((cte) => appearancesIn(cte.query)),
    ...inBody(query.body),
    ...inExpressions([...order, query.limit, query.offset]),
  ]
}

function inBody(body: Body): Appearance[] {
  if (body.kind === 'set') return [...appearancesIn(body.left), ...appearancesIn(body.right)]
  if (body.kind === 'values') return inExpressions(body.rows.flat())
  const where = body.where === undefined ? [] : conjuncts(body.where)
  const groups = body.groupBy.flatMap(function expressions(element): Expr[] {
    if (element.kind === 'expr') return [element.expr]
    return element.kind === 'empty' ? [] : element.items.flatMap(expressions)
  })
  return [
    ...body.from.flatMap((item) => inFrom(item, where)),
    ...inExpressions([...body.targets, ...(body.distinctOn ?? []), body.where, ...groups, body.having]),
  ]
}

function inFrom(item: FromItem, where: readonly Expr[]): Appearance[] {
  switch (item.kind) {
    case 'table':
      return [{ item, where }]
    case 'cte':
      return []
    case 'subquery':
      return appearancesIn(item.query)
    case 'function':
      return inExpressions(item.args)
    case 'join':
      return [...inFrom(item.left, where), ...inFrom(item.right, where), ...inExpressions([item.on])]
  }
}

function inExpressions(expressions: readonly (Expr | undefined)[]): Appearance[] {
  return expressions.flatMap((expr) => {
    if (expr === undefined) return []
    const below = inExpressions(childrenOf(expr))
    return expr.kind === 'subquery'
      ? [...below, ...inExpressions(expr.args), ...appearancesIn(expr.query)]
      : below
  })
}

function conjuncts(expr: Expr): readonly Expr[] {
  return expr.kind === 'logic' && expr.op === 'AND' ? expr.args.flatMap(conjuncts) : [expr]
}

const mirrored: Readonly<Record<string, string>> = { '=': '=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' }

function rangesOf(
  expr: Expr,
  relation: string,
  table: GovernedTable,
  masked: ReadonlySet<number>,
  parameters: readonly (string | null)[],
): ColumnRange[] {
  const columnOf = (each: Expr | undefined) =>
    each?.kind === 'column' && each.relation === relation && each.levelsUp === 0 && !masked.has(each.index)
      ? table.columns[each.index]
      : undefined
  const bound = (each: Expr | undefined, type: unknown) => boundOf(each, type, parameters)
  if (expr.kind === 'in') {
    const column = columnOf(expr.arg)
    const values = expr.list.map((each) => bound(each, column?.type))
    if (column === undefined || values.length === 0 || values.includes(undefined)) return []
    const sorted = (values as RangeBound[]).toSorted(compareBounds)
    return [{ fieldId: column.fieldId, lower: sorted[0], upper: sorted.at(-1) }]
  }
  if (expr.kind === 'call' && expr.def.name === 'between') {
    const [arg, from, to] = expr.args
    const column = columnOf(arg)
    const [lower, upper] = [bound(from, column?.type), bound(to, column?.type)]
    // One bound alone holds, too; the order of texts is the engine's matter.
    if (column === undefined || column.type === 'string') return []
    return [{ fieldId: column.fieldId, lower, upper }]
  }
  if (expr.kind !== 'call' || !Object.hasOwn(mirrored, expr.def.name)) return []
  const [left, right] = expr.args
  const column = columnOf(left) ?? columnOf(right)
  const operator = columnOf(left) === undefined ? mirrored[expr.def.name] : expr.def.name
  const value = bound(columnOf(left) === undefined ? left : right, column?.type)
  if (column === undefined || value === undefined) return []
  // The order of texts is the engine's matter; equality is not.
  if (typeof value === 'string' && operator !== '=') return []
  return [
    {
      fieldId: column.fieldId,
      lower: operator === '<' || operator === '<=' ? undefined : value,
      upper: operator === '>' || operator === '>=' ? undefined : value,
    },
  ]
}

function compareBounds(left: RangeBound, right: RangeBound): number {
  if (typeof left === 'string') return Buffer.compare(Buffer.from(left), Buffer.from(String(right)))
  return left < right ? -1 : left > right ? 1 : 0
}

const integers = new Set(['int2', 'int4', 'int8'])

/** A constant as a bound of a column's type; undefined where it is another expression or type, or NULL. */
function boundOf(
  expr: Expr | undefined,
  columnType: unknown,
  parameters: readonly (string | null)[],
): RangeBound | undefined {
  if (expr?.kind !== 'literal' && expr?.kind !== 'parameter') return undefined
  const text = expr.kind === 'literal' ? expr.value : (parameters[expr.number - 1] ?? null)
  if (text === null) return undefined
  const { type } = expr
  if (columnType === 'int' || columnType === 'long')
    return integers.has(type) && /^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined
  if (columnType === 'string') return type === 'text' || type === 'varchar' ? text : undefined
  if (columnType === 'date' && type === 'date') {
    const micros = /^\d{4}-\d\d-\d\d$/.test(text) ? microsOf(text) : undefined
    return micros === undefined ? undefined : micros / 86_400_000_000n
  }
  if ((columnType === 'timestamp' || columnType === 'timestamptz') && type === columnType)
    return microsOf(text)
  return undefined
}

/** Micros of `YYYY-MM-DD[ HH:MM:SS[.ffffff]]` in UTC; undefined for any other form. */
function microsOf(text: string): bigint | undefined {
  const [, day = '', time = '00:00:00', fraction = ''] =
    /^(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?)?$/.exec(text) ?? []
  const ms = Date.parse(`${day}T${time}Z`)
  if (!Number.isSafeInteger(ms) || new Date(ms).toISOString().slice(0, 10) !== day) return undefined
  return BigInt(ms) * 1_000n + BigInt(fraction.padEnd(6, '0'))
}
