/** Compiles WITH and RETURN: items, groups, order, SKIP and LIMIT. */

import type { Expression, ProjectClause } from '../wire/cypher/ast.ts'
import { refuse } from '../wire/cypher/tokens.ts'
import { hasAggregate, namesOf } from './conditions.ts'
import { type Compiled, compileExpression, condition, ordered } from './expression.ts'
import type { Making } from './match.ts'
import { type Binding, isScalar, type Scope, type Type } from './scope.ts'
import { type Rows, rowBounds } from './stages.ts'

/** Rows in their order. */
export interface Projected extends Rows {
  /** The column by which the rows are ordered. */
  readonly place: string
  /** The items, in order. */
  readonly items: readonly { readonly name: string; readonly binding: Binding }[]
}

interface Item {
  readonly name: string
  readonly expression: Expression
  readonly compiled: Compiled
  readonly binding: Binding
  readonly isGroup: boolean
}

/** Adds the steps of a WITH or RETURN. */
export function compileProject(clause: ProjectClause, rows: Rows, making: Making): Projected {
  const { stages, statement, as } = making
  const before: Scope = { names: rows.names, statement, as }
  const exceeded = stages.fresh('k')
  const counted: string[] = []
  const items = clause.items.map(({ expression, as: name }): Item => {
    const column = stages.fresh('c')
    const isGroup = expression.kind !== 'aggregate'
    const compiled = isGroup
      ? compileExpression(expression, before)
      : compileAggregate(expression, before, counted)
    const { label, edge } = compiled.binding ?? {}
    const binding = { type: compiled.type, column, ...(label && { label }), ...(edge && { edge }) }
    return { name, expression, compiled, binding, isGroup }
  })
  const groups = items.some(({ isGroup }) => !isGroup)
  const orders = clause.orderBy.map(({ expression, descending }) => {
    const found = orderOf(expression, items, before, clause.distinct || groups)
    return { ...found, column: stages.fresh('o'), descending }
  })
  const columns = items.flatMap(({ compiled, binding }) => columnsOf(compiled, binding))
  const keys = items.flatMap(({ compiled, isGroup }) =>
    isGroup ? [compiled.sql, ...(compiled.id === undefined ? [] : [compiled.id])] : [],
  )
  const beside = orders.flatMap(({ sql, column }) => (sql === undefined ? [] : [`${sql} as ${column}`]))
  const bounds = counted.length === 0 ? [] : [`(${counted.join(' or ')}) as ${exceeded}`]
  const selected = [...columns, ...beside, ...bounds].join(', ')
  // Grouped by position, because a parameter is another expression each time that it is written.
  const positions = groupPositions(items)
  const group = groups && keys.length > 0 ? ` group by ${positions.join(', ')}` : ''
  const source = rows.from === undefined ? '' : ` from ${rows.from} s`
  const made = `select ${clause.distinct ? 'distinct ' : ''}${selected}${source}${group}`
  const place = stages.fresh('p')
  const order = orders
    .map(({ item, column, descending }) => `${item ?? `s.${column}`}${descending ? ' desc' : ''}`)
    .join(', ')
  const all = stages.add(
    `select s.*, row_number() over (${order === '' ? '' : `order by ${order}`}) as ${place} from (${made}) s`,
  )
  if (bounds.length > 0) stages.exceeds(`exists (select 1 from ${all} where ${exceeded})`)
  const names = new Map(items.map(({ name, binding }) => [name, binding]))
  const page = `select s.* from ${all} s order by s.${place}${paging(clause, before)}`
  const from = stages.add(`select s.* from (${page}) s`)
  const filtered =
    clause.where === undefined
      ? from
      : stages.add(`select s.* from ${from} s where ${condition(clause.where, { names, statement, as })}`)
  return { from: filtered, names, place, items: items.map(({ name, binding }) => ({ name, binding })) }
}

function columnsOf({ sql, type, id }: Compiled, { column }: Binding): readonly string[] {
  // A column has a type, also where every value is null.
  const value = type === 'null' ? 'null::text' : sql
  return [`${value} as ${column}`, ...(id === undefined ? [] : [`${id} as ${column}i`])]
}

function groupPositions(items: readonly Item[]): readonly number[] {
  const positions: number[] = []
  let next = 1
  for (const { compiled, isGroup } of items) {
    const width = compiled.id === undefined ? 1 : 2
    if (isGroup) for (let at = next; at < next + width; at++) positions.push(at)
    next += width
  }
  return positions
}

/** What rows are ordered by: an item, or a value beside the items. */
function orderOf(
  expression: Expression,
  items: readonly Item[],
  before: Scope,
  onlyItems: boolean,
): { readonly item?: string; readonly sql?: string } {
  const text = JSON.stringify(expression)
  const same = items.find(
    ({ name, expression: own }) =>
      JSON.stringify(own) === text || (expression.kind === 'variable' && expression.name === name),
  )
  if (same !== undefined) return { item: orderKey(same.binding.type, `s.${same.binding.column}`) }
  if (hasAggregate(expression)) refuse('ORDER BY names an aggregate that is an item')
  const after = new Map(items.map(({ name, binding }) => [name, binding]))
  const needed = [...namesOf(expression)]
  if (needed.length > 0 && needed.every((name) => after.has(name))) {
    const { type, sql } = compileExpression(expression, { ...before, names: after })
    return { item: orderKey(type, sql) }
  }
  if (onlyItems) refuse('after DISTINCT or an aggregate, ORDER BY names items')
  const { type, sql } = compileExpression(expression, before)
  return { sql: orderKey(type, sql) }
}

function orderKey(type: Type, sql: string): string {
  if (type === 'null') return 'null::text'
  if (!isScalar(type)) refuse('rows are ordered by texts, numbers and booleans')
  return ordered({ type, sql })
}

function compileAggregate(
  { name, distinct, argument }: Extract<Expression, { kind: 'aggregate' }>,
  scope: Scope,
  counted: string[],
): Compiled {
  if (argument === undefined) return { type: 'number', sql: 'count(*)::float8' }
  const given = compileExpression(argument, scope)
  const { type, sql } = given
  const each = `${distinct ? 'distinct ' : ''}${sql}`
  const must = (isFit: boolean, what: string) => isFit || refuse(`${name} takes ${what}`)
  switch (name) {
    case 'count':
      return { type: 'number', sql: `count(${type === 'null' ? 'null::text' : each})::float8` }
    case 'collect': {
      if (type === 'null')
        return { type: { list: 'null' }, sql: `case when count(*) >= 0 then '[]'::jsonb end` }
      must(typeof type === 'string', 'no lists')
      counted.push(`count(${each}) > ${rowBounds.collectedMax}`)
      const item = `${distinct ? 'distinct ' : ''}to_jsonb(${sql})`
      return {
        type: { list: typeof type === 'string' ? type : 'null' },
        sql: `coalesce(jsonb_agg(${item}) filter (where ${sql} is not null), '[]'::jsonb)`,
      }
    }
    case 'sum':
      must(type === 'number' || type === 'null', 'numbers')
      return { type: 'number', sql: `coalesce(sum(${type === 'null' ? 'null::float8' : each}), 0)` }
    case 'avg':
      must(type === 'number' || type === 'null', 'numbers')
      return { type: 'number', sql: `avg(${type === 'null' ? 'null::float8' : each})` }
    default: {
      must(type === 'number' || type === 'text' || type === 'null', 'numbers or texts')
      if (type !== 'text')
        return { type: 'number', sql: `${name}(${type === 'null' ? 'null::float8' : sql})` }
      return { type, sql: `(${name}(${ordered(given)}) collate "default")` }
    }
  }
}

function paging({ skip, limit }: ProjectClause, scope: Scope): string {
  const count = (expression: Expression, what: string) => {
    const value =
      expression.kind === 'literal'
        ? expression.value
        : expression.kind === 'parameter'
          ? scope.statement.given(expression.name)
          : undefined
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > rowBounds.rowsMax)
      refuse(`${what} takes a whole number from 0 to ${rowBounds.rowsMax}`)
    return value
  }
  const skipped = skip === undefined ? '' : ` offset ${count(skip, 'SKIP')}`
  return limit === undefined ? skipped : `${skipped} fetch first ${count(limit, 'LIMIT')} rows only`
}
