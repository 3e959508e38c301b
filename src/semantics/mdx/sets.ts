/** Sets of tuples: their bounds and shape, crossing, and each tuple once. */

import type { MdxExpression } from '../../wire/mdx/ast.ts'
import { refuseMdx } from '../../wire/mdx/tokens.ts'
import { exceeds } from './bounds.ts'
import { at, type Context, type Value } from './context.ts'
import { existingTuples } from './exists.ts'
import { type Member, type Tuple, tupleIdentity } from './space.ts'
import { setOfResult, valueOfResult } from './values.ts'

/** The set, within its bounds and of one shape. @throws Fault `bad_request` */
export function checkedSet({ environment }: Context, tuples: readonly Tuple[]): readonly Tuple[] {
  const { setTuplesMax } = environment.bounds
  if (tuples.length > setTuplesMax) exceeds(`a set has at most ${setTuplesMax} tuples`)
  environment.step(tuples.length)
  const shape = (tuple: Tuple) => tuple.map((member) => member.at.index).join()
  const first = tuples[0] && shape(tuples[0])
  if (tuples.some((tuple) => shape(tuple) !== first))
    refuseMdx('the tuples of a set are of the same hierarchies in the same order')
  return tuples
}

/** @throws Fault `bad_request` where a hierarchy has two members */
export function distinctHierarchies(members: readonly Member[]): Tuple {
  if (new Set(members.map((member) => member.at.index)).size !== members.length)
    refuseMdx('a tuple has one member of each hierarchy')
  return members
}

/** Each tuple of one set beside each of another, where members of one dimension exist together. @throws Fault `bad_request` beyond the bound */
export function crossed(context: Context, left: readonly Tuple[], right: readonly Tuple[]): readonly Tuple[] {
  const { environment } = context
  const { setTuplesMax } = environment.bounds
  if (left.length * right.length > setTuplesMax) exceeds(`a set has at most ${setTuplesMax} tuples`)
  environment.step(left.length * right.length)
  if (left[0] !== undefined && right[0] !== undefined) distinctHierarchies([...left[0], ...right[0]])
  return existingTuples(
    context,
    left.flatMap((one) => right.map((other) => [...one, ...other])),
  )
}

/** Each tuple once, where it first stands. */
export function distinct(tuples: readonly Tuple[]): readonly Tuple[] {
  const seen = new Set<string>()
  return tuples.filter((tuple) => {
    const id = tupleIdentity(tuple)
    if (seen.has(id)) return false
    seen.add(id)
    return true
  })
}

/** The tuples of a set expression. */
export function tuplesOf(context: Context, expression: MdxExpression): readonly Tuple[] {
  return setOfResult(context, context.environment.evaluate(context, expression)).tuples
}

/** The value of an expression. */
export function valueAt(context: Context, expression: MdxExpression): Value {
  return valueOfResult(context, context.environment.evaluate(context, expression))
}

/** The value of an expression at each tuple. What must be read for all of them is read at once. @throws Missing */
export function valuesAt(
  context: Context,
  tuples: readonly Tuple[],
  expression: MdxExpression,
): readonly Value[] {
  const set = { tuples }
  const values = tuples.map((tuple, index) =>
    valueAt({ ...at(context, tuple), current: { set, index } }, expression),
  )
  context.environment.data.stopIfMissing()
  return values
}
