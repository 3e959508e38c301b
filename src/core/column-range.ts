/** Bounds of a column that a compiler finds in a statement and an engine may skip files by. They drop no row. */

/** Bounds that contain every row the statement can use; NULL is outside. They skip files, never drop rows. */
export interface ColumnRange {
  readonly fieldId: number
  /** Inclusive; undefined where there is no bound. */
  readonly lower: RangeBound | undefined
  readonly upper: RangeBound | undefined
}

/** bigint for integers, days, and microseconds of `time`, `timestamp` and `timestamptz`; string for text. */
export type RangeBound = bigint | string | boolean
