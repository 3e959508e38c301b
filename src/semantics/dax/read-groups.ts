/**
 * Reads groups of a cube by the read path, so that filters, masks, pins and usage are those of any statement: keys of
 * columns, and aggregates for each. Sets of columns over the same rows are one statement with grouping sets. Values of
 * clients are parameters.
 */

import { quoteIdentifier } from '../../base/sql-text.ts'
import { type ColumnVector, isNull } from '../../core/result-batch.ts'
import { SqlError } from '../../query/compile/base/sql-error.ts'
import type { QueryContext, QueryService, SessionCheck } from '../../query/query-service.ts'
import { refuseDax } from '../../wire/dax/tokens.ts'
import { defaultTextOptions, textOf } from '../../wire/postgres/text-values.ts'
import { ValueError } from '../../wire/postgres/value-error.ts'
import type { Cube } from '../cube/model.ts'
import { exceeds } from './bounds.ts'
import { type Filter, type FilterValues, filterSql } from './filters.ts'
import type { TabularColumn } from './tabular.ts'
import { type DaxType, type DaxValue, dateFromText } from './values.ts'

/** What is computed of the rows of a group. */
export interface Aggregate {
  /** Tells aggregates apart; its SQL over the relation `f`. */
  readonly sql: string
  readonly type: DaxType
  /** Whether it can be computed for several sets of columns at once. */
  readonly isGrouped: boolean
}

export interface GroupReader {
  readonly queries: QueryService
  /** Of the reader; `generated` and the search path do not matter. */
  readonly on: QueryContext
  readonly cube: Cube
  readonly signal: AbortSignal
  /** When the query must have ended, as performance.now() tells it. */
  readonly deadlineMs: number
  readonly rowsMax: number
  readonly sessionCheck?: SessionCheck | undefined
  /** Notes a statement that was run. */
  readonly note: (statement: DaxStatement & { readonly queryId: string }) => void
}

export interface DaxStatement {
  readonly text: string
  /** Values of `$1` and so on. */
  readonly parameters: readonly string[]
}

interface GroupRequest {
  readonly columns: readonly TabularColumn[]
  /** Places of columns, for each grouping set. */
  readonly sets: readonly (readonly number[])[]
  readonly aggregates: readonly Aggregate[]
  readonly filters: readonly Filter[]
}

export interface Group {
  /** The place of its grouping set. */
  readonly set: number
  /** By column; undefined for BLANK, and for a column that is not in the set. */
  readonly keys: readonly DaxValue[]
  /** By aggregate. */
  readonly values: readonly DaxValue[]
}

const columnsMax = 30

/** The groups that have rows. @throws SqlError; Fault beyond a bound */
export async function readGroups(reader: GroupReader, request: GroupRequest): Promise<readonly Group[]> {
  const { sets, aggregates } = request
  if (sets.length <= 1 || aggregates.every(({ isGrouped }) => isGrouped))
    return await readSets(reader, request)
  // A metric that does not add up over time is computed for one set at a time.
  const groups: Group[] = []
  for (const [place, set] of sets.entries())
    for (const group of await readSets(reader, { ...request, sets: [set] }))
      groups.push({ ...group, set: place })
  return groups
}

async function readSets(reader: GroupReader, request: GroupRequest): Promise<readonly Group[]> {
  const { columns, sets, aggregates } = request
  const isSeveral = sets.length > 1
  const used = columns.flatMap((_, place) => (sets.some((set) => set.includes(place)) ? [place] : []))
  const places = new Map(sets.map((set, place) => [maskOf(used, set), place]))
  const groups: Group[] = []
  let hasTotal = false
  for await (const batch of run(reader, statementOf(reader.cube, request, used))) {
    if (groups.length + batch.rowCount > reader.rowsMax)
      exceeds(`the query reads more than ${reader.rowsMax} rows`)
    for (let row = 0; row < batch.rowCount; row++) {
      const mask = isSeveral && used.length > 0 ? Number(valueAt(batch.columns[used.length], row)) : undefined
      hasTotal ||= mask === 2 ** used.length - 1
      const set = mask === undefined ? 0 : places.get(mask)
      if (set === undefined) throw new SqlError('XX000', 'The engine gave a group that was not asked for.')
      const keys = columns.map((_, place): DaxValue => {
        const at = used.indexOf(place)
        return at < 0 ? undefined : valueAt(batch.columns[at], row)
      })
      const from = used.length + (mask === undefined ? 0 : 1)
      groups.push({
        set,
        keys,
        values: aggregates.map((_, place) => valueAt(batch.columns[from + place], row)),
      })
    }
  }
  // Where there are no rows, the total alone has one.
  return hasTotal && groups.length === 1 ? [] : groups
}

/** GROUPING(…) of a set: a bit for each column that is not in it, the first column's the highest. */
function maskOf(used: readonly number[], set: readonly number[]): number {
  return used.reduce((mask, place) => mask * 2 + (set.includes(place) ? 0 : 1), 0)
}

function statementOf(
  { relation }: Cube,
  { columns, sets, aggregates, filters }: GroupRequest,
  used: readonly number[],
): DaxStatement {
  if (used.length > columnsMax) exceeds(`a query groups by at most ${columnsMax} columns`)
  const values: FilterValues = { parameters: [], count: 0 }
  const keyAt = (place: number) => columns[place]?.sql ?? refuseDax('a column is missing')
  const keys = used.map(keyAt)
  const where = filters.map((filter) => filterSql(filter, values))
  const isSeveral = sets.length > 1 && keys.length > 0
  const targets = [
    ...keys.map((key, place) => `${key} AS "k${place}"`),
    ...(isSeveral ? [`GROUPING(${keys.join(', ')}) AS "g"`] : []),
    ...aggregates.map(({ sql }, place) => `${sql} AS "m${place}"`),
  ]
  const written = sets.map((set) => `(${set.map(keyAt).join(', ')})`)
  const group = isSeveral
    ? ` GROUP BY GROUPING SETS (${written.join(', ')})`
    : keys.length > 0
      ? ` GROUP BY ${keys.join(', ')}`
      : ''
  const one = targets.length > 0 ? targets : ['1 AS "one"']
  // Only the total has a row without rows.
  const having = keys.length > 0 ? '' : ' HAVING count(*) > 0'
  const from = `${quoteIdentifier(relation.schema)}.${quoteIdentifier(relation.name)} AS "f"`
  const condition = where.length > 0 ? ` WHERE ${where.join(' AND ')}` : ''
  return {
    text: `SELECT ${one.join(', ')} FROM ${from}${condition}${group}${having}`,
    parameters: values.parameters,
  }
}

async function* run(
  { queries, on, signal, deadlineMs, rowsMax, sessionCheck, note }: GroupReader,
  { text, parameters }: DaxStatement,
) {
  const context: QueryContext = { ...on, searchPath: [], generated: true }
  const limited = `${text} LIMIT ${rowsMax + 1}`
  const prepared = await queries.prepare(context, limited, [], { runsAtOnce: true, signal, sessionCheck })
  if (prepared.parameters.length !== parameters.length) refuseDax('a value does not fit its column')
  const timeMs = Math.max(1, deadlineMs - performance.now())
  const found = queries.run(context, prepared, { parameters, signal, timeMs, sessionCheck })
  note({ text: limited, parameters, queryId: found.queryId })
  try {
    yield* found
  } catch (thrown) {
    if (thrown instanceof ValueError) throw new SqlError('22008', 'A date or time is out of range.')
    throw thrown
  }
}

function valueAt(column: ColumnVector | undefined, row: number): DaxValue {
  if (column === undefined || isNull(column, row)) return undefined
  switch (column.type) {
    case 'bool':
      return column.values[row] !== 0
    case 'int2':
    case 'int4':
    case 'float8':
      return column.values[row]
    case 'int8': {
      const value = column.values[row] ?? 0n
      return BigInt.asIntN(53, value) === value ? Number(value) : value
    }
    default: {
      const text = String(textOf(column, row, defaultTextOptions))
      if (column.type === 'numeric' || column.type === 'float4') return Number(text)
      return ['date', 'timestamp', 'timestamptz'].includes(column.type) ? dateFromText(text) : text
    }
  }
}
