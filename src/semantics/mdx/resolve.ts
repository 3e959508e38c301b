/**
 * Finds what a name stands for: a hierarchy, a level, a member by its key or caption, a named set. What does not exist and
 * what the reader may not see fail in the same words.
 */

import type { NamePart } from '../../wire/mdx/ast.ts'
import { bracketed } from '../cube/names.ts'
import { type Context, deeper, type Result } from './context.ts'
import { findExact, findNamed } from './find-named.ts'
import { setNameOf } from './formulas.ts'
import { isKeyText } from './key-text.ts'
import { captionOf, levelMembers, memberByCaption, unknownName } from './members.ts'
import { allOf, type Member, memberOf, parentOf, type SpaceHierarchy, type SpaceLevel } from './space.ts'
import { aMember } from './values.ts'

/** @throws Fault `bad_request`; Missing */
export function resolveName(context: Context, parts: readonly NamePart[]): Result {
  const { formulas, space, namedSets } = context.environment
  const setName = setNameOf(parts)
  const alias = setName === undefined ? undefined : context.environment.aliases.get(setName)
  if (alias !== undefined) return alias
  const set = setName === undefined ? undefined : formulas.sets.get(setName)
  if (set !== undefined && setName !== undefined) {
    const before = namedSets.get(setName)
    if (before !== undefined) return before
    // A named set does not depend on where it stands.
    const fresh = { ...deeper(context), coordinates: space.defaults.map(() => undefined) }
    const found = context.environment.evaluate(set.isStatic ? unrestricted(fresh) : fresh, set.expression)
    context.environment.data.stopIfMissing()
    namedSets.set(setName, found)
    return found
  }
  const [first, ...rest] = parts
  if (first?.kind !== 'name') return unknownName()
  const [measures] = space.hierarchies
  const ofMeasures = measures !== undefined && same(first.name, measures.name) ? measures : undefined
  const defined =
    findCalculated(context, parts, findExact) ??
    (ofMeasures && exactMeasure(context, rest)) ??
    findCalculated(context, parts, findNamed)
  if (defined !== undefined) return aMember(defined)
  if (ofMeasures !== undefined) return resolveMeasure(context, ofMeasures, rest)
  const dimensions = Map.groupBy(
    space.hierarchies.filter(({ index }) => index > 0),
    ({ dimension: { name } }) => name,
  )
  const named = findNamed([...dimensions], ([name]) => [name], first.name)
  return named === undefined ? unknownName() : resolveBelow(context, named[1], rest)
}

/** Where neither subselects nor a slicer hold. */
function unrestricted(context: Context): Context {
  const environment = { ...context.environment, within: [], withinOf: () => [], namedSets: new Map() }
  return { ...context, environment, slicer: { tuples: [], current: new Map() }, conditions: [] }
}

const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

/** A calculated member, with or without its hierarchy's member All in its name. */
function findCalculated(
  { environment }: Context,
  parts: readonly NamePart[],
  find: typeof findExact,
): Member | undefined {
  const { members } = environment.formulas
  if (members.length === 0 || parts.some(({ kind }) => kind === 'key')) return undefined
  const written = parts.map((part) => bracketed(part.kind === 'name' ? part.name : '')).join('.')
  return find(members, namesOfCalculated, written)
}

function namesOfCalculated(member: Member): readonly string[] {
  if (member.kind !== 'calculated') return [member.uniqueName]
  const { at, level, formula } = member
  const places = [at.uniqueName, level.uniqueName, at.dimension.uniqueName]
  return [member.uniqueName, ...places.map((place) => `${place}.${bracketed(formula.name)}`)]
}

/** What stands after `[Measures]`, without the name of its only level; undefined for more or less than one name. */
function measureName(rest: readonly NamePart[]): string | undefined {
  const [first, second] = rest
  const named = first?.kind === 'name' && same(first.name, measuresLevelName) && second ? second : first
  const isWhole = rest.length === (named === first ? 1 : 2)
  return isWhole && named?.kind === 'name' ? named.name : undefined
}

const measuresLevelName = 'MeasuresLevel'
const ownName = (member: Member) => (member.kind === 'measure' ? [member.measure.name] : [])

function exactMeasure({ environment }: Context, rest: readonly NamePart[]): Member | undefined {
  const name = measureName(rest)
  return name === undefined ? undefined : findExact(environment.space.measures, ownName, name)
}

function resolveMeasure({ environment }: Context, at: SpaceHierarchy, rest: readonly NamePart[]): Result {
  const [level] = at.levels
  const [first] = rest
  if (first === undefined) return { is: 'hierarchy', at }
  const { measures } = environment.space
  const name = measureName(rest) ?? unknownName()
  if (level !== undefined && rest.length === 1 && same(name, measuresLevelName))
    return { is: 'level', at, level }
  const found = findNamed(measures, ownName, name) ?? findNamed(measures, captionOf, name)
  return found === undefined ? unknownName() : aMember(found)
}

/** What follows the name of a dimension. */
function resolveBelow(
  context: Context,
  hierarchies: readonly SpaceHierarchy[],
  rest: readonly NamePart[],
): Result {
  const [next, ...more] = rest
  const [only] = hierarchies
  if (next === undefined)
    return hierarchies.length === 1 && only !== undefined
      ? { is: 'hierarchy', at: only }
      : { is: 'dimension', hierarchies }
  const named = next.kind === 'name' ? findNamed(hierarchies, ({ name }) => [name], next.name) : undefined
  if (named !== undefined) return resolveIn(context, named, more)
  return only !== undefined && hierarchies.length === 1 ? resolveIn(context, only, rest) : unknownName()
}

/** What follows the name of a hierarchy: its All, a level, a member. */
function resolveIn(context: Context, at: SpaceHierarchy, rest: readonly NamePart[]): Result {
  const [next, ...more] = rest
  if (next === undefined) return { is: 'hierarchy', at }
  if (next.kind === 'name') {
    if (same(next.name, at.hierarchy?.allMember.caption ?? ''))
      return resolveChildren(context, allOf(at), more)
    const level = findNamed(at.levels, ({ name }) => [name], next.name)
    if (level !== undefined) return resolveInLevel(context, at, level, more)
    return resolveChildren(context, allOf(at), rest)
  }
  // In an attribute hierarchy a key needs no level.
  const [, level] = at.levels
  return level === undefined || at.levels.length > 2
    ? unknownName()
    : resolveInLevel(context, at, level, rest)
}

function resolveInLevel(
  context: Context,
  at: SpaceHierarchy,
  level: SpaceLevel,
  rest: readonly NamePart[],
): Result {
  const [next, ...more] = rest
  if (next === undefined) return { is: 'level', at, level }
  if (level.key === undefined)
    return next.kind === 'name' && same(next.name, at.hierarchy?.allMember.caption ?? '')
      ? resolveChildren(context, allOf(at), more)
      : unknownName()
  if (next.kind === 'key')
    return resolveChildren(context, keyMember(context, { at, level, key: next.key }), more)
  const found = findNamed(levelMembers(context, at, level), captionOf, next.name)
  return found === undefined ? unknownName() : resolveChildren(context, found, more)
}

/** Captions or keys of children, one below the other. */
function resolveChildren(context: Context, from: Member, rest: readonly NamePart[]): Result {
  const [next, ...more] = rest
  if (next === undefined) return aMember(from)
  const level = from.at.levels[from.level.number + 1]
  if (level === undefined) return unknownName()
  if (next.kind === 'key') {
    const found = keyMember(context, { at: from.at, level, key: next.key })
    const parent = parentOf(found)
    if (parent === undefined || parent.uniqueName !== from.uniqueName) return unknownName()
    return resolveChildren(context, found, more)
  }
  const found = memberByCaption(context, { at: from.at, parent: from, caption: next.name })
  return found === undefined ? unknownName() : resolveChildren(context, found, more)
}

interface Place {
  readonly at: SpaceHierarchy
  readonly level: SpaceLevel
  readonly key: string | null
}

/** The member of a key, which must exist for the reader. */
function keyMember(context: Context, { at, level, key: written }: Place): Member {
  const { data, withinOf } = context.environment
  if (level.key === undefined) return unknownName()
  if (written === null) {
    const found = levelMembers(context, at, level).find(
      (member) => member.kind === 'key' && member.key === null,
    )
    return found ?? unknownName()
  }
  const key = canonicalKey(level, written)
  if (key === undefined) return unknownName()
  if (data.isListed(level, []) && withinOf(at).length === 0) {
    const listed = data.list(at, level, [])
    return listed.find((member) => member.key === key) ?? unknownName()
  }
  const exists = data.exists(at, level, key)
  if (exists === false) return unknownName()
  // Where it must be read first, the evaluation goes on, so that all keys of a set are read at once.
  return memberOf(at, level, key)
}

/** A key as the engine writes it; undefined for what no key of the level's type is. */
function canonicalKey({ key }: SpaceLevel, written: string): string | undefined {
  if (key === undefined || !isKeyText(key.type, written)) return undefined
  return key.type === 'date' && key.grain !== undefined ? written.slice(0, 10) : written
}
