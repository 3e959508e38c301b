/** Reads what an evaluation needs by the read path, so that filters, masks, pins and usage are those of any statement. */

import { type ColumnVector, isNull, type ResultBatch } from '../../core/result-batch.ts'
import { SqlError } from '../../query/compile/base/sql-error.ts'
import type { QueryContext, QueryService, SessionCheck } from '../../query/query-service.ts'
import { refuseMdx } from '../../wire/mdx/tokens.ts'
import { defaultTextOptions, textOf } from '../../wire/postgres/text-values.ts'
import { ValueError } from '../../wire/postgres/value-error.ts'
import type { Cube, Measure } from '../cube/model.ts'
import { exceeds } from './bounds.ts'
import type { CellNeed, CellRow, MeasuredValue, MemberNeed, Need, NeedSink } from './data.ts'
import { compareKeys } from './space.ts'
import {
  type CellStatement,
  cellStatements,
  joinedDimension,
  levelSql,
  memberStatement,
  type NeedStatement,
} from './statements.ts'

interface ReadParts {
  readonly queries: QueryService
  /** Of the reader; `generated` and the search path do not matter. */
  readonly on: QueryContext
  readonly signal: AbortSignal
  /** When the statement must have ended, as performance.now() tells it. */
  readonly deadlineMs: number
  readonly sessionCheck?: SessionCheck | undefined
}

export interface NeedReader extends ReadParts {
  readonly cube: Cube
  readonly rowsMax: number
  /** Whether a metric can be computed for several level combinations at once. */
  readonly grouped: (measure: string) => boolean
  /** Measures that are read with the members of levels; none where values will be of other rows. */
  readonly speculative: readonly Measure[]
  /** Notes a statement that was run. */
  readonly note: (statement: NeedStatement & { readonly queryId: string }) => void
}

/** Reads needs, one statement after another. @throws SqlError; Fault beyond a bound */
export async function readNeeds(reader: NeedReader, needs: readonly Need[], sink: NeedSink): Promise<void> {
  const lists = needs.filter((need): need is MemberNeed => need.kind === 'members')
  for (const need of await readWithValues(reader, lists, sink)) await readMembers(reader, need, sink)
  const cells = needs.filter((need): need is CellNeed => need.kind === 'cells')
  for (const statement of cellStatements(reader, cells)) await readCells(reader, statement, sink)
}

async function readMembers(reader: NeedReader, need: MemberNeed, sink: NeedSink): Promise<void> {
  const statement = memberStatement(reader, need)
  const keys: (string | null)[] = []
  for await (const { columns, rowCount } of runRead(reader, statement, reader.note)) {
    const [column] = columns
    for (let row = 0; column !== undefined && row < rowCount; row++) keys.push(keyAt(column, row))
    assertBound(keys.length, reader.rowsMax)
  }
  await putSorted(sink, need, keys)
}

async function putSorted(sink: NeedSink, need: MemberNeed, keys: readonly (string | null)[]): Promise<void> {
  await sink.putMembers(need, keys.toSorted(compareKeys(need.level.key?.type ?? 'text')))
}

/** Levels whose members are read with values, and rows that such a statement gives at most. */
const together = { levelsMax: 3, rowsMax: 50_000 } as const

/**
 * Reads members of levels of the cube's own table by the statement that their values will need, all combinations of them
 * at once. Where that gives too many rows nothing is used of it.
 * @returns the needs that remain
 */
async function readWithValues(
  reader: NeedReader,
  needs: readonly MemberNeed[],
  sink: NeedSink,
): Promise<readonly MemberNeed[]> {
  const { cube, grouped, speculative: measures } = reader
  const own = needs.filter((need) => need.keys === undefined && joinedDimension(cube, need) === undefined)
  const done = new Set<MemberNeed>()
  const groups = Map.groupBy(own, ({ conditions }) => conditions.map(({ id }) => id).join())
  for (const group of groups.values()) {
    const lists = group.toSorted((one, other) => one.at.index - other.at.index)
    const isDistinct = new Set(lists.map(({ at }) => at.index)).size === lists.length
    const isSmall = lists.length <= together.levelsMax && isDistinct
    if (!isSmall || measures.length === 0 || !measures.every(({ name }) => grouped(name))) continue
    const conditions = lists[0]?.conditions ?? []
    const given = new Map(measures.map((measure) => [measure.name, measure]))
    const cells = Array.from({ length: 2 ** lists.length }, (_, bits): CellNeed => {
      const levels = lists.filter((_list, index) => bits & (1 << index)).map(({ level }) => level)
      return { kind: 'cells', conditions, levels, measures: new Map(given), keys: new Map() }
    })
    const [statement] = cellStatements({ cube, grouped, rowsMax: together.rowsMax }, cells)
    const found = statement && (await collectCells(reader, statement, together.rowsMax))
    if (found === undefined) continue
    for (const { need, rows } of found) await sink.putCells(need, rows)
    for (const list of lists) {
      const rows = found.find(({ need: { levels } }) => levels.length === 1 && levels[0] === list.level)?.rows
      if (rows === undefined) continue
      await putSorted(
        sink,
        list,
        rows.map(({ keys: [key = null] }) => key),
      )
      done.add(list)
    }
  }
  return needs.filter((need) => !done.has(need))
}

async function readCells(reader: NeedReader, statement: CellStatement, sink: NeedSink): Promise<void> {
  const found = await collectCells(reader, statement, reader.rowsMax)
  if (found === undefined) return assertBound(reader.rowsMax + 1, reader.rowsMax)
  const measures = allMeasures(statement.needs)
  for (const { need, rows } of found) await sink.putCells({ ...need, measures }, rows)
}

/** The rows of each need; undefined where there are more than so many in all. */
async function collectCells(reader: NeedReader, statement: CellStatement, rowsMax: number) {
  const { needs, levels, measures } = statement
  const isSeveral = needs.length > 1 && levels.length > 0
  const written = levels.map(levelSql)
  const found = needs.map((need) => ({
    need,
    rows: [] as CellRow[],
    places: need.levels.map((level) => written.indexOf(levelSql(level))),
  }))
  const byMask = Map.groupBy(found, ({ places }) => maskOf(places, levels.length))
  let count = 0
  let hasTotal = false
  for await (const { columns, rowCount } of runRead(reader, statement, reader.note)) {
    count += rowCount
    if (count > rowsMax) return undefined
    for (let row = 0; row < rowCount; row++) {
      const mask = isSeveral ? Number(valueAt(columns[levels.length], row)) : undefined
      hasTotal ||= mask === 2 ** levels.length - 1
      const targets = mask === undefined ? found : byMask.get(mask)
      if (targets === undefined)
        throw new SqlError('XX000', 'The engine gave a group that was not asked for.')
      const from = levels.length + (isSeveral ? 1 : 0)
      const values = new Map(measures.map((name, index) => [name, valueAt(columns[from + index], row)]))
      for (const { places, rows } of targets)
        rows.push({ keys: places.map((index) => keyAt(columns[index], row)), values })
    }
  }
  // Where there are no rows, the total alone has one.
  return hasTotal && count === 1 ? found.map((each) => ({ ...each, rows: [] })) : found
}

/** A statement gives every measure for each of its level combinations. */
function allMeasures(needs: readonly CellNeed[]): CellNeed['measures'] {
  return new Map(needs.flatMap(({ measures }) => [...measures]))
}

/** GROUPING(…) of a level combination: a bit for each level that is not in it, the first level's the highest. */
function maskOf(places: readonly number[], count: number): number {
  let mask = 0
  for (let index = 0; index < count; index++) mask = mask * 2 + (places.includes(index) ? 0 : 1)
  return mask
}

function assertBound(count: number, rowsMax: number): void {
  if (count > rowsMax) exceeds(`the statement reads more than ${rowsMax} members and values`)
}

/** The rows of a statement of ours. @throws SqlError */
export async function* runRead(
  { queries, on, signal, deadlineMs, sessionCheck }: ReadParts,
  { text, parameters }: NeedStatement,
  note: NeedReader['note'],
): AsyncGenerator<ResultBatch, void, undefined> {
  const context: QueryContext = { ...on, searchPath: [], generated: true }
  const prepared = await queries.prepare(context, text, [], { runsAtOnce: true, signal, sessionCheck })
  if (prepared.parameters.length !== parameters.length) refuseMdx('a key does not fit its level')
  const timeMs = Math.max(1, deadlineMs - performance.now())
  const run = queries.run(context, prepared, { parameters, signal, timeMs, sessionCheck })
  note({ text, parameters, queryId: run.queryId })
  try {
    yield* run
  } catch (thrown) {
    if (thrown instanceof ValueError) throw new SqlError('22008', 'A date or time is out of range.')
    throw thrown
  }
}

function keyAt(column: ColumnVector | undefined, row: number): string | null {
  if (column === undefined || isNull(column, row)) return null
  const text = textOf(column, row, defaultTextOptions)
  return typeof text === 'string' ? text : String(text)
}

const numbers = new Set(['int2', 'int4', 'float4', 'float8', 'numeric'])

function valueAt(column: ColumnVector | undefined, row: number): MeasuredValue {
  if (column === undefined || isNull(column, row)) return undefined
  if (column.type === 'bool') return column.values[row] !== 0
  if (column.type === 'int8') {
    const value = column.values[row] ?? 0n
    return BigInt.asIntN(53, value) === value ? Number(value) : value
  }
  const text = keyAt(column, row) ?? ''
  return numbers.has(column.type) ? Number(text) : text
}

/** The rows of a batch: keys of so many levels, then values of measures. */
export function rowsAt(
  { columns, rowCount }: ResultBatch,
  levels: number,
): readonly (readonly (MeasuredValue | string)[])[] {
  return Array.from({ length: rowCount }, (_, row) =>
    columns.map((column, index) =>
      index < levels ? (keyAt(column, row) ?? undefined) : valueAt(column, row),
    ),
  )
}
