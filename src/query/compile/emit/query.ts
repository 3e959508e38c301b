/** Writes queries: every relation and column under a generated name, every governed table protected. */

import { quoteIdentifier } from '../../../base/sql-text.ts'
import type { GovernedColumn, GovernedTable } from '../../../core/governed-table.ts'
import { isMaskAction } from '../../../core/mask.ts'
import { limits } from '../../../limits.ts'
import {
  columnAt,
  type Expr,
  exprKey,
  type FromItem,
  type GroupElement,
  type Query,
  type Select,
  type SortKey,
  type TableItem,
} from '../base/ir.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'
import type { Barrier } from '../protect/barrier.ts'
import { conjuncts, isBare } from '../protect/exposure.ts'
import { type ProtectedColumn, type Protection, rawAlias } from '../protect/protect.ts'
import { groupExprs } from '../resolve/grouping.ts'
import { ownAlias } from '../resolve/recursion.ts'
import type { Dialect } from './dialect.ts'
import { type Emitter, emitExpression, emitGroupKey, emitSort, notOrdinal, slotMark } from './expression.ts'
import { type GroupedBelow, groupedBelow } from './grouped-below.ts'
import { groupingSets } from './grouping.ts'
import { emitMask } from './mask.ts'
import { emitRecursion } from './recursion.ts'

/**
 * Writes a statement, with marks where a run fills in values (see render.ts).
 *
 * @param protections by the id of a table's appearance; a table without one is refused
 * @param barrier where hidden values need a barrier; see barrier.ts
 * @param copies receives the protected SQL of each appearance; the statement then reads copies of that
 * @throws SqlError 0A000 where the engine cannot do it with PostgreSQL's meaning, 54001 for too long a text
 */
export function emitStatement(
  dialect: Dialect,
  query: Query,
  protections: ReadonlyMap<string, Protection>,
  barrier: Barrier,
  copies?: Map<string, string>,
): string {
  const emitter: Emitter = {
    dialect,
    marksFallible: barrier.marksFallible,
    query: (each) => emitQuery(emitter, each, table),
    column: (relation, index) => `${relation}.c${index + 1}`,
    bareColumn: barrier.aroundPolicies
      ? (relation, index) =>
          isWrittenTwice(barrier, { id: relation }, index)
            ? `${relation}.b${index + 1}`
            : `${relation}.c${index + 1}`
      : undefined,
  }
  // Appearances of one table share the SQL of its filters.
  const conditions = new Map<readonly Expr[], string>()
  const table = (item: TableItem): string => {
    const protection = protections.get(item.id)
    if (protection === undefined) throw new SqlError('42501', 'permission denied')
    const { filters, filtersCanFail } = protection
    const form = filtersCanFail && barrier.aroundPolicies ? dialect.flat : same
    const condition = conditions.get(filters) ?? emitFilters(rawEmitter(emitter, item.table, form), filters)
    conditions.set(filters, condition)
    const sql = emitProtected(emitter, item, protection, condition, barrier)
    if (copies === undefined) return `(${sql}) AS ${item.id}`
    copies.set(item.id, sql)
    return `${slotMark}c${item.id}${slotMark} AS ${item.id}`
  }
  const sql = emitQuery(emitter, query, table)
  if (sql.length > limits.compiledStatementBytesMax)
    throw new SqlError('54001', 'The SQL for the engine is too long. Shorten the statement.')
  return sql
}

const same = (sql: string): string => sql

/** Whether a column is written twice: behind the barrier as `c…`, and bare as `b…`. */
function isWrittenTwice(barrier: Barrier, item: Pick<TableItem, 'id'>, index: number): boolean {
  return barrier.hides(item, index) && barrier.isReadBare(item, index)
}

/** Writes expressions of filters and masks, which read raw columns only. @param form wraps each raw column */
function rawEmitter(emitter: Emitter, table: GovernedTable, form: (sql: string) => string): Emitter {
  const column = (relation: string, index: number) => {
    const found = relation === rawAlias ? columnAt(table, index) : undefined
    if (found === undefined) throw new SqlError('XX000', 'The statement could not be compiled.')
    return form(emitter.dialect.raw(physical(found), found.type))
  }
  return { ...emitter, column, bareColumn: undefined }
}

function physical({ name }: GovernedColumn): string {
  return `${rawAlias}.${quoteIdentifier(name)}`
}

function emitFilters(emitter: Emitter, filters: readonly Expr[]): string {
  return filters.map((each) => emitExpression(emitter, each)).join(' AND ')
}

/** Writes a table with its filters and masks. @param condition of the visible rows; empty without filters */
function emitProtected(
  emitter: Emitter,
  item: TableItem,
  { columns, filters }: Protection,
  condition: string,
  barrier: Barrier,
): string {
  const { dialect } = emitter
  const isFiltered = filters.length > 0
  const ifVisible = (sql: string) => (isFiltered ? `CASE WHEN ${condition} THEN ${sql} END` : sql)
  const hidden = (sql: string) => dialect.flat(ifVisible(sql))
  // Without barriers around masks, a mask that can fail blanks all columns of hidden rows.
  const blanksAll = !barrier.aroundPolicies && columns.some(({ fallible }) => fallible)
  const outputs = columns.flatMap((column) => {
    const { index } = column
    const guardsMask = column.fallible && barrier.aroundPolicies
    const value = emitMasked(emitter, item.table, column, guardsMask ? hidden : same)
    if (!barrier.hides(item, index) && !guardsMask && !blanksAll) return [`${value} AS c${index + 1}`]
    const shown = hidden(value)
    if (!isWrittenTwice(barrier, item, index)) return [`${shown} AS c${index + 1}`]
    return [`${shown} AS c${index + 1}`, `${guardsMask ? shown : value} AS b${index + 1}`]
  })
  const relation = `${slotMark}r${item.id}${slotMark}`
  const where = isFiltered ? ` WHERE ${condition}` : ''
  return `SELECT ${outputs.join(', ') || '1 AS c0'} FROM ${relation} AS ${rawAlias}${where}`
}

/** @param form wraps the raw column that the mask reads */
function emitMasked(
  emitter: Emitter,
  table: GovernedTable,
  { index, mask, expression }: ProtectedColumn,
  form: (sql: string) => string,
): string {
  const column = columnAt(table, index)
  if (column === undefined) throw new SqlError('XX000', 'The statement could not be compiled.')
  const raw = rawEmitter(emitter, table, form)
  if (mask === undefined) return raw.column(rawAlias, index)
  if (expression !== undefined) return emitExpression(raw, expression)
  if (!isMaskAction(mask.action) || mask.action === 'apply-expression')
    throw new SqlError('42501', 'permission denied')
  const salt = `${slotMark}s${slotMark}`
  return emitMask(emitter.dialect, mask.action, form(physical(column)), column.type, salt)
}

type WriteTable = (item: TableItem) => string

function emitQuery(emitter: Emitter, query: Query, table: WriteTable): string {
  const ctes = query.ctes.map((cte) => `${cte.id} AS (${emitCte(emitter, cte.query, table)})`)
  const head = ctes.length > 0 ? `WITH ${ctes.join(', ')} ` : ''
  return `${head}${emitBody(emitter, query, table)}`
}

function emitCte(emitter: Emitter, query: Query, table: WriteTable): string {
  const { body, columns } = query
  if (body.kind !== 'set' || body.recursive === undefined) return emitQuery(emitter, query, table)
  const step = body.right.body
  if (step.kind !== 'select') throw notSupported('This recursive query')
  return emitRecursion(emitter.dialect, body, columns, {
    base: emitQuery(emitter, body.left, table),
    step: (more) => emitSelect(emitter, step, more, table, undefined),
    alias: ownAlias(step, body.recursive) ?? '',
  })
}

function emitBody(emitter: Emitter, query: Query, table: WriteTable): string {
  const { body, orderBy } = query
  const limit = query.limit && emitCount(emitter, query.limit, 'n')
  const offset = query.offset && emitCount(emitter, query.offset, 'o')
  const tail = emitter.dialect.limit(limit, offset)
  const queryOf = (by: Emitter) => (each: Query) => emitQuery(by, each, table)
  const below = body.kind === 'select' ? groupedBelow(emitter, body, queryOf) : undefined
  const above = below?.emitter ?? emitter
  const sort = (keys: readonly SortKey[]) =>
    keys.length > 0 ? ` ORDER BY ${emitSort(above, keys, true)}` : ''
  if (body.kind === 'values') {
    const rows = body.rows.map((row) => `(${row.map((each) => emitExpression(emitter, each)).join(', ')})`)
    const names = query.columns.map((_, index) => `c${index + 1}`)
    return `SELECT ${names.join(', ')} FROM (VALUES ${rows.join(', ')}) AS v(${names.join(', ')})${sort(orderBy)}${tail}`
  }
  if (body.kind === 'set') {
    const [left, right] = [body.left, body.right].map((side) => emitSide(emitter, side, table))
    return `${left} ${body.op}${body.all ? ' ALL' : ''} ${right}${sort(orderBy)}${tail}`
  }
  if (body.distinctOn) return emitDistinctOn(emitter, body, orderBy, tail, table, below)
  const order = sort(orderBy)
  return `${emitSelect(emitter, body, [], table, below)}${order}${tail}`
}

/** A number of rows: a literal's digits, or a parameter. */
/** @param mark of a parameter there, as render.ts reads it */
function emitCount(emitter: Emitter, expr: NonNullable<Query['limit']>, mark: 'n' | 'o'): string {
  if (expr.kind === 'literal' && expr.value !== null && /^\d+$/.test(expr.value)) return expr.value
  if (expr.kind === 'parameter') return `${slotMark}${mark}${expr.number}${slotMark}`
  return emitExpression(emitter, expr)
}

/** A side of a set operation, in a subquery of its own unless it is a plain SELECT. */
function emitSide(emitter: Emitter, side: Query, table: WriteTable): string {
  const sql = emitQuery(emitter, side, table)
  const plain =
    side.body.kind === 'select' &&
    side.body.distinctOn === undefined &&
    side.ctes.length === 0 &&
    side.orderBy.length === 0 &&
    side.limit === undefined &&
    side.offset === undefined
  if (plain) return sql
  return `SELECT ${side.columns.map((_, index) => `c${index + 1}`).join(', ')} FROM (${sql}) AS u`
}

function emitSelect(
  emitter: Emitter,
  select: Select,
  more: readonly string[],
  table: WriteTable,
  below: GroupedBelow | undefined,
): string {
  const above = below?.emitter ?? emitter
  const sub = (each: Expr) => emitExpression(above, each)
  const targets = select.targets.map((each, index) => `${sub(each)} AS c${index + 1}`)
  const from = select.from.map((item) => emitItem(emitter, item, table)).join(' CROSS JOIN ')
  if (select.groupDistinct) throw notSupported('GROUP BY DISTINCT')
  // Without a key or an aggregate DuckDB merges several grouping sets into one group.
  const isKeyless = select.groupBy.length > 0 && select.groupBy.flatMap(groupExprs).length === 0
  const having = [...(select.having ? [sub(select.having)] : []), ...(isKeyless ? ['count(*) >= 0'] : [])]
  const where = select.where ? ` WHERE ${emitCondition(emitter, select.where)}` : ''
  const rows = `${from && ` FROM ${from}`}${where}`
  const groups = emitGroups(above, select.groupBy)
  return [
    `SELECT ${select.distinct ? 'DISTINCT ' : ''}${[...targets, ...more].join(', ')}`,
    below ? below.from(rows) : rows,
    groups,
    having.length > 0 && ` HAVING ${having.join(' AND ')}`,
  ]
    .filter(Boolean)
    .join('')
}

/** A condition of WHERE or ON. Parts that cannot fail read bare columns, without the barrier. */
function emitCondition(emitter: Emitter, condition: Expr): string {
  const bare = emitter.bareColumn && { ...emitter, column: emitter.bareColumn }
  const written = conjuncts(condition).map((each) =>
    emitExpression(bare !== undefined && isBare(each) ? bare : emitter, each),
  )
  return written.length === 1 ? written.join('') : `(${written.join(' AND ')})`
}

/**
 * DISTINCT ON. Its keys and its order are columns of a subquery, so that DuckDB binds no expression of them. An engine
 * without DISTINCT ON numbers the rows, for which it must sort them all.
 */
function emitDistinctOn(
  emitter: Emitter,
  select: Select,
  orderBy: readonly SortKey[],
  tail: string,
  table: WriteTable,
  below: GroupedBelow | undefined,
): string {
  const above = below?.emitter ?? emitter
  const targets = select.targets.map(exprKey)
  const more: string[] = []
  // DuckDB copies every column of a row that it keeps, so a key that is a target gets no second column.
  const columnOf = (expr: Expr) => {
    const target = targets.indexOf(exprKey(expr))
    if (target >= 0) return `c${target + 1}`
    const name = `k${more.length + 1}`
    more.push(`${notOrdinal(expr, emitExpression(above, expr))} AS ${name}`)
    return name
  }
  const sorted = orderBy
    .map(({ expr, descending, nullsFirst }) => {
      return `${columnOf(expr)} ${descending ? 'DESC' : 'ASC'} NULLS ${nullsFirst ? 'FIRST' : 'LAST'}`
    })
    .join(', ')
  const end = `${sorted === '' ? '' : ` ORDER BY ${sorted}`}${tail}`
  const names = select.targets.map((_, index) => `c${index + 1}`).join(', ')
  const on = select.distinctOn ?? []
  if (emitter.dialect.distinctOn) {
    const keys = on.map(columnOf).join(', ')
    const rows = emitSelect(emitter, select, more, table, below)
    return `SELECT DISTINCT ON (${keys}) ${names} FROM (${rows}) AS d${end}`
  }
  const partition = on.map((each) => notOrdinal(each, emitExpression(above, each))).join(', ')
  const order = orderBy.length > 0 ? ` ORDER BY ${emitSort(above, orderBy, false)}` : ''
  const number = `row_number() OVER (PARTITION BY ${partition}${order}) AS rn`
  const rows = emitSelect(emitter, select, [...more, number], table, below)
  return `SELECT ${names} FROM (${rows}) AS d WHERE rn = 1${end}`
}

function emitGroups(emitter: Emitter, elements: readonly GroupElement[]): string {
  const write = (expr: Expr) => notOrdinal(expr, emitExpression(emitter, expr))
  if (elements.length === 0) return ''
  if (elements.every(({ kind }) => kind === 'expr'))
    return ` GROUP BY ${elements
      .flatMap(groupExprs)
      .map((expr) => emitGroupKey(emitter, expr))
      .join(', ')}`
  const sets = groupingSets(elements)
  const isColumn = (expr: Expr) => expr.kind === 'column' || emitter.grouped?.(expr) !== undefined
  if (!emitter.dialect.groupsExpressions && !sets.flat().every(isColumn))
    throw notSupported('A grouping set of expressions on this engine')
  return ` GROUP BY GROUPING SETS (${sets.map((set) => `(${set.map(write).join(', ')})`).join(', ')})`
}

function emitItem(emitter: Emitter, item: FromItem, table: WriteTable): string {
  const { dialect } = emitter
  switch (item.kind) {
    case 'table':
      return table(item)
    case 'cte':
      return `${item.cte} AS ${item.id}`
    case 'subquery':
      return `${item.lateral ? 'LATERAL ' : ''}(${emitQuery(emitter, item.query, table)}) AS ${item.id}`
    case 'function': {
      const args = item.args.map((arg) => emitExpression(emitter, arg))
      if (item.name === 'unnest') return dialect.unnest(args, item.id, item.ordinality)
      return dialect.series(args, item.outputs[0]?.type ?? 'int8', item.id, item.ordinality)
    }
    case 'join': {
      const left = emitItem(emitter, item.left, table)
      const right = emitItem(emitter, item.right, table)
      if (item.type === 'CROSS') return `(${left} CROSS JOIN ${right})`
      if (item.on === undefined) throw new SqlError('42601', 'A join needs a condition.')
      return `(${left} ${item.type} JOIN ${right} ON ${emitCondition(emitter, item.on)})`
    }
  }
}
