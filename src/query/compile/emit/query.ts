/** Writes queries: every relation and column under a generated name, every governed table protected. */

import { limits } from '../../../limits.ts'
import {
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
import type { Protection } from '../protect/protect.ts'
import { groupExprs } from '../resolve/grouping.ts'
import { ownAlias } from '../resolve/recursion.ts'
import type { Dialect } from './dialect.ts'
import {
  type Emitter,
  emitExpression,
  emitGroupKey,
  emitSort,
  emitTest,
  notOrdinal,
  slotMark,
} from './expression.ts'
import { type GroupedBelow, groupedBelow } from './grouped-below.ts'
import { groupingSets } from './grouping.ts'
import { emitFilters, emitProtected, isWrittenTwice, rawEmitter, same } from './protected-table.ts'
import { emitRecursion } from './recursion.ts'
import { shownNumeric } from './shown-numeric.ts'

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
  const sql = emitQuery(emitter, query, table, true)
  if (sql.length > limits.compiledStatementBytesMax)
    throw new SqlError('54001', 'The SQL for the engine is too long. Shorten the statement.')
  return sql
}

type WriteTable = (item: TableItem) => string

/** @param outermost whether a client reads its rows */
function emitQuery(emitter: Emitter, query: Query, table: WriteTable, outermost = false): string {
  const ctes = query.ctes.map((cte) => `${cte.id} AS (${emitCte(emitter, cte.query, table)})`)
  const head = ctes.length > 0 ? `WITH ${ctes.join(', ')} ` : ''
  return `${head}${emitBody(emitter, query, table, outermost)}`
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

function emitBody(emitter: Emitter, query: Query, table: WriteTable, outermost: boolean): string {
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
  const shown = outermost && !body.distinct ? shownTargets(above, body) : []
  // A text is no key of an order.
  const order = sort(
    orderBy.map((key) =>
      shown[(key.ordinal ?? 0) - 1] === undefined ? key : { ...key, ordinal: undefined },
    ),
  )
  return `${emitSelect(emitter, body, [], table, below, shown)}${order}${tail}`
}

/** The targets that are written as texts, by their places. */
function shownTargets(emitter: Emitter, { targets, groupBy }: Select): readonly (string | undefined)[] {
  if (!targets.some(({ type, size }) => type === 'numeric' && size === undefined)) return []
  const keys = new Set(groupBy.flatMap(groupExprs).map(exprKey))
  return targets.map((each) => shownNumeric(emitter, each, keys))
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
  shown: readonly (string | undefined)[] = [],
): string {
  const above = below?.emitter ?? emitter
  const sub = (each: Expr) => emitExpression(above, each)
  const targets = select.targets.map((each, index) => `${shown[index] ?? sub(each)} AS c${index + 1}`)
  const from = select.from.map((item) => emitItem(emitter, item, table)).join(' CROSS JOIN ')
  if (select.groupDistinct) throw notSupported('GROUP BY DISTINCT')
  // Without a key or an aggregate DuckDB merges several grouping sets into one group.
  const isKeyless = select.groupBy.length > 0 && select.groupBy.flatMap(groupExprs).length === 0
  const having = [...(select.having ? [sub(select.having)] : []), ...(isKeyless ? ['count(*) >= 0'] : [])]
  const where = select.where ? ` WHERE ${emitCondition(emitter, select.where, emitTest)}` : ''
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
function emitCondition(emitter: Emitter, condition: Expr, write = emitExpression): string {
  const bare = emitter.bareColumn && { ...emitter, column: emitter.bareColumn }
  const written = conjuncts(condition).map((each) =>
    write(bare !== undefined && isBare(each) ? bare : emitter, each),
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
