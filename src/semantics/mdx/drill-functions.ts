/** Functions by which clients expand and collapse: the drill functions, and totals over what is shown. */

import { refuseMdx } from '../../wire/mdx/tokens.ts'
import { type Arguments, atMost, type RunFunction, required } from './arguments.ts'
import { exceeds } from './bounds.ts'
import { at, type Context } from './context.ts'
import { calculatedMembers, childrenOf, isAbove, isSame } from './members.ts'
import { checkedSet, distinct, tuplesOf, valueAt } from './sets.ts'
import { allOf, type Member, parentOf, type Tuple } from './space.ts'
import { aSet, compareValues, hierarchyOfResult, levelOfResult, numberOf } from './values.ts'

const calculatedFlag = 'INCLUDE_CALC_MEMBERS'

/** The children of a member, with calculated ones where they are asked for. */
function shownChildren(context: Context, member: Member, withCalculated: boolean): readonly Member[] {
  const children = childrenOf(context, member)
  if (!withCalculated) return children
  const added = calculatedMembers(context, member.at).filter((each) => {
    const parent = parentOf(each)
    return parent !== undefined && isSame(parent, member)
  })
  return [...children, ...added]
}

/** Each tuple, and where it is drilled the same with each child in place of the member at that index. */
function drill(
  context: Context,
  given: Arguments,
  tuples: readonly Tuple[],
  indexOf: (tuple: Tuple, place: number) => number | undefined,
  choose: (tuple: Tuple, children: readonly Tuple[]) => readonly Tuple[] = (_, children) => children,
): readonly Tuple[] {
  const withCalculated = given.flags.includes(calculatedFlag)
  const found: Tuple[] = []
  tuples.forEach((tuple, place) => {
    found.push(tuple)
    const index = indexOf(tuple, place)
    const member = index === undefined ? undefined : tuple[index]
    if (index === undefined || member === undefined) return
    // What is expanded already stays.
    const next = tuples[place + 1]?.[index]
    if (next !== undefined && isAbove(member, next)) return
    const children = shownChildren(context, member, withCalculated).map((child) => tuple.with(index, child))
    found.push(...choose(tuple, children))
    if (found.length > context.environment.bounds.setTuplesMax)
      exceeds(`a set has at most ${context.environment.bounds.setTuplesMax} tuples`)
  })
  return checkedSet(context, found)
}

function drilldownLevel(context: Context, given: Arguments): readonly Tuple[] {
  atMost(given, 3, [calculatedFlag])
  const tuples = tuplesOf(context, required(given, 0))
  const [, ofLevel, ofIndex] = given.expressions
  const index = ofIndex === undefined ? 0 : numberOf(valueAt(context, ofIndex))
  if (ofLevel !== undefined) {
    const { at, level } = levelOfResult(context.environment.evaluate(context, ofLevel))
    return drill(context, given, tuples, (tuple) => {
      const place = tuple.findIndex((member) => member.at.index === at.index)
      return tuple[place]?.level.number === level.number ? place : undefined
    })
  }
  const deepest = Math.max(0, ...tuples.map((tuple) => tuple[index]?.level.number ?? 0))
  return drill(context, given, tuples, (tuple) =>
    tuple[index]?.level.number === deepest ? index : undefined,
  )
}

/** DRILLDOWNLEVELTOP(set, count, level, value): of the children of each member those of the greatest values. */
const drilldownLevelRanked =
  (sign: 1 | -1): RunFunction =>
  (context, given) => {
    atMost(given, 4, [calculatedFlag])
    const tuples = tuplesOf(context, required(given, 0))
    const most = Math.max(0, Math.trunc(numberOf(valueAt(context, required(given, 1)))))
    const [, , ofLevel, by] = given.expressions
    const named = ofLevel && levelOfResult(context.environment.evaluate(context, ofLevel))
    const place =
      named === undefined ? 0 : (tuples[0]?.findIndex((each) => each.at.index === named.at.index) ?? 0)
    const deepest =
      named?.level.number ?? Math.max(0, ...tuples.map((tuple) => tuple[place]?.level.number ?? 0))
    const rankOf = (tuple: Tuple) =>
      by === undefined ? context.environment.cell(at(context, tuple)) : valueAt(at(context, tuple), by)
    const choose = (_: Tuple, children: readonly Tuple[]) =>
      children
        .map((tuple) => ({ tuple, value: rankOf(tuple) }))
        .toSorted((one, other) => compareValues(one.value, other.value) * sign)
        .slice(0, most)
        .map(({ tuple }) => tuple)
    const drilled = drill(
      context,
      given,
      tuples,
      (tuple) => (tuple[place]?.level.number === deepest ? place : undefined),
      choose,
    )
    context.environment.data.stopIfMissing()
    return aSet(drilled)
  }

/** For each of the tuples named, the place of its last member in a tuple that holds them all. */
function placesIn(named: readonly Tuple[]): (tuple: Tuple) => number | undefined {
  const widths = new Set(named.map((each) => each.length))
  const key = (members: Tuple) => members.map((member) => `${member.at.index} ${member.uniqueName}`).join('|')
  const keys = new Set(named.map(key))
  const shapes = [...widths].map((_, place) => named[place] ?? [])
  const hierarchies = shapes.map((shape) => shape.map((member) => member.at.index))
  return (tuple) => {
    for (const wanted of hierarchies) {
      const members = wanted.flatMap((index) => tuple.find((member) => member.at.index === index) ?? [])
      if (members.length === wanted.length && keys.has(key(members)))
        return tuple.findIndex((member) => member.at.index === wanted.at(-1))
    }
    return undefined
  }
}

function drilldownMember(context: Context, given: Arguments): readonly Tuple[] {
  atMost(given, 3, ['RECURSIVE', calculatedFlag])
  const placeOf = placesIn(tuplesOf(context, required(given, 1)))
  const [, , ofTarget] = given.expressions
  const target =
    ofTarget === undefined
      ? undefined
      : hierarchyOfResult(context.environment.evaluate(context, ofTarget)).index
  const once = (tuples: readonly Tuple[]) =>
    drill(context, given, tuples, (tuple) => {
      const place = placeOf(tuple)
      if (place === undefined || target === undefined) return place
      const index = tuple.findIndex((member) => member.at.index === target)
      return index < 0 ? undefined : index
    })
  let tuples = once(tuplesOf(context, required(given, 0)))
  if (!given.flags.includes('RECURSIVE')) return tuples
  for (let length = -1; length !== tuples.length; ) {
    length = tuples.length
    tuples = once(tuples)
  }
  return tuples
}

function drillupMember(context: Context, given: Arguments): readonly Tuple[] {
  atMost(given, 2)
  const named = tuplesOf(context, required(given, 1)).flatMap((tuple) => tuple.slice(-1))
  return tuplesOf(context, required(given, 0)).filter(
    (tuple) => !tuple.some((member) => named.some((upper) => isAbove(upper, member))),
  )
}

function drillupLevel(context: Context, given: Arguments): readonly Tuple[] {
  atMost(given, 2)
  const tuples = tuplesOf(context, required(given, 0))
  const ofLevel = given.expressions[1]
  const named =
    ofLevel === undefined ? undefined : levelOfResult(context.environment.evaluate(context, ofLevel))
  const placeOf = (tuple: Tuple) =>
    named === undefined ? tuple[0] : tuple.find((member) => member.at.index === named.at.index)
  const numbers = tuples.map((tuple) => placeOf(tuple)?.level.number ?? 0)
  const most = named === undefined ? Math.max(0, ...numbers) - 1 : named.level.number
  return tuples.filter((_, index) => (numbers[index] ?? 0) <= Math.max(0, most))
}

/** DRILLUP where the members are expanded, else DRILLDOWN. */
function toggle(context: Context, given: Arguments): readonly Tuple[] {
  atMost(given, 2, ['RECURSIVE'])
  const tuples = tuplesOf(context, required(given, 0))
  const up = drillupMember(context, { ...given, flags: [] })
  return up.length < tuples.length ? up : drilldownMember(context, given)
}

/**
 * Members whose values are those of what the set holds below them. A member without any below it keeps its own value.
 * @throws Fault `bad_request` for a set of several hierarchies
 */
function visualTotals(context: Context, given: Arguments): readonly Tuple[] {
  atMost(given, 1)
  const tuples = distinct(tuplesOf(context, required(given, 0)))
  const members = tuples.map((tuple) => {
    const [member, ...more] = tuple
    return member === undefined || more.length > 0
      ? refuseMdx('VisualTotals is of a set of one hierarchy')
      : member
  })
  context.environment.step(members.length)
  const deepest = Math.max(0, ...members.map(({ level }) => level.number))
  const leaves = members.filter(
    (member) => member.level.number === deepest || !members.some((other) => isAbove(member, other)),
  )
  return members.map((member): Tuple => {
    if (member.kind !== 'key' && member.kind !== 'all') return [member]
    const visual = leaves.filter((leaf) => isAbove(member, leaf) && leaf.kind === 'key')
    if (visual.length === 0) return [member]
    return [member.kind === 'all' ? allOf(member.at, visual) : { ...member, visual }]
  })
}

export const drillFunctions = {
  DRILLDOWNLEVELBOTTOM: drilldownLevelRanked(1),
  DRILLDOWNLEVELTOP: drilldownLevelRanked(-1),
  DRILLDOWNLEVEL: (context, given) => aSet(drilldownLevel(context, given)),
  DRILLDOWNMEMBER: (context, given) => aSet(drilldownMember(context, given)),
  DRILLUPLEVEL: (context, given) => aSet(drillupLevel(context, given)),
  DRILLUPMEMBER: (context, given) => aSet(drillupMember(context, given)),
  TOGGLEDRILLSTATE: (context, given) => aSet(toggle(context, given)),
  VISUALTOTALS: (context, given) => aSet(visualTotals(context, given)),
} satisfies Record<string, RunFunction>
