/** Computes the cells of an answer: each of them, or those alone that have rows where there are many. */

import type { CellsetCell, CellType } from '../../core/cellset.ts'
import { exceeds, stepsOfText } from './bounds.ts'
import { cellValue, decidingMember, measuredValue } from './cell.ts'
import { at, type Context, currentMember } from './context.ts'
import type { MeasuredValue } from './data.ts'
import { existingRows } from './existing-rows.ts'
import { formatValue } from './format-value.ts'
import type { Tuple } from './space.ts'

interface CellParts {
  readonly grouped: readonly string[]
  readonly pause: () => Promise<void>
  /** Whether tuples without a value are dropped from an axis, so that only cells with one count. */
  readonly isSparse: boolean
}

/** Values between two pauses. */
const sliceCells = 4_096
/** Cells of an answer whose ordinals clients can hold. */
const ordinalsMax = 2 ** 31

/** The cells that are not empty, by ordinal. @throws Fault `unprocessable` beyond the bound; Missing */
export async function evaluateCells(
  { grouped, pause, isSparse }: CellParts,
  context: Context,
  axes: readonly (readonly Tuple[])[],
): Promise<readonly CellsetCell[]> {
  const { bounds } = context.environment
  const count = axes.reduce((product, { length }) => product * length, 1)
  const rows = count > bounds.fullProductMax ? existingRows(context, axes, grouped) : undefined
  const isBeyond = count > bounds.cellsMax && (rows === undefined || !isSparse || count > ordinalsMax)
  if (isBeyond) exceeds(`an answer has at most ${bounds.cellsMax} cells`)
  const cells: CellsetCell[] = []
  let done = 0
  for (const ordinal of rows === undefined ? range(count) : ordinalsOf(context, axes, rows)) {
    const cell = cellAt(atOrdinal(context, axes, ordinal), ordinal)
    if (cell !== undefined) {
      context.environment.step(stepsOfText(cell.formatted))
      cells.push(cell)
    }
    if (++done % 256 === 0) context.environment.step(256)
    if (done % sliceCells === 0) await pause()
  }
  context.environment.data.stopIfMissing()
  return cells
}

function* range(count: number): Generator<number> {
  for (let ordinal = 0; ordinal < count; ordinal++) yield ordinal
}

/** The ordinals of cells that have rows, in order. */
function ordinalsOf(
  { environment: { bounds } }: Context,
  axes: readonly (readonly Tuple[])[],
  rows: NonNullable<ReturnType<typeof existingRows>>,
): Iterable<number> {
  const found: number[] = []
  rows.each((places) => {
    let stride = 1
    let ordinal = 0
    for (const [axis, tuples] of axes.entries()) {
      ordinal += (places[axis] ?? 0) * stride
      stride *= tuples.length
    }
    found.push(ordinal)
    if (found.length > bounds.cellsMax) exceeds(`an answer has at most ${bounds.cellsMax} cells`)
  })
  return Float64Array.from(found).sort()
}

function atOrdinal(context: Context, axes: readonly (readonly Tuple[])[], ordinal: number): Context {
  let rest = ordinal
  const members = axes.flatMap((tuples) => {
    const tuple = tuples[rest % tuples.length] ?? []
    rest = Math.floor(rest / tuples.length)
    return tuple
  })
  return at(context, members)
}

function cellAt(context: Context, ordinal: number): CellsetCell | undefined {
  const calculated = decidingMember(context)
  const value = calculated === undefined ? measuredValue(context) : (cellValue(context) ?? undefined)
  if (value === undefined) return undefined
  const format = calculated?.formula.format ?? measureFormat(context)
  return { ordinal, type: typeOf(value), value, formatted: formatValue(value, format), format }
}

function measureFormat(context: Context): string {
  const [hierarchy] = context.environment.space.hierarchies
  const measure = hierarchy && currentMember(context, hierarchy)
  return measure?.kind === 'measure' ? measure.measure.format : ''
}

function typeOf(value: Exclude<MeasuredValue, undefined>): CellType {
  switch (typeof value) {
    case 'bigint':
      return 'long'
    case 'boolean':
      return 'boolean'
    case 'string':
      return 'string'
    default:
      return (value | 0) === value ? 'int' : 'double'
  }
}
