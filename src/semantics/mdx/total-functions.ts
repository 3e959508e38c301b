/**
 * Functions that make one value of a set. Aggregate asks the engine for the value over the set's rows, so that counts of
 * different values and ratios are right; the others compute it of the values at each tuple.
 */

import { refuseMdx } from '../../wire/mdx/tokens.ts'
import { type Arguments, atMost, type RunFunction, required } from './arguments.ts'
import { cellValue, decidingMember, withinSet } from './cell.ts'
import { at, type Context, type Value } from './context.ts'
import { distinct, tuplesOf, valueAt, valuesAt } from './sets.ts'
import type { Tuple } from './space.ts'
import { aValue, memberOfResult, numberOf, truthOf } from './values.ts'

/** The numbers at a set's tuples, without empties. */
function numbers(context: Context, given: Arguments): readonly number[] {
  atMost(given, 2)
  const tuples = tuplesOf(context, required(given, 0))
  const expression = given.expressions[1]
  const values =
    expression === undefined
      ? tuples.map((tuple) => context.environment.cell(at(context, tuple)))
      : valuesAt(context, tuples, expression)
  return values.filter((value) => value !== null).map(numberOf)
}

const of =
  (reduce: (values: readonly number[]) => Value): RunFunction =>
  (context, given) =>
    aValue(reduce(numbers(context, given)))

const add = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)

function aggregate(context: Context, given: Arguments): Value {
  atMost(given, 2)
  const tuples = distinct(tuplesOf(context, required(given, 0)))
  const expression = given.expressions[1]
  if (tuples.length === 0) return null
  const calculated = tuples.some((tuple) => tuple.some(({ kind }) => kind === 'calculated'))
  if (calculated) return refuseMdx('Aggregate over calculated members is not supported')
  if (expression === undefined) return overRows(context, tuples)
  const member = memberOfResult(context, context.environment.evaluate(context, expression))
  return member === undefined ? null : overRows(at(context, [member]), tuples)
}

function overRows(context: Context, tuples: readonly Tuple[]): Value {
  const measures = tuples[0]?.find((member) => member.at.index === 0)
  if (measures !== undefined) return refuseMdx('Aggregate over measures is not supported')
  const inner = withinSet(context, tuples)
  const deciding = decidingMember(inner)
  if (deciding?.at.index === 0) return refuseMdx('Aggregate of a calculated measure is not supported')
  return cellValue(inner)
}

function count(context: Context, given: Arguments): Value {
  atMost(given, 1, ['EXCLUDEEMPTY', 'INCLUDEEMPTY'])
  const tuples = tuplesOf(context, required(given, 0))
  if (!given.flags.includes('EXCLUDEEMPTY')) return tuples.length
  const values = tuples.map((tuple) => context.environment.cell(at(context, tuple)))
  context.environment.data.stopIfMissing()
  return values.filter((value) => value !== null).length
}

function median(values: readonly number[]): Value {
  if (values.length === 0) return null
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? null)
    : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}

/** The sum of squares of the distances from the mean, by the number of values less so many. */
const spread =
  (less: 0 | 1, finish: (variance: number) => number) =>
  (values: readonly number[]): Value => {
    if (values.length <= less) return null
    const mean = add(values) / values.length
    const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
    return finish(squares / (values.length - less))
  }

const variance = of(spread(1, (value) => value))
const varianceOfAll = of(spread(0, (value) => value))
const deviation = of(spread(1, Math.sqrt))
const deviationOfAll = of(spread(0, Math.sqrt))

/** DIVIDE(a, b, otherwise): empty, or the last argument, where b is empty or 0. */
function divide(context: Context, given: Arguments): Value {
  atMost(given, 3)
  const [left, right] = [valueAt(context, required(given, 0)), valueAt(context, required(given, 1))]
  if (right === null || numberOf(right) === 0)
    return given.expressions[2] === undefined ? null : valueAt(context, required(given, 2))
  return left === null ? null : numberOf(left) / numberOf(right)
}

export const totalFunctions = {
  DIVIDE: (context, given) => aValue(divide(context, given)),
  STDDEV: deviation,
  STDDEVP: deviationOfAll,
  STDEV: deviation,
  STDEVP: deviationOfAll,
  VAR: variance,
  VARIANCE: variance,
  VARIANCEP: varianceOfAll,
  VARP: varianceOfAll,
  AGGREGATE: (context, given) => aValue(aggregate(context, given)),
  SUM: of((values) => (values.length === 0 ? null : add(values))),
  AVG: of((values) => (values.length === 0 ? null : add(values) / values.length)),
  MIN: of((values) => (values.length === 0 ? null : values.reduce((one, other) => Math.min(one, other)))),
  MAX: of((values) => (values.length === 0 ? null : values.reduce((one, other) => Math.max(one, other)))),
  MEDIAN: of(median),
  COUNT: (context, given) => aValue(count(context, given)),
  DISTINCTCOUNT: (context, given) => {
    const { expressions } = given
    return aValue(count(context, { ...given, expressions, flags: ['EXCLUDEEMPTY'] }))
  },
  ISEMPTY: (context, given) => {
    atMost(given, 1)
    return aValue(valueAt(context, required(given, 0)) === null)
  },
  COALESCEEMPTY: (context, given) => {
    const values = given.expressions.map((_, index) => valueAt(context, required(given, index)))
    return aValue(values.find((value) => value !== null) ?? null)
  },
  IIF: (context, given) => {
    atMost(given, 3)
    const branch = truthOf(valueAt(context, required(given, 0))) ? 1 : 2
    const result = context.environment.evaluate(context, required(given, branch))
    return result
  },
  ABS: (context, given) => numeric(context, given, Math.abs),
  INT: (context, given) => numeric(context, given, Math.floor),
  ROUND: (context, given) => {
    atMost(given, 2)
    const places = given.expressions[1] === undefined ? 0 : numberOf(valueAt(context, required(given, 1)))
    const factor = 10 ** Math.max(-15, Math.min(15, Math.trunc(places)))
    const value = valueAt(context, required(given, 0))
    return aValue(value === null ? null : Math.round(numberOf(value) * factor) / factor)
  },
} satisfies Record<string, RunFunction>

function numeric(context: Context, given: Arguments, compute: (value: number) => number) {
  atMost(given, 1)
  const value = valueAt(context, required(given, 0))
  return aValue(value === null ? null : compute(numberOf(value)))
}
