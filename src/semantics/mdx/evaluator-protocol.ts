/**
 * What the service and its MDX threads send each other: plain data, in slices, because copying one large message would
 * hold either side up.
 */

import type { FaultKind } from '../../base/fault.ts'
import type { CellsetAxis, CellsetCell } from '../../core/cellset.ts'
import type { Cellset } from './cellset.ts'
import type { CellNeed, MeasuredValue, MemberNeed, Need } from './data.ts'
import type { DrillTarget } from './drillthrough.ts'
import type { EvaluationTask } from './evaluation.ts'
import type { Tabular, TabularColumn } from './tabular.ts'

/** Keys of a row's levels, then its values in the order of the need's measures. */
export interface SentRow {
  readonly keys: readonly (string | null)[]
  readonly values: readonly MeasuredValue[]
}

/** To a thread. */
export type EvaluatorRequest = { readonly jobId: number } & (
  | { readonly kind: 'start'; readonly task: EvaluationTask; readonly givenUp: SharedArrayBuffer }
  /** A slice of what was read; with the last one it is put. */
  | ({
      readonly kind: 'members'
      readonly need: MemberNeed
      readonly found: readonly (string | null)[]
    } & Slice)
  | ({ readonly kind: 'cells'; readonly need: CellNeed; readonly rows: readonly SentRow[] } & Slice)
  /** All that was needed is there. */
  | { readonly kind: 'go' }
  /** The slice before was taken. */
  | { readonly kind: 'more' }
  | { readonly kind: 'end' }
)

interface Slice {
  readonly isLast: boolean
}

/** From a thread. Each but the last is answered by `more`, or by `go` after `needs`. */
export type EvaluatorReply = { readonly jobId: number } & (
  | { readonly kind: 'needs'; readonly needs: readonly Need[] }
  | ResultPart
  | { readonly kind: 'fault'; readonly fault: { readonly kind: FaultKind; readonly publicMessage: string } }
  /** An error of ours. */
  | { readonly kind: 'error'; readonly message: string }
)

export type ResultPart =
  | {
      readonly kind: 'cellset'
      readonly head: Omit<Cellset, 'cube' | 'axes' | 'cells'>
      readonly axes: readonly Pick<CellsetAxis, 'hierarchies'>[]
    }
  | { readonly kind: 'tuples'; readonly axis: number; readonly tuples: CellsetAxis['tuples'] }
  | { readonly kind: 'values'; readonly cells: readonly CellsetCell[] }
  | { readonly kind: 'tabular'; readonly columns: readonly TabularColumn[] }
  | { readonly kind: 'rows'; readonly rows: Tabular['rows'] }
  | { readonly kind: 'drill'; readonly target: DrillTarget }
  | { readonly kind: 'whole' }

/** Values of one slice. */
export const sliceValues = 4_096

/** Slices of so many items; an empty one where there is none. */
export function* slicesOf<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at === 0 || at < items.length; at += size) yield items.slice(at, at + size)
}
