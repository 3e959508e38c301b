/**
 * Finds what a name stands for: a hierarchy, a level, a member by its key or caption, a named set. What does not exist and
 * what the reader may not see fail in the same words.
 */

import type { NamePart } from '../../wire/mdx/ast.ts'
import { bracketed } from '../cube/names.ts'
import { type Context, deeper, type Result } from './context.ts'
import { setNameOf } from './formulas.ts'
import { isKeyText } from './key-text.ts'
import { levelMembers, memberByCaption, unknownName } from './members.ts'
import { allOf, type Member, memberOf, parentOf, type SpaceHierarchy, type SpaceLevel } from './space.ts'
import { aMember } from './values.ts'

/** @throws Fault `bad_request`; Missing */
export function resolveName(context: Context, parts: readonly NamePart[]): Result {
  const { formulas, space, namedSets } = context.environment
  const setName = setNameOf(parts)
  const set = setName === undefined ? undefined : formulas.sets.get(setName)
  if (set !== undefined && setName !== undefined) {
    // A named set does not depend on where it stands.
    const fresh = { ...deeper(context), coordinates: space.defaults.map(() => undefined) }
    const found = namedSets.get(setName) ?? context.environment.evaluate(fresh, set)
    context.environment.data.stopIfMissing()
    namedSets.set(setName, found)
    return found
  }
  const calculated = findCalculated(context, parts)
  if (calculated !== undefined) return aMember(calculated)
  const [first, ...rest] = parts
  if (first?.kind !== 'name') return unknownName()
  const [measures] = space.hierarchies
  if (measures !== undefined && same(first.name, measures.name))
    return resolveMeasure(context, measures, rest)
  const hierarchies = space.hierarchies.filter(
    ({ index, dimension, uniqueName }) =>
      index > 0 && (same(dimension.name, first.name) || same(bracketed(first.name), uniqueName)),
  )
  if (hierarchies.length === 0) return unknownName()
  return resolveBelow(context, hierarchies, rest)
}

const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

/** A calculated member, with or without its hierarchy's member All in its name. */
function findCalculated({ environment }: Context, parts: readonly NamePart[]): Member | undefined {
  const { members } = environment.formulas
  if (members.length === 0 || parts.some(({ kind }) => kind === 'key')) return undefined
  const names = parts.map((part) => (part.kind === 'name' ? part.name : ''))
  const written = names.map(bracketed).join('.').toLowerCase()
  const last = names.at(-1)?.toLowerCase()
  return members.find((member) => {
    if (member.uniqueName.toLowerCase() === written) return true
    if (member.kind !== 'calculated' || member.formula.name.toLowerCase() !== last) return false
    const { at, level, formula } = member
    return [at.uniqueName, level.uniqueName, at.dimension.uniqueName].some(
      (place) => `${place}.${bracketed(formula.name)}`.toLowerCase() === written,
    )
  })
}

function resolveMeasure({ environment }: Context, at: SpaceHierarchy, rest: readonly NamePart[]): Result {
  const [level] = at.levels
  const names = rest.map((part) => (part.kind === 'name' ? part.name : unknownName()))
  if (names.length === 0) return { is: 'hierarchy', at }
  if (same(names[0] ?? '', 'MeasuresLevel') && level !== undefined) {
    if (names.length === 1) return { is: 'level', at, level }
    names.shift()
  }
  const [name = '', ...more] = names
  const found = environment.space.measures.find(
    (member) => member.kind === 'measure' && (same(member.measure.name, name) || same(member.caption, name)),
  )
  return found === undefined || more.length > 0 ? unknownName() : aMember(found)
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
  const named = next.kind === 'name' ? hierarchies.find(({ name }) => same(name, next.name)) : undefined
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
    const level = at.levels.find(({ name }) => same(name, next.name))
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
  const found = levelMembers(context, at, level).find((member) => same(member.caption, next.name))
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
