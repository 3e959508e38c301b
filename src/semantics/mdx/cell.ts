/** Computes the value of a cell: calculated members by their formulas, and everything else from what was read. */

import { refuseMdx } from '../../wire/mdx/tokens.ts'
import type { Measure } from '../cube/model.ts'
import { at, type Context, currentMember, deeper, type Environment, type Value } from './context.ts'
import { type Condition, conditionOf, type MeasuredValue } from './data.ts'
import { allOf, type KeyMember, type Member } from './space.ts'
import { valueOfResult } from './values.ts'

/** The calculated member that decides the value at a context: of several, the one with the greatest solve order. */
export function decidingMember({
  coordinates,
}: Context): Extract<Member, { kind: 'calculated' }> | undefined {
  let found: Extract<Member, { kind: 'calculated' }> | undefined
  for (const member of coordinates)
    if (member?.kind === 'calculated')
      if (found === undefined || member.formula.solveOrder > found.formula.solveOrder) found = member
  return found
}

/** The value at a context. Where it must be read first it is null, and the need is noted. */
export function cellValue(context: Context): Value {
  const { environment } = context
  environment.step(1)
  const calculated = decidingMember(context)
  if (calculated !== undefined) {
    const rest = environment.space.defaults[calculated.at.index]
    const inner = deeper(rest === undefined ? context : at(context, [rest]))
    return valueOfResult(inner, environment.evaluate(inner, calculated.formula.expression))
  }
  return plainValue(measuredValue(context))
}

function plainValue(value: MeasuredValue): Value {
  if (value === undefined) return null
  return typeof value === 'bigint' ? Number(value) : value
}

/** The value at a context without a calculated member, from what was read. */
export function measuredValue(context: Context): MeasuredValue {
  const { measure, members, conditions } = measuredCoordinates(context)
  return context.environment.data.cell(measure, members, conditions)
}

/** The rows that a context without a calculated member is about. @throws Fault `bad_request` at a calculated one */
export function measuredCoordinates(context: Context): {
  readonly measure: Measure
  readonly members: readonly KeyMember[]
  readonly conditions: readonly Condition[]
} {
  const { environment, coordinates, conditions } = context
  const [hierarchy] = environment.space.hierarchies
  const measure = hierarchy && currentMember(context, hierarchy)
  if (measure?.kind !== 'measure' || decidingMember(context) !== undefined)
    return refuseMdx('a calculated member has no rows of its own')
  const members: KeyMember[] = []
  const all: Condition[] = [...environment.within, ...conditions]
  for (const member of coordinates) {
    if (member === undefined || (member.kind !== 'key' && member.kind !== 'all')) continue
    if (member.visual !== undefined) {
      const condition = conditionOf(member.visual.map((each) => [each]))
      if (condition !== undefined) all.push(condition)
    } else if (member.kind === 'key') members.push(member)
  }
  const sliced = slicerCondition(context)
  if (sliced !== undefined) all.push(sliced)
  return { measure: measure.measure, members, conditions: all }
}

const slicerConditions = new WeakMap<object, Map<string, Condition | undefined>>()

/** What the slicer demands of hierarchies without another coordinate. */
function slicerCondition({ slicer, coordinates }: Context): Condition | undefined {
  if (slicer.tuples.length === 0) return undefined
  const known = slicerConditions.get(slicer) ?? new Map<string, Condition | undefined>()
  slicerConditions.set(slicer, known)
  const sliced = (slicer.tuples[0] ?? []).map((member) => member.at.index)
  const free = sliced.filter((index) => coordinates[index] === undefined)
  const id = free.join()
  if (!known.has(id))
    known.set(
      id,
      conditionOf(slicer.tuples.map((tuple) => tuple.filter((member) => free.includes(member.at.index)))),
    )
  return known.get(id)
}

/** The context of a set's rows: its hierarchies are free, and rows are in one of its tuples. */
export function withinSet(context: Context, tuples: readonly (readonly Member[])[]): Context {
  const condition = conditionOf(tuples)
  const free = (tuples[0] ?? []).filter(({ at: { index } }) => index !== 0).map((member) => allOf(member.at))
  const inner = at(context, free)
  return condition === undefined ? inner : { ...inner, conditions: [...inner.conditions, condition] }
}

/** The conditions of a subselect on members of the dimension that a hierarchy is of. */
export function projectWithin(within: readonly Condition[]): Environment['withinOf'] {
  const known = new Map<string, readonly Condition[]>()
  return ({ dimension: { uniqueName } }) => {
    const found =
      known.get(uniqueName) ??
      within.flatMap(({ tuples }) => {
        const projected = tuples.map((tuple) =>
          tuple.filter((member) => member.at.dimension.uniqueName === uniqueName),
        )
        return (tuples.length === 0 ? conditionOf([]) : conditionOf(projected)) ?? []
      })
    known.set(uniqueName, found)
    return found
  }
}
