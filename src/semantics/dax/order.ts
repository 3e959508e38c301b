/** Puts rows in order, and takes some of them: ORDER BY, START AT, TOPN, TOPNSKIP and SAMPLE. */

import type { DaxExpression } from '../../wire/dax/ast.ts'
import { refuseDax } from '../../wire/dax/tokens.ts'
import { type DaxTable, type Environment, mapRows, overRows } from './environment.ts'
import { compareForOrder, type DaxValue, numberOf } from './values.ts'

export interface OrderKey {
  readonly values: readonly DaxValue[]
  readonly descending: boolean
}

/** Places that are put in order at once. */
const runLength = 256

/** The places of rows in order; rows that are equal stay in theirs. Other work of this thread runs in between. */
export async function orderedPlaces(
  count: number,
  keys: readonly OrderKey[],
  env: Environment,
): Promise<readonly number[]> {
  const firsts = Array.from({ length: Math.ceil(count / runLength) }, (_, index) => index * runLength)
  let places = (
    await mapRows(env, firsts, (first) =>
      Array.from({ length: Math.min(runLength, count - first) }, (_, index) => first + index).sort(
        (one, other) => compareRows(keys, one, other),
      ),
    )
  ).flat()
  for (let length = runLength; length < count; length *= 2) {
    env.run.charge(count)
    places = await mergedRuns(places, length, (one, other) => compareRows(keys, one, other), env)
  }
  return places
}

/** Merges each two runs of this length that follow each other. */
async function mergedRuns(
  places: readonly number[],
  length: number,
  compare: (one: number, other: number) => number,
  env: Environment,
): Promise<number[]> {
  const merged: number[] = []
  for (let start = 0; start < places.length; start += 2 * length) {
    const [middle, end] = [
      Math.min(start + length, places.length),
      Math.min(start + 2 * length, places.length),
    ]
    for (let [left, right] = [start, middle]; left < middle || right < end; ) {
      const next = env.run.turn()
      if (next !== undefined) await next
      const [one, other] = [places[left] ?? 0, places[right] ?? 0]
      const isLeft = left < middle && (right >= end || compare(one, other) <= 0)
      merged.push(isLeft ? one : other)
      if (isLeft) left++
      else right++
    }
  }
  return merged
}

function compareRows(keys: readonly OrderKey[], one: number, other: number): number {
  for (const { values, descending } of keys) {
    const order = compareForOrder(values[one], values[other])
    if (order !== 0) return descending ? -order : order
  }
  return 0
}

/** The keys of pairs of an expression and an order, which is DESC where it is left out. */
export async function orderKeys(
  table: DaxTable,
  given: readonly (DaxExpression | undefined)[],
  env: Environment,
): Promise<readonly OrderKey[]> {
  const within = overRows(env, table)
  const keys: OrderKey[] = []
  for (let place = 0; place < given.length; ) {
    const by = given[place] ?? refuseDax('an expression of the order is missing')
    const values = await env.run.scalar(by, within)
    const order = given[place + 1]
    const descending = isDescending(order)
    // Without an order the next expression may follow at once.
    place += descending === undefined ? 1 : 2
    keys.push({ values, descending: descending ?? true })
  }
  return keys
}

function isDescending(order: DaxExpression | undefined): boolean | undefined {
  if (order?.kind === 'number') return order.value === 0
  if (order?.kind === 'name' && !order.isQuoted && /^(?:ASC|DESC)$/i.test(order.name))
    return order.name.toUpperCase() === 'DESC'
  if (order?.kind === 'call' && (order.name === 'TRUE' || order.name === 'FALSE'))
    return order.name === 'FALSE'
  return undefined
}

async function countOf(given: DaxExpression | undefined, env: Environment): Promise<number> {
  if (given === undefined) return refuseDax('a number of rows is missing')
  const [value] = await env.run.scalar(given, env)
  return Math.max(0, Math.trunc(numberOf(value)))
}

const pick = ({ columns, rows }: DaxTable, places: readonly number[]): DaxTable => ({
  columns,
  rows: places.flatMap((place) => (rows[place] === undefined ? [] : [rows[place]])),
})

/** TOPN(count, table, order …): with rows that are equal to the last. */
export async function topRows(
  [count, given, ...order]: readonly (DaxExpression | undefined)[],
  env: Environment,
): Promise<DaxTable> {
  const table = await env.run.table(given ?? refuseDax('a table is missing'), env)
  const keys = await orderKeys(table, order, env)
  const places = await orderedPlaces(table.rows.length, keys, env)
  let end = Math.min(await countOf(count, env), places.length)
  const last = places[end - 1]
  if (keys.length > 0 && last !== undefined)
    while (end < places.length && compareRows(keys, last, places[end] ?? last) === 0) end++
  return pick(table, places.slice(0, end))
}

/** TOPNSKIP(count, skipped, table, order …). */
export async function topRowsAfter(
  [count, skipped, given, ...order]: readonly (DaxExpression | undefined)[],
  env: Environment,
): Promise<DaxTable> {
  const table = await env.run.table(given ?? refuseDax('a table is missing'), env)
  const places = await orderedPlaces(table.rows.length, await orderKeys(table, order, env), env)
  const from = await countOf(skipped, env)
  return pick(table, places.slice(from, from + (await countOf(count, env))))
}

/** SAMPLE(count, table, order …): evenly spread, with the first and the last. */
export async function sampleRows(
  [count, given, ...order]: readonly (DaxExpression | undefined)[],
  env: Environment,
): Promise<DaxTable> {
  const table = await env.run.table(given ?? refuseDax('a table is missing'), env)
  const places = await orderedPlaces(table.rows.length, await orderKeys(table, order, env), env)
  const wanted = await countOf(count, env)
  if (places.length <= wanted) return pick(table, places)
  const step = wanted > 1 ? (places.length - 1) / (wanted - 1) : 0
  return pick(
    table,
    Array.from({ length: wanted }, (_, index) => places[Math.round(index * step)] ?? 0),
  )
}

/** The rows of an evaluation in its order, from where it starts. */
export async function rowsInOrder(
  table: DaxTable,
  keys: readonly OrderKey[],
  startAt: readonly DaxValue[],
  env: Environment,
): Promise<DaxTable> {
  const isBefore = (row: number): boolean => {
    for (const [place, start] of startAt.entries()) {
      const { values, descending } = keys[place] ?? { values: [], descending: false }
      const order = compareForOrder(values[row], start)
      if (order !== 0) return descending ? order > 0 : order < 0
    }
    return false
  }
  const places = await orderedPlaces(table.rows.length, keys, env)
  return pick(
    table,
    places.filter((row) => !isBefore(row)),
  )
}
