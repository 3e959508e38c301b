/** Says how an answer of the read path differs from PostgreSQL's. */

import { type SqlType, typeOid } from '../../../src/core/sql-type.ts'
import { classifyError } from '../../../src/engine/duckdb/classify-error.ts'
import { normal, typeIn } from './compare.ts'
import type { Answer } from './duckdb.ts'

/** The SQLSTATE of a refusal, of a value that is computed behind the engine, or of the engine's error as a client gets it. */
export function stateOf(thrown: unknown): string {
  const own: unknown = Reflect.get(thrown as object, 'sqlState')
  return typeof own === 'string' ? own : classifyError(thrown).code
}

/**
 * Whether the rows are the same in another order, and a column, by which they may be sorted, has the same values in the
 * same places: rows that are equal by ORDER BY come in any order.
 */
function differsInTies(actual: Answer, expected: Answer, types: readonly SqlType[]): boolean {
  const isSame = (mine: Answer['rows'], theirs: Answer['rows'], of: readonly SqlType[], ordered: boolean) =>
    Bun.deepEquals(normal(mine, of, ordered), normal(theirs, of, ordered))
  const column = ({ rows }: Answer, index: number) => rows.map((row) => [row[index] ?? null])
  return (
    isSame(actual.rows, expected.rows, types, false) &&
    types.some((type, index) => isSame(column(actual, index), column(expected, index), [type], true))
  )
}

/**
 * Compares names, types and rows, which are in order where the statement ends with one; or SQLSTATEs.
 * @returns the difference, undefined where there is none
 */
export function differenceOf(text: string, actual: Answer | string, expected: Answer | string) {
  if (typeof expected === 'string' || typeof actual === 'string') {
    const states = [actual, expected].map((each) => (typeof each === 'string' ? each : 'an answer'))
    return states[0] === states[1] ? undefined : `${states[0]} instead of ${states[1]}`
  }
  const types = actual.columns.map(({ type }) => type)
  const isOrdered = /order by[^)]*$/i.test(text)
  const mine = {
    columns: actual.columns.map(({ name, type }) => [name, String(typeOid(type))]),
    rows: normal(actual.rows, types, isOrdered),
  }
  const theirs = {
    columns: expected.columns.map(({ name, type }) => [name, typeIn(type)]),
    rows: normal(expected.rows, types, isOrdered),
  }
  const areSameRows =
    Bun.deepEquals(mine.rows, theirs.rows) || (isOrdered && differsInTies(actual, expected, types))
  if (areSameRows && Bun.deepEquals(mine.columns, theirs.columns)) return undefined
  return `${JSON.stringify(mine)} instead of ${JSON.stringify(theirs)}`
}
