/**
 * What is computed of rows of the cube: metrics, and aggregates of columns that a report makes itself. They are read for
 * all rows of a frame by one statement, and looked up by the values of each row.
 */

import { quoteIdentifier } from '../../base/sql-text.ts'
import type { DaxExpression } from '../../wire/dax/ast.ts'
import { refuseDax } from '../../wire/dax/tokens.ts'
import { type Environment, type Frame, mapRows, placeOf, variableNamed } from './environment.ts'
import { type Filter, identityOfFilter } from './filters.ts'
import { type Aggregate, type Group, readGroups } from './read-groups.ts'
import { columnNamed, measureNamed, type TabularColumn, tableNamed } from './tabular.ts'
import { type DaxType, type DaxValue, daxTypeOf, identityOfRow } from './values.ts'

const blankForZero = (sql: string) => `nullif(${sql}, 0)`

/** By function: its SQL over a column, and its type; undefined for the column's. */
const columnAggregates: Readonly<
  Record<string, readonly [write: (column: string) => string, type: DaxType | undefined]>
> = {
  SUM: [(column) => `sum(${column})`, undefined],
  MIN: [(column) => `min(${column})`, undefined],
  MAX: [(column) => `max(${column})`, undefined],
  MINA: [(column) => `min(${column})`, undefined],
  MAXA: [(column) => `max(${column})`, undefined],
  AVERAGE: [(column) => `avg(${column})`, 'number'],
  COUNT: [(column) => blankForZero(`count(${column})`), 'integer'],
  COUNTA: [(column) => blankForZero(`count(${column})`), 'integer'],
  COUNTBLANK: [(column) => blankForZero(`count(*) - count(${column})`), 'integer'],
  DISTINCTCOUNTNOBLANK: [(column) => blankForZero(`count(DISTINCT ${column})`), 'integer'],
  DISTINCTCOUNT: [
    // BLANK is a value, too.
    (column) =>
      blankForZero(`count(DISTINCT ${column}) + CASE WHEN count(*) > count(${column}) THEN 1 ELSE 0 END`),
    'integer',
  ],
}

/** Functions that aggregate a column of the cube. */
export const isColumnAggregate = (name: string): boolean => Object.hasOwn(columnAggregates, name)

/** What an expression is of the rows of the cube, if it is an aggregate of them; else undefined. */
export function aggregateOf(expression: DaxExpression, env: Environment): Aggregate | undefined {
  if (expression.kind === 'column') return measureAggregate(expression, env)
  if (expression.kind !== 'call') return undefined
  const [given, ...more] = expression.items
  if (more.length > 0 || given === undefined) return undefined
  if (expression.name === 'COUNTROWS') return countAggregate(given, env)
  const found = isColumnAggregate(expression.name) ? columnAggregates[expression.name] : undefined
  if (found === undefined || given.kind !== 'column') return undefined
  const column = columnNamed(env.run.model, given.table, given.name)
  if (column === undefined) return undefined
  const [write, type = column.type] = found
  if (expression.name === 'SUM' && type !== 'integer' && type !== 'number')
    return refuseDax('SUM takes a column of numbers')
  return { sql: write(column.sql), type, isGrouped: true }
}

function measureAggregate(
  { table, name }: { readonly table: string | undefined; readonly name: string },
  { run, frame }: Environment,
): Aggregate | undefined {
  if (placeOf(frame.columns, { table, name }) >= 0 || run.measures.has(name.toLowerCase())) return undefined
  if (table !== undefined && tableNamed(run.model, table).measures.length === 0) return undefined
  const measure = measureNamed(run.model, name)
  if (measure === undefined) return undefined
  return {
    sql: `MEASURE(${quoteIdentifier(measure.name)})`,
    type: daxTypeOf(measure.type),
    isGrouped: run.isGrouped(measure.name),
  }
}

/** Rows of the cube's own table, or different values of a column. */
function countAggregate(given: DaxExpression, env: Environment): Aggregate | undefined {
  if (given.kind === 'name') {
    if (!given.isQuoted && variableNamed(env, given.name) !== undefined) return undefined
    if (!tableNamed(env.run.model, given.name).isOwn)
      return refuseDax('COUNTROWS counts rows of the table of the measures, and different values of columns')
    return { sql: blankForZero('count(*)'), type: 'integer', isGrouped: true }
  }
  if (given.kind !== 'call' || !['VALUES', 'DISTINCT'].includes(given.name)) return undefined
  const [of] = given.items
  return of?.kind === 'column'
    ? aggregateOf({ kind: 'call', name: 'DISTINCTCOUNT', items: [of] }, env)
    : undefined
}

/** The aggregates that an expression needs of its frame as it is, so that they can be read together. */
export function aggregatesWithin(expression: DaxExpression, env: Environment): readonly Aggregate[] {
  const own = aggregateOf(expression, env)
  if (own !== undefined) return [own]
  switch (expression.kind) {
    case 'not':
    case 'negate':
      return aggregatesWithin(expression.of, env)
    case 'operation':
      return [expression.left, expression.right].flatMap((each) => aggregatesWithin(each, env))
    case 'call': {
      // What changes the context reads for itself, and so do functions over rows of a table.
      const isPlain = !/X$|^CALCULATE/.test(expression.name) || expression.items.length === 1
      return isPlain ? expression.items.flatMap((each) => (each ? aggregatesWithin(each, env) : [])) : []
    }
    default:
      return []
  }
}

const identityOf = ({ sql }: Aggregate, groups: readonly number[], filters: readonly Filter[]) =>
  JSON.stringify([sql, groups, ...filters.map(identityOfFilter)])

/** What tells the groups of a frame apart: which columns are rolled up, and the values of the others. */
function groupIdentity(keys: readonly DaxValue[], rolled: number): string {
  return `${rolled}/${identityOfRow(keys)}`
}

/** The columns of a frame that are its filter context. @throws Fault where one does not come from the cube */
function groupColumns({ columns, groups }: Frame): readonly TabularColumn[] {
  return groups.map((place) => columns[place]?.column ?? refuseDax('a column does not come from the model'))
}

/** Puts values that were read into the cache of a frame. */
export function cacheGroups(
  { frame, filters }: Environment,
  aggregates: readonly Aggregate[],
  groups: readonly Group[],
  rolledOf: (set: number) => number,
): void {
  for (const [place, aggregate] of aggregates.entries()) {
    const values = new Map(
      groups.map((group) => [groupIdentity(group.keys, rolledOf(group.set)), group.values[place]]),
    )
    frame.cache.set(identityOf(aggregate, frame.groups, filters), values)
  }
}

/** The values of an aggregate for the rows of the frame. */
export async function evaluateAggregate(
  aggregate: Aggregate,
  env: Environment,
): Promise<readonly DaxValue[]> {
  const { frame, filters, run } = env
  const id = identityOf(aggregate, frame.groups, filters)
  if (!frame.cache.has(id)) {
    const masks = [...new Set(frame.rows.map((_, row) => frame.rolled?.[row] ?? 0))]
    const places = frame.groups.map((_, place) => place)
    const sets = masks.map((mask) => places.filter((place) => (mask & (1 << place)) === 0))
    const found =
      frame.rows.length === 0
        ? []
        : await readGroups(run.reader, {
            ...{ columns: groupColumns(frame), sets, aggregates: [aggregate] },
            filters: [...filters, ...rowsOfFrame(frame)],
          })
    cacheGroups(env, [aggregate], found, (set) => masks[set] ?? 0)
  }
  const values = frame.cache.get(id)
  run.charge(frame.rows.length)
  return await mapRows(env, frame.rows, (row, index) => {
    const mask = frame.rolled?.[index] ?? 0
    const keys = frame.groups.map((place, bit) => ((mask & (1 << bit)) === 0 ? row[place] : undefined))
    return values?.get(groupIdentity(keys, mask))
  })
}

/** Rows up to which a statement names the values for which it is read. */
const namedRowsMax = 500

function rowsOfFrame(frame: Frame): readonly Filter[] {
  const { rows, groups, rolled } = frame
  if (groups.length !== 1 || rolled !== undefined || rows.length > namedRowsMax) return []
  const columns = groupColumns(frame)
  return [{ kind: 'rows', columns, rows: rows.map((row) => groups.map((place) => row[place])) }]
}
