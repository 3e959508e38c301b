/** Bounds a recursive query, which an engine would compute without end. docs/sql.md states them. */

export const recursionBounds = {
  /** Levels where rows are kept as they come, and rows of all levels together. */
  levelsMax: 10_000,
  rowsMax: 1_000_000,
  /** Bytes of one text, array or JSON value, which may grow with each level. */
  valueBytesMax: 16 * 1_024,
} as const
