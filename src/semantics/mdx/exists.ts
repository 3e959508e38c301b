/**
 * Which members of one dimension exist together: those that have a row of its table in common. Sets that are crossed hold
 * no other tuples, whatever their values (autoexists), and `Existing` leaves those of the coordinates of the context.
 */

import { projectWithin } from './cell.ts'
import type { Context } from './context.ts'
import { type Condition, conditionOf } from './data.ts'
import { isAbove, isSame } from './members.ts'
import type { KeyMember, Member, SpaceLevel, Tuple } from './space.ts'

/** Members of one dimension, the ancestors of others among them left out, in the order of their hierarchies. */
interface Part {
  readonly dimension: string
  readonly members: readonly KeyMember[]
}

interface Shape {
  readonly dimension: string
  readonly levels: readonly SpaceLevel[]
  readonly at: KeyMember['at']
  readonly keys: readonly Set<string | null>[]
}

/** The tuples whose members exist together. Where that must be read first the need is noted, and there are none for now. */
export function existingTuples(context: Context, tuples: readonly Tuple[]): readonly Tuple[] {
  const [first] = tuples
  if (first === undefined || !hasSeveral(first)) return tuples
  const are = together(context, tuples, [])
  return tuples.filter((_, index) => are[index])
}

/** The tuples that exist with the coordinates of the context, and with the rows of its slicer. */
export function existingHere(context: Context, tuples: readonly Tuple[]): readonly Tuple[] {
  const own = new Set(tuples[0]?.map((member) => member.at.dimension.uniqueName))
  const current = context.coordinates.flatMap((member, index) => {
    const found = member ?? context.slicer.current.get(index)
    return found?.kind === 'key' && own.has(found.at.dimension.uniqueName) ? [found] : []
  })
  // A slicer of one tuple is in the coordinates.
  const sliced = context.slicer.current.size > 0 ? undefined : conditionOf(context.slicer.tuples)
  const conditions = context.slicer.tuples.length > 0 && sliced !== undefined ? [sliced] : []
  const are = together(
    context,
    tuples.map((tuple) => [...tuple, ...current]),
    conditions,
  )
  return tuples.filter((_, index) => are[index])
}

/** The tuples of a set that exist with any tuple of another. */
export function existingWith(
  context: Context,
  tuples: readonly Tuple[],
  others: readonly Tuple[],
): readonly Tuple[] {
  context.environment.step(tuples.length * others.length)
  const are = together(
    context,
    tuples.flatMap((tuple) => others.map((other) => [...tuple, ...other])),
    [],
  )
  return tuples.filter((_, index) =>
    are.slice(index * others.length, (index + 1) * others.length).some((exists) => exists),
  )
}

/** Whether two members are of different hierarchies of one dimension. */
function hasSeveral(tuple: Tuple): boolean {
  const names = tuple.filter(({ kind }) => kind === 'key').map(({ at }) => at.dimension.uniqueName)
  return new Set(names).size < names.length
}

/** Whether the members of each list exist together. */
function together(
  context: Context,
  lists: readonly (readonly Member[])[],
  conditions: readonly Condition[],
): readonly boolean[] {
  context.environment.step(lists.length)
  const conditionsOf = projectWithin(conditions)
  const parts = lists.map((members) => partsOf(members, (at) => conditionsOf(at).length > 0))
  const shapes = new Map<string, Shape>()
  for (const each of parts)
    for (const part of each ?? []) {
      const shape = shapes.get(shapeId(part)) ?? newShape(part)
      shapes.set(shapeId(part), shape)
      for (const [index, { key }] of part.members.entries()) shape.keys[index]?.add(key)
    }
  const found = new Map(
    [...shapes].map(([id, { dimension, levels, at, keys }]) => {
      const joined = context.environment.space.cube.dimensions.find(
        ({ uniqueName }) => uniqueName === dimension,
      )
      const rows = context.environment.data.combinations(
        undefined,
        levels.map((level, index) => ({ level, keys: keys[index] ?? new Set() })),
        [...context.environment.withinOf(at), ...conditionsOf(at)],
        joined === undefined || joined.ordinal === 1 ? undefined : dimension,
      )
      return [id, new Set(rows?.map((row) => JSON.stringify(row.keys)))] as const
    }),
  )
  const exists = (part: Part) =>
    // The member of NULL of a joined dimension stands for rows that lead to none of its rows.
    part.members.every(({ key }) => key === null) ||
    found.get(shapeId(part))?.has(JSON.stringify(part.members.map(({ key }) => key)))
  return parts.map((each) => each?.every((part) => exists(part)) ?? false)
}

const shapeId = ({ members }: Part) => members.map(({ level }) => level.uniqueName).join(' ')

function newShape({ dimension, members }: Part): Shape {
  const [first] = members
  return {
    ...{ dimension, levels: members.map(({ level }) => level), at: (first as KeyMember).at },
    keys: members.map(() => new Set<string | null>()),
  }
}

/** By dimension; undefined where two members of one hierarchy exclude each other. */
function partsOf(
  members: readonly Member[],
  isAsked: (at: KeyMember['at']) => boolean,
): readonly Part[] | undefined {
  const lowest = new Map<number, KeyMember>()
  for (const member of members) {
    if (member.kind !== 'key') continue
    const other = lowest.get(member.at.index)
    if (other !== undefined && !isSame(member, other) && !isAbove(other, member) && !isAbove(member, other))
      return undefined
    if (other === undefined || isAbove(other, member)) lowest.set(member.at.index, member)
  }
  const sorted = [...lowest.values()].sort((one, other) => one.at.index - other.at.index)
  const byDimension = Map.groupBy(sorted, ({ at }) => at.dimension.uniqueName)
  return [...byDimension]
    .filter(([, [first, ...more]]) => more.length > 0 || (first !== undefined && isAsked(first.at)))
    .map(([dimension, found]) => ({ dimension, members: found }))
}
