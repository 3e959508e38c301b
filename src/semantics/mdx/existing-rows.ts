/**
 * Which combinations of tuples have rows: asked of the engine by the levels of their members, so that a large product of
 * sets is never made. A cell without a calculated member is empty where its members have no rows together.
 */

import type { Measure } from '../cube/model.ts'
import { measuredCoordinates } from './cell.ts'
import { at, type Context, currentMember } from './context.ts'
import type { Condition } from './data.ts'
import type { KeyMember, SpaceLevel, Tuple } from './space.ts'

/** Tuples of one set whose members are of the same levels. */
interface Shape {
  /** In the order of their hierarchies. */
  readonly levels: readonly { readonly hierarchy: number; readonly level: SpaceLevel }[]
  /** Keys by the place of the level. */
  readonly keys: readonly Set<string | null>[]
  /** Places of tuples in their set, by their keys. */
  readonly places: Map<string, number[]>
}

const shapesMax = 64
const idOf = (keys: readonly (string | null)[]) => JSON.stringify(keys)

/** The shapes of a set; undefined where a tuple has no rows of its own, because a member is calculated. */
function shapesOf(tuples: readonly Tuple[]): readonly Shape[] | undefined {
  const shapes = new Map<string, Shape>()
  for (const [place, tuple] of tuples.entries()) {
    const members: KeyMember[] = []
    for (const member of tuple) {
      if (member.kind === 'calculated' || ('visual' in member && member.visual !== undefined))
        return undefined
      if (member.kind === 'key') members.push(member)
    }
    members.sort((one, other) => one.at.index - other.at.index)
    const id = members.map(({ level }) => level.uniqueName).join(' ')
    const shape = shapes.get(id) ?? {
      levels: members.map(({ at: { index }, level }) => ({ hierarchy: index, level })),
      keys: members.map(() => new Set<string | null>()),
      places: new Map<string, number[]>(),
    }
    shapes.set(id, shape)
    for (const [index, { key }] of members.entries()) shape.keys[index]?.add(key)
    const keys = idOf(members.map(({ key }) => key))
    const known = shape.places.get(keys)
    if (known === undefined) shape.places.set(keys, [place])
    else known.push(place)
  }
  return [...shapes.values()]
}

interface ExistingRows {
  /**
   * Calls for each combination of tuples that has rows, with their places by set.
   * @throws Missing where rows must be read first
   */
  each(visit: (places: readonly number[]) => void): void
}

/** What tells which combinations of tuples have rows; undefined where rows do not decide. */
export function existingRows(
  context: Context,
  sets: readonly (readonly Tuple[])[],
  grouped: readonly string[],
): ExistingRows | undefined {
  const sample = sets.flatMap((tuples) => tuples[0] ?? [])
  const shapes = sets.flatMap((tuples) => {
    const found = shapesOf(tuples)
    return found === undefined ? [] : [found]
  })
  const inner = at(context, sample)
  const isPlain = inner.coordinates.every((member, index) => {
    const isFree = member === undefined || sample.some((each) => each.at.index === index)
    return isFree || member.kind === 'measure' || (member.kind === 'all' && member.visual === undefined)
  })
  const count = shapes.reduce((product, found) => product * found.length, 1)
  if (shapes.length < sets.length || !isPlain || count > shapesMax) return undefined
  const measure = decidingMeasure(inner, sets, grouped)
  if (measure === undefined) return undefined
  const { conditions } = measuredCoordinates(inner)
  return {
    each(visit) {
      for (const combination of combinations(shapes))
        visitRows(context, { combination, measure, conditions, visit })
      context.environment.data.stopIfMissing()
    },
  }
}

/** A measure whose rows are read: one that is shown, where possible, so that its values come with them. */
function decidingMeasure(
  context: Context,
  sets: readonly (readonly Tuple[])[],
  grouped: readonly string[],
): Measure | undefined {
  const { space } = context.environment
  const [hierarchy] = space.hierarchies
  const shown = sets.flatMap((tuples) =>
    tuples.slice(0, 100).flatMap((tuple) => tuple.filter(({ kind }) => kind === 'measure')),
  )
  const current = hierarchy === undefined ? [] : [currentMember(context, hierarchy)]
  const measures = [...shown, ...current, ...space.measures].flatMap((member) =>
    member.kind === 'measure' ? [member.measure] : [],
  )
  return measures.find(({ name }) => grouped.includes(name))
}

/** One of each list. */
function combinations<T>(lists: readonly (readonly T[])[]): readonly (readonly T[])[] {
  return lists.reduce<readonly (readonly T[])[]>(
    (found, list) => found.flatMap((before) => list.map((each) => [...before, each])),
    [[]],
  )
}

function visitRows(
  { environment }: Context,
  {
    combination,
    measure,
    conditions,
    visit,
  }: {
    readonly combination: readonly Shape[]
    readonly measure: Measure
    readonly conditions: readonly Condition[]
    readonly visit: (places: readonly number[]) => void
  },
): void {
  const levels = combination
    .flatMap((shape, set) =>
      shape.levels.map(({ hierarchy, level }, index) => ({
        ...{ hierarchy, level, set, index },
        keys: shape.keys[index] ?? new Set<string | null>(),
      })),
    )
    .sort((one, other) => one.hierarchy - other.hierarchy)
  const rows = environment.data.combinations(measure, levels, conditions)
  if (rows === undefined) return
  environment.step(rows.length)
  const columns = combination.map((shape, set) =>
    shape.levels.map((_, index) => levels.findIndex((each) => each.set === set && each.index === index)),
  )
  for (const { keys } of rows) {
    const places = combination.map((shape, set) =>
      shape.places.get(idOf((columns[set] ?? []).map((column) => keys[column] ?? null))),
    )
    visitAll(places, visit)
  }
}

/** Every combination of the places of several tuples with the same keys. */
function visitAll(
  lists: readonly (readonly number[] | undefined)[],
  visit: (places: readonly number[]) => void,
  chosen: readonly number[] = [],
): void {
  if (chosen.length === lists.length) visit(chosen)
  else for (const place of lists[chosen.length] ?? []) visitAll(lists, visit, [...chosen, place])
}
