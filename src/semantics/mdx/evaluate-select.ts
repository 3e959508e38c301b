/**
 * Evaluates one SELECT over what was read so far: subselects and slicer, then the axes, then the cells. Nothing is read
 * here; {@link Missing} says that something must be.
 */

import { Fault } from '../../base/fault.ts'
import type { CellsetCell } from '../../core/cellset.ts'
import type { MdxAxis, MdxExpression, MdxFormula, MdxFrom, MdxSelect } from '../../wire/mdx/ast.ts'
import { refuseMdx } from '../../wire/mdx/tokens.ts'
import type { MdxBounds } from './bounds.ts'
import { cellValue, projectWithin } from './cell.ts'
import { at, type Context, currentMember, type Environment, type Slicer } from './context.ts'
import { type Condition, conditionOf, type MdxData, Missing } from './data.ts'
import { evaluate } from './evaluate.ts'
import { evaluateCells } from './evaluate-cells.ts'
import { collectFormulas } from './formulas.ts'
import { childrenOf, levelMembers } from './members.ts'
import { type AxisSet, axisSet } from './non-empty.ts'
import { checkedSet, tuplesOf, valuesAt } from './sets.ts'
import { identityOf, type KeyMember, type Member, type Space, type Tuple } from './space.ts'
import { truthOf } from './values.ts'

export interface EvaluateParts {
  readonly space: Space
  readonly data: MdxData
  readonly bounds: MdxBounds
  /** Of the session, in the order of their definition. */
  readonly formulas: readonly MdxFormula[]
  /** Names of measures that are computed for several level combinations at once. */
  readonly grouped: readonly string[]
  readonly step: (count: number) => void
  readonly nowMs: number
  /** Lets others run between parts of a long computation. */
  readonly pause: () => Promise<void>
}

export interface EvaluatedAxis {
  readonly tuples: readonly Tuple[]
  /** Asked for, in upper case, without the standard ones. */
  readonly properties: readonly string[]
  /** Hierarchies of the tuples, also of none. */
  readonly hierarchies: readonly number[]
}

export interface Evaluated {
  readonly axes: readonly EvaluatedAxis[]
  readonly slicer: readonly Member[]
  readonly cells: readonly CellsetCell[]
  /** The number of children that a member has as far as it is known. */
  readonly childCount: (member: Member) => number
}

/** @throws Fault `bad_request`; Missing */
export async function evaluateSelect(parts: EvaluateParts, select: MdxSelect): Promise<Evaluated> {
  const { grouped, pause } = parts
  const context = openSelect(parts, select)
  const axes = evaluateAxes(context, select.axes, grouped)
  const cells = await evaluateCells(
    { grouped, pause, isSparse: select.axes.some(({ nonEmpty }) => nonEmpty) },
    context,
    axes.map(({ tuples }) => tuples),
  )
  const shown = withoutEmpty(select.axes, axes, cells)
  return {
    ...shown,
    slicer: slicerMembers(context, axes),
    childCount: (member) => knownChildren(context, member),
  }
}

/** The context in which the axes are evaluated: within the subselects, at the slicer. */
export function openSelect(parts: EvaluateParts, { formulas, from, where }: MdxSelect): Context {
  const defined = collectFormulas(parts.space, [...parts.formulas, ...formulas])
  const environment = ({ members, values }: Within): Environment => {
    const { space, data, bounds, step, nowMs } = parts
    const own = { space, data, bounds, step, nowMs, formulas: defined, within: values }
    const withinOf = projectWithin(members)
    return { ...own, withinOf, namedSets: new Map(), aliases: new Map(), evaluate, cell: cellValue }
  }
  const within = withinSubselects(from, (found) => plainContext(environment(found)))
  return sliced(plainContext(environment(within)), where)
}

/** What subselects leave: of the members, and of the rows that values are of. */
interface Within {
  readonly members: readonly Condition[]
  readonly values: readonly Condition[]
}

function plainContext(environment: Environment): Context {
  const coordinates = environment.space.hierarchies.map(() => undefined)
  return { environment, coordinates, slicer: { tuples: [], current: new Map() }, conditions: [], depth: 0 }
}

/**
 * The conditions of a subselect and of those within it, the innermost first. One that is NON VISUAL chooses members, and
 * values are of all rows that the reader sees.
 */
function withinSubselects(from: MdxFrom, contextOf: (within: Within) => Context): Within {
  if (from.kind === 'cube') return { members: [], values: [] }
  const inner = withinSubselects(from.from, contextOf)
  // Sets are evaluated at the slicer, as those of axes are.
  const context = sliced(contextOf(inner), from.where)
  if (from.axes.some(({ having }) => having !== undefined))
    refuseMdx('HAVING in a subselect is not supported')
  const sets = [...from.axes.map(({ set }) => set), ...(from.where === undefined ? [] : [from.where])]
  const found = sets.flatMap((set) => conditionOf(checkedSet(context, tuplesOf(context, set))) ?? [])
  context.environment.data.stopIfMissing()
  return {
    members: [...inner.members, ...found],
    values: from.nonVisual ? inner.values : [...inner.values, ...found],
  }
}

function sliced(context: Context, where: MdxExpression | undefined): Context {
  if (where === undefined) return context
  const tuples = checkedSet(context, tuplesOf(context, where))
  const [first, ...more] = tuples
  if (first === undefined) return { ...context, conditions: [conditionOf([]) ?? nothing()] }
  if (more.length > 0) return severalSliced(context, tuples)
  const keys = first.filter(isPlainKey)
  const current = new Map(first.map((member) => [member.at.index, member]))
  const slicer: Slicer = { tuples: keys.length > 0 ? [keys] : [], current }
  return at(
    { ...context, slicer },
    first.filter((member) => !isPlainKey(member)),
  )
}

const nothing = (): never => {
  throw new Fault('internal', 'Internal error.')
}

function isPlainKey(member: Member): member is KeyMember {
  return member.kind === 'key' && member.visual === undefined
}

/** Rows of any of several tuples. They have one measure at most, and no calculated member. */
function severalSliced(context: Context, tuples: readonly Tuple[]): Context {
  const measures = tuples.flatMap((tuple) => tuple.filter(({ at: { index } }) => index === 0))
  const [measure] = measures
  if (
    tuples.some((tuple) => tuple.some(({ kind }) => kind === 'calculated')) ||
    measures.some((each) => each !== measure && each.uniqueName !== measure?.uniqueName)
  )
    return refuseMdx('a slicer of several measures or calculated members is not supported')
  const inner = at(context, measure === undefined ? [] : [measure])
  const keys = tuples.map((tuple) => tuple.filter(isPlainKey))
  const shape = (tuple: readonly Member[]) => tuple.map((member) => member.at.index).join()
  if (keys.every((tuple) => tuple.length > 0 && shape(tuple) === shape(keys[0] ?? [])))
    return { ...inner, slicer: { tuples: keys, current: new Map() } }
  const condition = conditionOf(tuples)
  return condition === undefined ? inner : { ...inner, conditions: [condition] }
}

function evaluateAxes(
  context: Context,
  axes: readonly MdxAxis[],
  grouped: readonly string[],
): readonly EvaluatedAxis[] {
  const sets = eachOf(context, axes, ({ set }) => axisSet(context, set, grouped))
  // A calculated member of any axis may have a value where there are no rows.
  const rowsDecide = !sets.some(({ hasCalculated }) => hasCalculated)
  const found = eachOf(context, axes, (axis, index) =>
    evaluateAxis(context, axis, sets[index] as AxisSet, rowsDecide),
  )
  const used = found.flatMap(({ hierarchies }) => hierarchies)
  if (new Set(used).size < used.length) refuseMdx('a hierarchy stands on one axis only')
  return found
}

/** What is made of each axis. What must be read for all of them is read at once. @throws Missing */
function eachOf<T>(
  context: Context,
  axes: readonly MdxAxis[],
  make: (axis: MdxAxis, index: number) => T,
): readonly T[] {
  const found: T[] = []
  for (const [index, axis] of axes.entries())
    try {
      found.push(make(axis, index))
    } catch (thrown) {
      if (!(thrown instanceof Missing)) throw thrown
    }
  context.environment.data.stopIfMissing()
  return found
}

function evaluateAxis(
  context: Context,
  { having, nonEmpty, properties }: MdxAxis,
  { sample, tuples: make }: AxisSet,
  rowsDecide: boolean,
): EvaluatedAxis {
  const all = checkedSet(context, make(rowsDecide && nonEmpty && having === undefined))
  const hierarchies = sample.map((member) => member.at.index)
  const within = all.filter((tuple) => tuple.every((member) => isWithin(context, member)))
  const values = having === undefined ? undefined : valuesAt(context, within, having)
  const tuples = values === undefined ? within : within.filter((_, index) => truthOf(values[index] ?? null))
  const names = properties.map((parts) => {
    const last = parts.at(-1)
    return last?.kind === 'name' ? last.name.toUpperCase() : refuseMdx('the name of a property is expected')
  })
  return { tuples, hierarchies, properties: [...new Set(names)] }
}

/** Whether the subselects leave a member. */
function isWithin(context: Context, member: Member): boolean {
  if (member.kind !== 'key' || context.environment.withinOf(member.at).length === 0) return true
  const members = levelMembers(context, member.at, member.level)
  return identitySet(members).has(identityOf(member))
}

const identitySets = new WeakMap<readonly Member[], ReadonlySet<string>>()

function identitySet(members: readonly Member[]): ReadonlySet<string> {
  const found = identitySets.get(members) ?? new Set(members.map(identityOf))
  identitySets.set(members, found)
  return found
}

/** Drops tuples without a value from axes that are NON EMPTY, and numbers the cells by what remains. */
function withoutEmpty(
  asked: readonly MdxAxis[],
  axes: readonly EvaluatedAxis[],
  cells: readonly CellsetCell[],
): Pick<Evaluated, 'axes' | 'cells'> {
  if (!asked.some(({ nonEmpty }) => nonEmpty)) return { axes, cells }
  const filled = axes.map(() => new Set<number>())
  const placesOf = (ordinal: number) => {
    let rest = ordinal
    return axes.map(({ tuples }) => {
      const place = rest % tuples.length
      rest = Math.floor(rest / tuples.length)
      return place
    })
  }
  for (const { ordinal } of cells)
    placesOf(ordinal).forEach((place, axis) => {
      filled[axis]?.add(place)
    })
  const moved = axes.map(({ tuples }, axis) => {
    let next = 0
    return tuples.map((_, place) =>
      asked[axis]?.nonEmpty !== true || filled[axis]?.has(place) ? next++ : undefined,
    )
  })
  const kept = axes.map((axis, index) => ({
    ...axis,
    tuples: axis.tuples.filter((_, place) => moved[index]?.[place] !== undefined),
  }))
  const renumbered = cells.map((cell) => {
    let stride = 1
    const ordinal = placesOf(cell.ordinal).reduce((sum, place, axis) => {
      const own = (moved[axis]?.[place] ?? 0) * stride
      stride *= kept[axis]?.tuples.length ?? 1
      return sum + own
    }, 0)
    return { ...cell, ordinal }
  })
  return { axes: kept, cells: renumbered }
}

/** The member of each hierarchy that is on no axis. */
function slicerMembers(context: Context, axes: readonly EvaluatedAxis[]): readonly Member[] {
  const used = new Set(axes.flatMap(({ hierarchies }) => hierarchies))
  return context.environment.space.hierarchies
    .filter(({ index }) => !used.has(index))
    .map((hierarchy) => currentMember(context, hierarchy))
}

function knownChildren(context: Context, member: Member): number {
  const level = member.at.levels[member.level.number + 1]
  if (level === undefined || (member.kind !== 'all' && member.kind !== 'key')) return 0
  const { data, withinOf } = context.environment
  return data.isListed(level, withinOf(member.at)) ? childrenOf(context, member).length : 1
}

/** A fault of an evaluation that still lacked something may be one of values that were not there. */
export function isRepeatable(thrown: unknown, data: MdxData): boolean {
  return (
    thrown instanceof Missing || (thrown instanceof Fault && thrown.kind === 'bad_request' && data.hasNeeds())
  )
}
