/** Functions that choose tuples by the rank of a value: the greatest, the least, and those that make up a share. */

import { type Arguments, atMost, type RunFunction, required } from './arguments.ts'
import type { Context } from './context.ts'
import { tuplesOf, valueAt, valuesAt } from './sets.ts'
import { type Tuple, tupleIdentity } from './space.ts'
import { aSet, aValue, compareValues, numberOf, setOfResult } from './values.ts'

/** Tuples by their value; those of equal ones stay as they are. Without an expression, all do. */
function ranked(context: Context, given: Arguments, sign: 1 | -1) {
  const tuples = tuplesOf(context, required(given, 0))
  const expression = given.expressions[2]
  if (expression === undefined) return tuples.map((tuple) => ({ tuple, value: null }))
  const values = valuesAt(context, tuples, expression)
  const rows = tuples.map((tuple, index) => ({ tuple, value: values[index] ?? null }))
  return rows.toSorted((one, other) => compareValues(one.value, other.value) * sign)
}

/** The first tuples, until their sum reaches a bound. */
function upTo(
  rows: readonly { readonly tuple: Tuple; readonly value: ReturnType<typeof valueAt> }[],
  bound: number,
) {
  const found: Tuple[] = []
  let sum = 0
  for (const { tuple, value } of rows) {
    if (sum >= bound) break
    found.push(tuple)
    sum += numberOf(value)
  }
  return found
}

const count =
  (sign: 1 | -1): RunFunction =>
  (context, given) => {
    atMost(given, 3)
    const most = Math.max(0, Math.trunc(numberOf(valueAt(context, required(given, 1)))))
    return aSet(
      ranked(context, given, sign)
        .slice(0, most)
        .map(({ tuple }) => tuple),
    )
  }

const sum =
  (sign: 1 | -1, isShare: boolean): RunFunction =>
  (context, given) => {
    atMost(given, 3)
    required(given, 2)
    const rows = ranked(context, given, sign)
    const bound = numberOf(valueAt(context, required(given, 1)))
    const whole = rows.reduce((total, { value }) => total + numberOf(value), 0)
    return aSet(upTo(rows, isShare ? (whole * bound) / 100 : bound))
  }

export const rankFunctions = {
  TOPCOUNT: count(-1),
  BOTTOMCOUNT: count(1),
  TOPSUM: sum(-1, false),
  BOTTOMSUM: sum(1, false),
  TOPPERCENT: sum(-1, true),
  BOTTOMPERCENT: sum(1, true),
  RANK: (context, given) => {
    atMost(given, 3)
    const { evaluate } = context.environment
    const [tuple] = setOfResult(context, evaluate(context, required(given, 0))).tuples
    const tuples = tuplesOf(context, required(given, 1))
    const place =
      tuple === undefined ? -1 : tuples.findIndex((each) => tupleIdentity(each) === tupleIdentity(tuple))
    const expression = given.expressions[2]
    if (expression === undefined || place < 0) return aValue(place + 1)
    const values = valuesAt(context, tuples, expression)
    const own = numberOf(values[place] ?? null)
    return aValue(values.filter((value) => numberOf(value) > own).length + 1)
  },
} satisfies Record<string, RunFunction>
