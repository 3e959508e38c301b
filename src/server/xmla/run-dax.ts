/** Runs a query in DAX and writes a rowset for each EVALUATE. */

import { Fault } from '../../base/fault.ts'
import { eachInTurns } from '../../base/in-turns.ts'
import { type DaxResult, runDax } from '../../semantics/dax/run.ts'
import { type DaxValue, isDate } from '../../semantics/dax/values.ts'
import {
  type RowsetColumn,
  type RowsetContent,
  type RowsetType,
  type RowsetValue,
  rowsetEnd,
  rowsetStart,
  writeRow,
} from '../../wire/soap/rowset.ts'
import type { DiscoverContext } from './discover/rowset.ts'

type RunParts = Parameters<typeof runDax>[0]

interface DaxStatementRequest {
  readonly text: string
  readonly parameters: ReadonlyMap<string, string>
  /** The property `Cube` of the request. */
  readonly cube: string | undefined
  readonly content: RowsetContent
}

/**
 * Runs a query.
 * @returns the pieces of the root, or of several roots within their element
 * @throws Fault, SqlError
 */
export async function runDaxStatement(
  parts: RunParts,
  { on, cubes, signal }: DiscoverContext,
  { text, parameters, cube, content }: DaxStatementRequest,
): Promise<Iterable<string>> {
  const request = { query: text, parameters, cube, cubes: await cubes() }
  const { results } = await runDax(parts, on, request, { signal })
  // A date that clients cannot hold is found before anything is sent.
  for (const { rows } of results) await eachInTurns(rows, signal, (row) => row.forEach(assertHeld))
  return writeResults(results, content)
}

function assertHeld(value: DaxValue): void {
  if (isDate(value) && !Number.isFinite(value.ms))
    throw new Fault('unprocessable', 'DAX: a date is out of the range that clients can hold. Filter it.')
}

/** [MS-SSAS]: several results are roots within one element. */
const several = 'http://schemas.microsoft.com/analysisservices/2003/xmla-multipleresults'

function* writeResults(results: readonly DaxResult[], content: RowsetContent): Generator<string> {
  if (results.length > 1) yield `<results xmlns="${several}">`
  for (const result of results) yield* writeResult(result, content)
  if (results.length > 1) yield '</results>'
}

const types: Readonly<Record<DaxResult['columns'][number]['type'], RowsetType>> = {
  text: 'string',
  integer: 'long',
  number: 'double',
  boolean: 'boolean',
  date: 'dateTime',
}

function* writeResult({ columns: given, rows }: DaxResult, content: RowsetContent): Generator<string> {
  const columns = given.map(
    ({ title, type }): RowsetColumn => ({ name: title, type: types[type], optional: true }),
  )
  yield rowsetStart(columns, content)
  if (content === 'SchemaData' || content === 'Data')
    for (const row of rows)
      yield writeRow(
        columns,
        columns.map(({ type }, place) => written(row[place], type)),
      )
  yield rowsetEnd
}

/** A value as its column declares it. */
function written(value: DaxValue, type: RowsetType): RowsetValue {
  if (value === undefined) return undefined
  if (isDate(value)) return type === 'dateTime' ? new Date(value.ms) : value.text
  if (type === 'string') return String(value)
  if (type === 'long' && typeof value === 'number' && !Number.isSafeInteger(value))
    throw new Fault('unprocessable', 'DAX: a value is no whole number where one is declared.')
  return value
}
