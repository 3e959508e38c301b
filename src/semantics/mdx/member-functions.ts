/** Functions that find members by others: above, below, and at the same place of other periods. */

import type { Grain } from '../../core/metric.ts'
import { refuseMdx } from '../../wire/mdx/tokens.ts'
import { type Arguments, atMost, type RunFunction, required } from './arguments.ts'
import { type Context, currentMember } from './context.ts'
import { childrenOf, descendantsAt, isAbove, isSame, levelMembers } from './members.ts'
import { spotBelow, spotEarlier } from './same-spot.ts'
import { distinct, tuplesOf, valueAt } from './sets.ts'
import { ancestorOf, type Member, parentOf, type SpaceHierarchy } from './space.ts'
import {
  aMember,
  aSet,
  aValue,
  hierarchyOfResult,
  levelOfResult,
  memberOfResult,
  numberOf,
} from './values.ts'

const single = (members: readonly Member[]) => aSet(members.map((member) => [member]))

function memberArgument(context: Context, given: Arguments, index: number): Member | undefined {
  return memberOfResult(context, context.environment.evaluate(context, required(given, index)))
}

/** The number of a level that an argument names, or counts from a member's. */
function levelArgument(
  context: Context,
  given: Arguments,
  index: number,
  from: (count: number) => number,
): number {
  const result = context.environment.evaluate(context, required(given, index))
  return result.is === 'level'
    ? result.level.number
    : from(numberOf(valueAt(context, required(given, index))))
}

function ascendants(context: Context, given: Arguments): readonly Member[] {
  atMost(given, 1)
  const found: Member[] = []
  for (let member = memberArgument(context, given, 0); member !== undefined; member = parentOf(member))
    found.push(member)
  return found
}

function ancestor(context: Context, given: Arguments): Member | undefined {
  atMost(given, 2)
  const member = memberArgument(context, given, 0)
  if (member === undefined) return undefined
  return ancestorOf(
    member,
    levelArgument(context, given, 1, (count) => member.level.number - count),
  )
}

const spans: Readonly<Record<string, (level: number, own: number) => boolean>> = {
  SELF: (level, own) => level === own,
  AFTER: (level, own) => level > own,
  BEFORE: (level, own) => level < own,
  BEFORE_AND_AFTER: (level, own) => level !== own,
  SELF_AND_AFTER: (level, own) => level >= own,
  SELF_AND_BEFORE: (level, own) => level <= own,
  SELF_BEFORE_AFTER: () => true,
}

function descendants(context: Context, given: Arguments): readonly Member[] {
  atMost(given, 2, [...Object.keys(spans), 'LEAVES'])
  const starts = tuplesOf(context, required(given, 0)).map(([member, ...more]) =>
    member === undefined || more.length > 0 ? refuseMdx('Descendants is of members') : member,
  )
  const [flag] = given.flags
  const found = starts.flatMap((member) => {
    const last = member.at.levels.length - 1
    const level =
      given.expressions[1] === undefined
        ? flag === 'LEAVES'
          ? last
          : member.level.number
        : levelArgument(context, given, 1, (count) => member.level.number + count)
    const fits =
      flag === 'LEAVES'
        ? spans.SELF
        : spans[flag ?? (given.expressions[1] === undefined ? 'SELF_AND_AFTER' : 'SELF')]
    return within(context, member, (number) => fits?.(number, level) ?? false)
  })
  return distinct(found.map((member) => [member])).flat()
}

/** A member and those below it, of the levels that fit, each before those below it. */
function within(context: Context, member: Member, fits: (level: number) => boolean): readonly Member[] {
  const deeper = member.at.levels.some(({ number }) => number > member.level.number && fits(number))
  const below = deeper ? childrenOf(context, member).flatMap((child) => within(context, child, fits)) : []
  return fits(member.level.number) ? [member, ...below] : below
}

/** The only calendar of the cube, where a function of periods names none. @throws Fault `bad_request` */
function calendarOf(context: Context): SpaceHierarchy {
  const [only, ...more] = context.environment.space.hierarchies.filter(
    ({ hierarchy }) => hierarchy?.kind === 'calendar',
  )
  return only !== undefined && more.length === 0 ? only : refuseMdx('a member of a calendar is needed here')
}

/** The members of a level from the first in the same period up to a member. */
function toDate(context: Context, member: Member | undefined, period: number): readonly Member[] {
  const above = member && ancestorOf(member, period)
  if (member === undefined || above === undefined) return []
  const members = descendantsAt(context, above, member.level.number)
  return members.slice(0, members.findIndex((each) => isSame(each, member)) + 1)
}

function periodsToDate(context: Context, given: Arguments): readonly Member[] {
  atMost(given, 2)
  const [first] = given.expressions
  if (first === undefined) {
    const member = currentMember(context, calendarOf(context))
    return toDate(context, member, member.level.number - 1)
  }
  const { at, level } = levelOfResult(context.environment.evaluate(context, first))
  const member =
    given.expressions[1] === undefined ? currentMember(context, at) : memberArgument(context, given, 1)
  return toDate(context, member, level.number)
}

/** YTD and its like: the periods of a calendar's level of that grain. */
const toDateOf =
  (grain: Grain): RunFunction =>
  (context, given) => {
    atMost(given, 1)
    const member =
      given.expressions.length === 0
        ? currentMember(context, calendarOf(context))
        : memberArgument(context, given, 0)
    const level = member?.at.levels.find(({ key }) => key?.grain === grain)
    if (member !== undefined && level === undefined) refuseMdx(`${given.name} is of members of a calendar`)
    return single(level === undefined ? [] : toDate(context, member, level.number))
  }

/** The days of the week of a day, Monday first, up to it. Calendars have no level of weeks. */
function weekToDate(context: Context, given: Arguments): readonly Member[] {
  atMost(given, 1)
  const member =
    given.expressions.length === 0
      ? currentMember(context, calendarOf(context))
      : memberArgument(context, given, 0)
  if (member === undefined) return []
  if (member.kind !== 'key' || member.level.key?.grain !== 'day' || member.at.levels.length < 3)
    return refuseMdx('WTD is of days of a calendar')
  const { key } = member
  const day = Date.parse(`${key}T00:00:00Z`)
  if (key === null || Number.isNaN(day)) return [member]
  const sinceMonday = (new Date(day).getUTCDay() + 6) % 7
  const monday = new Date(day - sinceMonday * 86_400_000).toISOString().slice(0, 10)
  return levelMembers(context, member.at, member.level).filter(
    (each) => each.kind === 'key' && each.key !== null && each.key >= monday && each.key <= key,
  )
}

function parallelPeriod(context: Context, given: Arguments): Member | undefined {
  atMost(given, 3)
  const [ofLevel, ofCount] = given.expressions
  const named = ofLevel && levelOfResult(context.environment.evaluate(context, ofLevel))
  const member =
    given.expressions[2] !== undefined
      ? memberArgument(context, given, 2)
      : currentMember(context, named?.at ?? calendarOf(context))
  if (member === undefined) return undefined
  const count = ofCount === undefined ? 1 : Math.trunc(numberOf(valueAt(context, ofCount)))
  const above = ancestorOf(member, named?.level.number ?? member.level.number - 1)
  return above && spotEarlier(context, member, { above, count })
}

function edgePeriod(first: boolean): RunFunction {
  return (context, given) => {
    atMost(given, 2)
    const [ofLevel] = given.expressions
    const named = ofLevel && levelOfResult(context.environment.evaluate(context, ofLevel))
    const member =
      given.expressions[1] === undefined
        ? currentMember(context, named?.at ?? calendarOf(context))
        : memberArgument(context, given, 1)
    if (member === undefined) return aMember(undefined)
    const members = descendantsAt(context, member, named?.level.number ?? member.level.number + 1)
    return aMember(members.at(first ? 0 : -1))
  }
}

export const memberFunctions = {
  ANCESTOR: (context, given) => aMember(ancestor(context, given)),
  ANCESTORS: (context, given) => {
    const found = ancestor(context, given)
    return single(found === undefined ? [] : [found])
  },
  ASCENDANTS: (context, given) => single(ascendants(context, given)),
  DESCENDANTS: (context, given) => single(descendants(context, given)),
  COUSIN: (context, given) => {
    atMost(given, 2)
    const [member, other] = [memberArgument(context, given, 0), memberArgument(context, given, 1)]
    const above = member && other && ancestorOf(member, other.level.number)
    return aMember(above && member && other && spotBelow(context, member, { above, other }))
  },
  PARALLELPERIOD: (context, given) => aMember(parallelPeriod(context, given)),
  PERIODSTODATE: (context, given) => single(periodsToDate(context, given)),
  YTD: toDateOf('year'),
  QTD: toDateOf('quarter'),
  MTD: toDateOf('month'),
  WTD: (context, given) => single(weekToDate(context, given)),
  LASTPERIODS: (context, given) => {
    atMost(given, 2)
    const count = Math.trunc(numberOf(valueAt(context, required(given, 0))))
    const member =
      given.expressions[1] === undefined
        ? currentMember(context, calendarOf(context))
        : memberArgument(context, given, 1)
    if (member === undefined) return aSet([])
    const members = levelMembers(context, member.at, member.level)
    const place = members.findIndex((each) => isSame(each, member))
    if (place < 0) return aSet([])
    return single(
      count >= 0
        ? members.slice(Math.max(0, place - count + 1), place + 1)
        : members.slice(place, place - count),
    )
  },
  OPENINGPERIOD: edgePeriod(true),
  CLOSINGPERIOD: edgePeriod(false),
  ISANCESTOR: (context, given) => {
    atMost(given, 2)
    const [upper, lower] = [memberArgument(context, given, 0), memberArgument(context, given, 1)]
    return aValue(upper !== undefined && lower !== undefined && isAbove(upper, lower))
  },
  ISLEAF: (context, given) => {
    atMost(given, 1)
    const member = memberArgument(context, given, 0)
    return aValue(
      member === undefined || member.level.number === hierarchyOfResult(aMember(member)).levels.length - 1,
    )
  },
} satisfies Record<string, RunFunction>
