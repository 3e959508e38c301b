/** Joins, unions and products of tables that were read, by the columns that they share. */

import type { DaxExpression } from '../../wire/dax/ast.ts'
import { refuseDax } from '../../wire/dax/tokens.ts'
import {
  assertColumns,
  assertRows,
  type DaxColumn,
  type DaxTable,
  type Environment,
  groupRowsBy,
  mapRows,
  namedColumn,
} from './environment.ts'
import { orderedPlaces, orderKeys } from './order.ts'
import { isSame } from './tabular.ts'
import { type DaxValue, identityOfRow } from './values.ts'

/**
 * Every row of each table with every row of the others.
 * @param isOuter whether rows of the first remain where another has none
 * @throws Fault `unprocessable` for too many
 */
export async function crossTables(
  given: readonly DaxTable[],
  env: Environment,
  isOuter = false,
): Promise<DaxTable> {
  const tables = given.map(({ columns, rows }, place) => ({
    columns,
    rows: isOuter && place > 0 && rows.length === 0 ? [columns.map(() => undefined)] : rows,
  }))
  const count = tables.reduce((product, { rows }) => product * rows.length, 1)
  assertRows(env, count)
  assertColumns(tables.reduce((sum, table) => sum + table.columns.length, 0))
  const columns = tables.flatMap((table) => table.columns)
  env.run.charge(count * columns.length)
  // Before a table without rows the others may make any number.
  if (count === 0) return { columns, rows: [] }
  let all: DaxTable['rows'] = [[]]
  for (const { rows } of tables) {
    const pairs = all.flatMap((one) => rows.map((other) => [one, other] as const))
    all = await mapRows(env, pairs, ([one, other]) => [...one, ...other])
  }
  return { columns, rows: all }
}

/** The rows of all tables, under the names of the first. */
export function uniteTables(tables: readonly DaxTable[], env: Environment): DaxTable {
  const [first] = tables
  if (first === undefined || tables.some(({ columns }) => columns.length !== first.columns.length))
    return refuseDax('UNION takes tables of as many columns')
  const count = tables.reduce((sum, { rows }) => sum + rows.length, 0)
  assertRows(env, count)
  env.run.charge(count + tables.length * first.columns.length)
  const rows = tables.flatMap((table) => table.rows)
  const columns = first.columns.map((column, place): DaxColumn => {
    const others = tables.map((table) => table.columns[place])
    const isOne = others.every((other) => other?.column === column.column)
    const type = others.every((other) => other?.type === column.type) ? column.type : 'variant'
    return { ...column, column: isOne ? column.column : undefined, type }
  })
  return { columns, rows }
}

/** Whether two columns are one in a join: of the model by where they come from, others by name. */
function isShared(one: DaxColumn, other: DaxColumn): boolean {
  if (one.column !== undefined || other.column !== undefined) return one.column === other.column
  return isSame(one.name, other.name)
}

/** Places of columns that two tables share, in each. */
function sharedPlaces(left: DaxTable, right: DaxTable): readonly (readonly [number, number])[] {
  return left.columns.flatMap((column, place) => {
    const other = right.columns.findIndex((each) => isShared(column, each))
    return other < 0 ? [] : [[place, other] as const]
  })
}

/** Joins tables by the columns that they share; rows of the first without others remain where it is an outer join. */
export async function joinTables(
  left: DaxTable,
  right: DaxTable,
  isOuter: boolean,
  env: Environment,
): Promise<DaxTable> {
  const shared = sharedPlaces(left, right)
  if (shared.length === 0) return refuseDax('tables that are joined share no column')
  const added = right.columns.flatMap((_, place) =>
    shared.some(([, other]) => other === place) ? [] : [place],
  )
  const found = await groupRowsBy(env, right.rows, (row) =>
    identityOfRow(shared.map(([, place]) => row[place])),
  )
  const width = left.columns.length + added.length
  const rows: (readonly DaxValue[])[] = []
  await mapRows(env, left.rows, (row) => {
    const others = found.get(identityOfRow(shared.map(([place]) => row[place]))) ?? (isOuter ? [[]] : [])
    assertRows(env, rows.length + others.length)
    env.run.charge(others.length * width)
    for (const other of others) rows.push([...row, ...added.map((place) => other[place])])
  })
  return { columns: [...left.columns, ...added.flatMap((place) => right.columns[place] ?? [])], rows }
}

/** SUBSTITUTEWITHINDEX(table, name, others, order …): the place of a row among the others instead of what they share. */
export async function indexTable(
  [given, title, others, ...order]: readonly (DaxExpression | undefined)[],
  env: Environment,
): Promise<DaxTable> {
  if (given === undefined || others === undefined || title?.kind !== 'text')
    return refuseDax('SUBSTITUTEWITHINDEX takes a table, a name, a table and its order')
  const table = await env.run.table(given, env)
  const index = await env.run.table(others, env)
  const shared = sharedPlaces(table, index)
  if (shared.length === 0) return refuseDax('tables that are joined share no column')
  const places = await orderedPlaces(index.rows.length, await orderKeys(index, order, env), env)
  const rank = new Map(
    await mapRows(env, places, (row, place): readonly [string, number] => [
      identityOfRow(shared.map(([, other]) => index.rows[row]?.[other])),
      place,
    ]),
  )
  const left = table.columns.flatMap((_, place) => (shared.some(([own]) => own === place) ? [] : [place]))
  return {
    columns: [...left.flatMap((place) => table.columns[place] ?? []), namedColumn(title.value, 'integer')],
    rows: (
      await mapRows(env, table.rows, (row) => {
        const place = rank.get(identityOfRow(shared.map(([own]) => row[own])))
        return place === undefined ? [] : [[...left.map((each) => row[each]), place]]
      })
    ).flat(),
  }
}
