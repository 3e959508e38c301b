/** Lineage by reading: which columns a statement read together into which columns of its result (docs/lineage.md). */

import type { TableRef } from './table-ref.ts'

export interface ReadColumn extends TableRef {
  readonly column: string
}

/** It holds no text, no literal and no name that the statement gives. Columns are named by their place in `columns`. */
export interface ReadLineage {
  readonly columns: readonly ReadColumn[]
  /** By place in the result, the columns whose values flow into it. */
  readonly outputs: readonly (readonly number[])[]
  /** Columns that decide which rows there are, or how they are grouped or ordered. */
  readonly conditions: readonly number[]
  /** Whether the result has more columns, or reads more, than are kept. */
  readonly truncated: boolean
}

/** The bounds of lineage by reading. */
export const readLineageBounds = {
  outputsMax: 200,
  columnsMax: 500,
  /** Statements of one process that wait to be written. */
  pendingMax: 2_000,
  flushMs: 10_000,
  /** Rows of a tenant, of which those that were read longest ago go first. */
  rowsMax: 20_000,
  keptMs: 90 * 24 * 3_600_000,
} as const
