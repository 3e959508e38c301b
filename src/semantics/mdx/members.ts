/** Members by their relations: children, siblings, descendants and the members of a level, in their order. */

import { refuseMdx } from '../../wire/mdx/tokens.ts'
import type { Context, Environment } from './context.ts'
import { findNamed } from './find-named.ts'
import {
  allOf,
  ancestorOf,
  compareKeys,
  identityOf,
  type KeyMember,
  type Member,
  parentOf,
  type SpaceHierarchy,
  type SpaceLevel,
} from './space.ts'

/** The members of a level that the subselects leave. @throws Missing */
export function levelMembers(
  { environment }: Context,
  at: SpaceHierarchy,
  level: SpaceLevel,
): readonly Member[] {
  if (at.index === 0) return environment.space.measures
  if (level.key === undefined) return [allOf(at)]
  const found = environment.data.list(at, level, environment.withinOf(at))
  environment.step(found.length)
  return found
}

/** All members of a hierarchy, each before those below it. @throws Missing */
export function hierarchyMembers(context: Context, at: SpaceHierarchy): readonly Member[] {
  const [first] = at.levels
  if (first === undefined) return []
  return levelMembers(context, at, first).flatMap((member) => [member, ...below(context, member)])
}

/** Calculated members of a hierarchy that are not hidden, in the order of their definition. */
export function calculatedMembers({ environment }: Context, at: SpaceHierarchy): readonly Member[] {
  return environment.formulas.members.filter(
    (member) => member.at.index === at.index && !(member.kind === 'calculated' && member.formula.isHidden),
  )
}

function below(context: Context, member: Member): readonly Member[] {
  return childrenOf(context, member).flatMap((child) => [child, ...below(context, child)])
}

const childLists = new WeakMap<readonly Member[], Map<string, KeyMember[]>>()

/** The members right below one, in their order. @throws Missing */
export function childrenOf(context: Context, member: Member): readonly Member[] {
  const level = member.at.levels[member.level.number + 1]
  if ((member.kind !== 'all' && member.kind !== 'key') || level === undefined) return []
  const members = levelMembers(context, member.at, level)
  if (member.kind === 'all') return members
  const known = childLists.get(members) ?? groupByParent(members)
  childLists.set(members, known)
  return known.get(identityOf(member)) ?? []
}

function groupByParent(members: readonly Member[]): Map<string, KeyMember[]> {
  const found = new Map<string, KeyMember[]>()
  for (const member of members) {
    const parent = parentOf(member)
    if (parent === undefined || member.kind !== 'key') continue
    const id = identityOf(parent)
    const children = found.get(id)
    if (children === undefined) found.set(id, [member])
    else children.push(member)
  }
  return found
}

/** The members with the same parent, itself included. @throws Missing */
export function siblingsOf(context: Context, member: Member): readonly Member[] {
  if (member.kind === 'measure') return context.environment.space.measures
  const parent = parentOf(member)
  return parent === undefined ? [member] : childrenOf(context, parent)
}

/** The member so many places later in its level; undefined beyond its ends. @throws Missing */
export function laterBy(context: Context, member: Member, places: number): Member | undefined {
  const members = levelMembers(context, member.at, member.level)
  const index = members.findIndex((each) => identityOf(each) === identityOf(member))
  return index < 0 ? undefined : members[index + places]
}

/** Members below one in a level of that number. @throws Missing */
export function descendantsAt(context: Context, member: Member, level: number): readonly Member[] {
  const own = member.at.levels[level]
  if (own === undefined || level < member.level.number || member.kind === 'calculated') return []
  if (level === member.level.number) return [member]
  const id = identityOf(member)
  return levelMembers(context, member.at, own).filter((each) => {
    const above = ancestorOf(each, member.level.number)
    return above !== undefined && identityOf(above) === id
  })
}

/** Whether one member is above another. */
export function isAbove(upper: Member, lower: Member): boolean {
  if (upper.at.index !== lower.at.index || lower.level.number <= upper.level.number) return false
  const above = ancestorOf(lower, upper.level.number)
  return above !== undefined && identityOf(above) === identityOf(upper)
}

/** Whether two names stand for one member. */
export function isSame(one: Member, other: Member): boolean {
  return one.at.index === other.at.index && identityOf(one) === identityOf(other)
}

const paths = new WeakMap<Member, readonly Member[]>()

function pathOf(member: Member): readonly Member[] {
  const known = paths.get(member)
  if (known !== undefined) return known
  const parent = parentOf(member)
  const path = parent === undefined ? [member] : [...pathOf(parent), member]
  paths.set(member, path)
  return path
}

/** The order of members of one hierarchy: each before those below it, or after them. */
export function compareMembers({ space, formulas }: Environment, post: boolean) {
  const places = new Map<string, number>()
  for (const member of [...space.measures, ...formulas.members]) places.set(member.uniqueName, places.size)
  const siblings = (one: Member, other: Member): number => {
    if (one.kind === 'key' && other.kind === 'key')
      return compareKeys(one.level.key?.type ?? 'text')(one.key, other.key)
    const place = (member: Member) => (member.kind === 'key' ? -1 : (places.get(member.uniqueName) ?? -1))
    return place(one) - place(other)
  }
  return (one: Member, other: Member): number => {
    const [left, right] = [pathOf(one), pathOf(other)]
    for (let index = 0; index < Math.min(left.length, right.length); index++) {
      const order = siblings(left[index] as Member, right[index] as Member)
      if (order !== 0) return order
    }
    return post ? right.length - left.length : left.length - right.length
  }
}

/** The member of that name below a hierarchy, by its caption. @throws Missing; Fault where there is none */
export function memberByCaption(
  context: Context,
  { at, parent, caption }: { readonly at: SpaceHierarchy; readonly parent: Member; readonly caption: string },
): Member | undefined {
  const level = at.levels[parent.level.number + 1]
  if (level?.key === undefined) return undefined
  return findNamed(childrenOf(context, parent), captionOf, caption)
}

/** The caption of a member, as the only name by which it is found. */
export const captionOf = ({ caption }: Member): readonly string[] => [caption]

/** Refuses a member that does not exist or may not be seen, both in the same words. */
export function unknownName(): never {
  return refuseMdx('a name is not that of a member, level or hierarchy that can be seen')
}
