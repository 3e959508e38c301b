/**
 * The sets of axes. Where one that is NON EMPTY is a product of sets, only the tuples are made that have rows; what remains
 * empty of them is dropped once the cells are known, as without this.
 */

import type { MdxExpression } from '../../wire/mdx/ast.ts'
import { exceeds } from './bounds.ts'
import type { Context } from './context.ts'
import { existingRows } from './existing-rows.ts'
import { hierarchize } from './set-functions.ts'
import { checkedSet, crossed, distinctHierarchies, tuplesOf } from './sets.ts'
import type { Tuple } from './space.ts'

/** The set of an axis before products in it are made. */
export interface AxisSet {
  /** Any tuple of the whole set; empty where there is none. */
  readonly sample: Tuple
  /** Whether a member is calculated, so that a cell may have a value without rows. */
  readonly hasCalculated: boolean
  /** @param isPruned whether tuples without rows are left out of products */
  readonly tuples: (isPruned: boolean) => readonly Tuple[]
}

/**
 * The set of an axis.
 * @param grouped names of measures that are computed for several level combinations at once
 * @throws Fault `bad_request`; Missing
 */
export function axisSet(context: Context, expression: MdxExpression, grouped: readonly string[]): AxisSet {
  const only = onlyItem(expression)
  if (only !== undefined) {
    const inner = axisSet(context, only, grouped)
    return { ...inner, tuples: (isPruned) => checkedSet(context, inner.tuples(isPruned)) }
  }
  if (expression.kind === 'call' && expression.name === 'HIERARCHIZE' && expression.arguments.length === 1) {
    const [set] = expression.arguments
    if (set !== undefined) {
      const inner = axisSet(context, set, grouped)
      return { ...inner, tuples: (isPruned) => hierarchize(context, inner.tuples(isPruned), false) }
    }
  }
  const factors = factorsOf(expression)
  if (factors.length > 1) {
    const sets = factors.map((factor) => axisSet(context, factor, grouped))
    return {
      sample: sets.every(({ sample }) => sample.length > 0) ? sets.flatMap(({ sample }) => sample) : [],
      hasCalculated: sets.some(({ hasCalculated }) => hasCalculated),
      tuples: (isPruned) =>
        product(
          context,
          sets.map(({ tuples }) => tuples(isPruned)),
          isPruned ? grouped : [],
        ),
    }
  }
  const tuples = tuplesOf(context, expression)
  return {
    sample: tuples[0] ?? [],
    hasCalculated: tuples.some((tuple) => tuple.some(({ kind }) => kind === 'calculated')),
    tuples: () => tuples,
  }
}

/** What braces or parentheses hold alone. */
function onlyItem(expression: MdxExpression): MdxExpression | undefined {
  if (expression.kind !== 'set' && expression.kind !== 'tuple') return undefined
  const [only, ...more] = expression.items
  return more.length === 0 ? only : undefined
}

function factorsOf(expression: MdxExpression): readonly MdxExpression[] {
  if (expression.kind === 'binary' && expression.operator === '*')
    return [...factorsOf(expression.left), ...factorsOf(expression.right)]
  if (expression.kind === 'tuple' && expression.items.length > 1) return expression.items.flatMap(factorsOf)
  if (expression.kind !== 'call' || expression.name !== 'CROSSJOIN') return [expression]
  const given = expression.arguments.filter((each) => each !== undefined)
  const isPlain = given.length === expression.arguments.length && given.length <= 32
  return isPlain ? given.flatMap(factorsOf) : [expression]
}

function product(
  context: Context,
  sets: readonly (readonly Tuple[])[],
  grouped: readonly string[],
): readonly Tuple[] {
  const { bounds, step } = context.environment
  const size = sets.reduce((count, { length }) => count * length, 1)
  const rows = size > bounds.fullProductMax ? existingRows(context, sets, grouped) : undefined
  if (rows === undefined)
    return sets.reduce<readonly Tuple[]>((tuples, set) => crossed(context, tuples, set), [[]])
  distinctHierarchies(sets.flatMap(([first]) => first ?? []))
  const found: (readonly number[])[] = []
  rows.each((places) => {
    found.push(places)
    if (found.length > bounds.setTuplesMax) exceeds(`a set has at most ${bounds.setTuplesMax} tuples`)
  })
  step(found.length)
  // In the order of the whole product.
  found.sort((one, other) => {
    const at = one.findIndex((place, set) => place !== other[set])
    return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0)
  })
  return found.map((places) => places.flatMap((place, set) => sets[set]?.[place] ?? []))
}
