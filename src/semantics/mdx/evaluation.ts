/**
 * One statement's evaluation, round by round: it says what it needs, takes what was read, and begins again until the answer
 * is known. It reads nothing itself and may run in any thread.
 */

import { heapSize } from 'bun:jsc'
import { Fault } from '../../base/fault.ts'
import type { MdxFormula, MdxSelect, MdxStatement } from '../../wire/mdx/ast.ts'
import type { Cube } from '../cube/model.ts'
import { exceeds, type MdxBounds } from './bounds.ts'
import type { Cellset } from './cellset.ts'
import { type CellNeed, type CellRow, MdxData, type MemberNeed, type Need } from './data.ts'
import { type DrillTarget, drillTarget } from './drillthrough.ts'
import { type EvaluateParts, evaluateSelect, isRepeatable } from './evaluate-select.ts'
import { type Space, spaceOf } from './space.ts'
import { type Tabular, tabularOf } from './tabular.ts'
import { cellsetOf } from './write-cellset.ts'

/** Plain data, because it is copied between threads. */
export interface EvaluationTask {
  readonly cube: Cube
  readonly statement: MdxSelect | Extract<MdxStatement, { kind: 'drillthrough' }>
  readonly format: 'multidimensional' | 'tabular'
  /** Of the session, in the order of their definition. */
  readonly formulas: readonly MdxFormula[]
  readonly bounds: MdxBounds
  /** The present, the same in every round. */
  readonly nowMs: number
  /** Names of measures that are read together, because the statement names them. */
  readonly mentioned: readonly string[]
  /** Names of measures that are computed for several level combinations at once. */
  readonly grouped: readonly string[]
}

export type Evaluation =
  | { readonly kind: 'cellset'; readonly cellset: Omit<Cellset, 'cube'> }
  | { readonly kind: 'tabular'; readonly tabular: Tabular }
  /** What must be read for the details of a cell. */
  | { readonly kind: 'drill'; readonly target: DrillTarget }

type EvaluationRound = Evaluation | { readonly kind: 'needs'; readonly needs: readonly Need[] }

/** The statement was given up. Nobody waits for its answer. */
export class GivenUp extends Error {
  override readonly name = 'GivenUp'
}

/** Steps between two looks at the clock, and at the memory of the thread. */
const stepsToClock = 1_024
const stepsToMemory = 16_384

export class RunningEvaluation {
  readonly #task: EvaluationTask
  readonly #space: Space
  readonly #data: MdxData
  readonly #deadlineMs: number
  readonly #isGivenUp: () => boolean
  #rounds = 0

  /** @param isGivenUp asked often */
  constructor(task: EvaluationTask, isGivenUp: () => boolean) {
    const { cube, bounds, mentioned } = task
    this.#task = task
    this.#space = spaceOf(cube)
    this.#data = new MdxData(
      bounds,
      cube.measures.filter(({ name }) => mentioned.includes(name)),
    )
    this.#deadlineMs = performance.now() + bounds.timeMs
    this.#isGivenUp = isGivenUp
  }

  /** Takes members that were read. */
  putMembers(need: MemberNeed, found: readonly (string | null)[]): void {
    const at = this.#space.hierarchies[need.at.index]
    const level = at?.levels[need.level.number]
    // Members are of this space, not of a copy of it.
    if (at !== undefined && level !== undefined) this.#data.putMembers({ ...need, at, level }, found)
  }

  /** Takes values that were read. */
  putCells(need: CellNeed, rows: readonly CellRow[]): void {
    this.#data.putCells(need, rows)
  }

  /** Goes on until the answer is known, or something must be read. @throws Fault; GivenUp */
  async advance(): Promise<EvaluationRound> {
    try {
      return await this.#once()
    } catch (thrown) {
      // Only what nests too deep for the stack.
      if (thrown instanceof RangeError)
        throw new Fault('bad_request', 'MDX: the statement is too complex.', { cause: thrown })
      if (!isRepeatable(thrown, this.#data)) throw thrown
    }
    this.#rounds++
    if (this.#rounds === this.#task.bounds.roundsMax)
      exceeds('the statement needs more than can be read for one answer')
    return { kind: 'needs', needs: this.#data.takeNeeds() }
  }

  async #once(): Promise<Evaluation> {
    const { statement, format } = this.#task
    const parts = this.#parts()
    if (statement.kind === 'drillthrough') return { kind: 'drill', target: drillTarget(parts, statement) }
    const evaluated = await evaluateSelect(parts, statement)
    if (format === 'tabular')
      return { kind: 'tabular', tabular: tabularOf(evaluated, this.#task.bounds.cellsMax) }
    const { cube: _, ...cellset } = cellsetOf(this.#space, evaluated, statement.cellProperties)
    return { kind: 'cellset', cellset }
  }

  #parts(): EvaluateParts {
    const { bounds, formulas, grouped, nowMs } = this.#task
    let steps = 0
    let toClock = 0
    let toMemory = 0
    const step = (count: number) => {
      steps += count
      if (steps > bounds.stepsMax) exceeds(`the statement takes more than ${bounds.stepsMax} steps`)
      if (steps - toClock < stepsToClock) return
      toClock = steps
      this.#look()
      if (steps - toMemory < stepsToMemory) return
      toMemory = steps
      if (heapSize() > bounds.heapBytesMax) exceeds('the statement takes more memory than there is for one')
    }
    const pause = async () => {
      await new Promise<void>((resolve) => setImmediate(resolve))
      this.#look()
    }
    return { space: this.#space, data: this.#data, bounds, formulas, grouped, nowMs, step, pause }
  }

  #look(): void {
    if (this.#isGivenUp()) throw new GivenUp()
    if (performance.now() > this.#deadlineMs)
      throw new Fault('unavailable', 'MDX: the statement takes too long. Ask for less.')
  }
}
