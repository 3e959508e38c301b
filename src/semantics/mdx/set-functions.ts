/** Functions that make sets of sets: crossing, filtering, ordering by hierarchy, and the like. */

import type { MdxExpression } from '../../wire/mdx/ast.ts'
import { refuseMdx } from '../../wire/mdx/tokens.ts'
import { type Arguments, atMost, type RunFunction, required } from './arguments.ts'
import { exceeds, stepsOfText } from './bounds.ts'
import { at, type Context, type Result } from './context.ts'
import { existingWith } from './exists.ts'
import { setNameOf } from './formulas.ts'
import { calculatedMembers, compareMembers, isAbove, siblingsOf } from './members.ts'
import { checkedSet, crossed, distinct, tuplesOf, valueAt, valuesAt } from './sets.ts'
import { type Member, parentOf, type Tuple, tupleIdentity } from './space.ts'
import {
  aSet,
  aValue,
  compareValues,
  hierarchyOfResult,
  numberOf,
  textOfValue,
  truthOf,
  tupleOfResult,
} from './values.ts'

const isVisual = (member: Member) =>
  (member.kind === 'all' || member.kind === 'key') && member.visual !== undefined
const identities = (tuples: readonly Tuple[]) => new Set(tuples.map(tupleIdentity))

function crossJoin(context: Context, given: Arguments): readonly Tuple[] {
  atMost(given, 32)
  required(given, 0)
  return given.expressions.reduce<readonly Tuple[]>(
    (tuples, _, index) => crossed(context, tuples, tuplesOf(context, required(given, index))),
    [[]],
  )
}

/** Tuples at which one of the values, at a tuple of `by`, is not empty. */
function nonEmpty(context: Context, tuples: readonly Tuple[], by: readonly Tuple[]): readonly Tuple[] {
  const found = tuples.filter((tuple) => {
    const inner = at(context, tuple)
    // All are computed, so that what must be read is read at once.
    return by.map((each) => context.environment.cell(at(inner, each))).some((value) => value !== null)
  })
  context.environment.data.stopIfMissing()
  return found
}

function addCalculated(context: Context, tuples: readonly Tuple[]): readonly Tuple[] {
  const [first] = tuples
  if (first === undefined || first.length > 1) return tuples
  const added = new Map<string, Tuple>()
  const parents = new Set(tuples.map(([member]) => (member && parentOf(member))?.uniqueName ?? ''))
  const [member] = first
  for (const each of member === undefined ? [] : calculatedMembers(context, member.at))
    if (parents.has(parentOf(each)?.uniqueName ?? '')) added.set(tupleIdentity([each]), [each])
  return distinct([...tuples, ...added.values()])
}

/** Tuples in the order of their hierarchies. @param post each member after those below it */
export function hierarchize(context: Context, tuples: readonly Tuple[], post: boolean): readonly Tuple[] {
  const compare = compareMembers(context.environment, post)
  context.environment.step(tuples.length * 4)
  return tuples.toSorted((one, other) => {
    for (let index = 0; index < one.length; index++) {
      const order = compare(one[index] as Member, other[index] as Member)
      if (order !== 0) return order
    }
    return 0
  })
}

/** The name of a set, in lower case; undefined where it has none. */
function setNameIn(expression: MdxExpression): string | undefined {
  if (expression.kind === 'alias') return expression.name.toLowerCase()
  return expression.kind === 'name' ? setNameOf(expression.parts) : undefined
}

/** GENERATE(set, set or text): what the second is at each tuple of the first. */
function generate(context: Context, given: Arguments): Result {
  atMost(given, 3, ['ALL'])
  const tuples = tuplesOf(context, required(given, 0))
  const each = required(given, 1)
  const set = { tuples }
  const name = setNameIn(required(given, 0))
  const texts: string[] = []
  const found: Tuple[] = []
  let isText = false
  tuples.forEach((tuple, index) => {
    const inner = {
      ...{ ...at(context, tuple), current: { set, index } },
      ...(name !== undefined && { walked: new Map(context.walked).set(name, tuple) }),
    }
    const result = context.environment.evaluate(inner, each)
    if (result.is === 'value') {
      isText = true
      const text = textOfValue(result.value)
      context.environment.step(stepsOfText(text))
      texts.push(text)
    } else {
      const single = result.is === 'set' ? undefined : tupleOfResult(inner, result)
      found.push(...(result.is === 'set' ? result.set.tuples : single === undefined ? [] : [single]))
    }
    if (found.length > context.environment.bounds.setTuplesMax)
      exceeds(`a set has at most ${context.environment.bounds.setTuplesMax} tuples`)
  })
  if (isText) {
    const between = given.expressions[2]
    return aValue(texts.join(between === undefined ? '' : textOfValue(valueAt(context, between))))
  }
  return aSet(checkedSet(context, given.flags.includes('ALL') ? found : distinct(found)))
}

function order(context: Context, given: Arguments): Result {
  atMost(given, 2, ['ASC', 'DESC', 'BASC', 'BDESC'])
  const tuples = tuplesOf(context, required(given, 0))
  const values = valuesAt(context, tuples, required(given, 1))
  const [flag = 'ASC'] = given.flags
  const sign = flag.endsWith('DESC') ? -1 : 1
  const compare = (one: number, other: number) =>
    compareValues(values[one] ?? null, values[other] ?? null) * sign
  const places = tuples.map((_, index) => index)
  if (flag.startsWith('B')) return aSet(places.toSorted(compare).map((index) => tuples[index] as Tuple))
  return aSet(orderWithin(tuples, places, compare).map((index) => tuples[index] as Tuple))
}

/** Siblings are ordered, and each stays before those below it. */
function orderWithin(
  tuples: readonly Tuple[],
  places: readonly number[],
  compare: (one: number, other: number) => number,
): readonly number[] {
  const width = tuples[0]?.length ?? 0
  const groups: (readonly number[])[] = [places]
  if (width !== 1) {
    const before = (index: number) => tupleIdentity((tuples[index] ?? []).slice(0, -1))
    const grouped = Map.groupBy(places, before)
    return [...grouped.values()].flatMap((group) => group.toSorted(compare))
  }
  const member = (index: number) => tuples[index]?.[0] as Member
  const sort = (among: readonly number[]): readonly number[] => {
    const roots = among.filter((index) => !among.some((other) => isAbove(member(other), member(index))))
    if (roots.length === among.length) return among.toSorted(compare)
    return roots
      .toSorted(compare)
      .flatMap((root) => [root, ...sort(among.filter((index) => isAbove(member(root), member(index))))])
  }
  const levels = new Set(places.map((index) => member(index).level.number))
  return levels.size === 1
    ? [...Map.groupBy(places, (index) => parentOf(member(index))?.uniqueName ?? '').values()].flatMap(
        (group) => group.toSorted(compare),
      )
    : groups.flatMap(sort)
}

function part(
  from: (context: Context, given: Arguments, length: number) => readonly [number, number],
): RunFunction {
  return (context, given) => {
    const tuples = tuplesOf(context, required(given, 0))
    return aSet(tuples.slice(...from(context, given, tuples.length)))
  }
}

const whole = (context: Context, given: Arguments, index: number, otherwise: number) => {
  const expression = given.expressions[index]
  return expression === undefined
    ? otherwise
    : Math.max(0, Math.trunc(numberOf(valueAt(context, expression))))
}

export const setFunctions = {
  CROSSJOIN: (context, given) => aSet(crossJoin(context, given)),
  NONEMPTYCROSSJOIN: (context, given) => aSet(nonEmpty(context, crossJoin(context, given), [[]])),
  NONEMPTY: (context, given) => {
    atMost(given, 2)
    const by = given.expressions[1]
    return aSet(
      nonEmpty(
        context,
        tuplesOf(context, required(given, 0)),
        by === undefined ? [[]] : tuplesOf(context, by),
      ),
    )
  },
  ADDCALCULATEDMEMBERS: (context, given) => {
    atMost(given, 1)
    return aSet(addCalculated(context, tuplesOf(context, required(given, 0))))
  },
  STRIPCALCULATEDMEMBERS: (context, given) => {
    atMost(given, 1)
    const tuples = tuplesOf(context, required(given, 0))
    return aSet(tuples.filter((tuple) => tuple.every(({ kind }) => kind !== 'calculated')))
  },
  DISTINCT: (context, given) => {
    atMost(given, 1)
    return aSet(distinct(tuplesOf(context, required(given, 0))))
  },
  UNION: (context, given) => {
    atMost(given, 32, ['ALL'])
    const tuples = given.expressions.flatMap((_, index) => tuplesOf(context, required(given, index)))
    return aSet(checkedSet(context, given.flags.includes('ALL') ? tuples : distinct(tuples)))
  },
  EXCEPT: (context, given) => {
    atMost(given, 2, ['ALL'])
    // In their order: the second may name a set that the first defines.
    const all = tuplesOf(context, required(given, 0))
    const without = identities(tuplesOf(context, required(given, 1)))
    const tuples = all.filter((tuple) => !without.has(tupleIdentity(tuple)))
    return aSet(given.flags.includes('ALL') ? tuples : distinct(tuples))
  },
  INTERSECT: (context, given) => {
    atMost(given, 2, ['ALL'])
    const all = tuplesOf(context, required(given, 0))
    // A member whose total is visual in the second set has that total here, as Excel's page filters expect.
    const both = new Map(tuplesOf(context, required(given, 1)).map((tuple) => [tupleIdentity(tuple), tuple]))
    const tuples = all.flatMap((tuple) => {
      const other = both.get(tupleIdentity(tuple))
      return other === undefined ? [] : [other.some(isVisual) ? other : tuple]
    })
    return aSet(given.flags.includes('ALL') ? tuples : distinct(tuples))
  },
  FILTER: (context, given) => {
    atMost(given, 2)
    const tuples = tuplesOf(context, required(given, 0))
    const values = valuesAt(context, tuples, required(given, 1))
    return aSet(tuples.filter((_, index) => truthOf(values[index] ?? null)))
  },
  GENERATE: generate,
  HIERARCHIZE: (context, given) => {
    atMost(given, 1, ['POST'])
    return aSet(hierarchize(context, tuplesOf(context, required(given, 0)), given.flags.includes('POST')))
  },
  UNORDER: (context, given) => {
    atMost(given, 1)
    return aSet(tuplesOf(context, required(given, 0)))
  },
  ORDER: order,
  HEAD: part((context, given) => [0, whole(context, given, 1, 1)]),
  TAIL: part((context, given, length) => [Math.max(0, length - whole(context, given, 1, 1)), length]),
  SUBSET: part((context, given, length) => {
    const start = whole(context, given, 1, 0)
    return [start, start + whole(context, given, 2, length)]
  }),
  EXISTS: (context, given) => {
    atMost(given, 2)
    const [tuples, others] = [0, 1].map((index) => tuplesOf(context, required(given, index)))
    return aSet(existingWith(context, tuples ?? [], others ?? []))
  },
  EXTRACT: (context, given) => {
    const { evaluate } = context.environment
    const wanted = given.expressions
      .slice(1)
      .map((_, index) => hierarchyOfResult(evaluate(context, required(given, index + 1))).index)
    const tuples = tuplesOf(context, required(given, 0)).map((tuple) =>
      wanted.map(
        (index) =>
          tuple.find((member) => member.at.index === index) ?? refuseMdx('the set lacks a hierarchy'),
      ),
    )
    return aSet(distinct(tuples))
  },
  ISSIBLING: (context, given) => {
    atMost(given, 2)
    const [one, other] = [
      tuplesOf(context, required(given, 0))[0]?.[0],
      tuplesOf(context, required(given, 1))[0]?.[0],
    ]
    if (one === undefined || other === undefined) return aValue(false)
    return aValue(siblingsOf(context, one).some((each) => tupleIdentity([each]) === tupleIdentity([other])))
  },
} satisfies Record<string, RunFunction>
