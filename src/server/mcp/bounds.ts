/** The bounds of MCP (docs/reference/limits.md 5.3). */

const KiB = 1024

export const mcpBounds = {
  /** Bytes of one request, and of one tool's answer: below what clients cut off. */
  bodyBytesMax: 256 * KiB,
  answerBytesMax: 75_000,
  /** Bytes of the lists of an answer: where the caller names no number of items, and where it does. */
  listBytes: 28_000,
  listBytesMax: 70_000,
  /** Calls of one principal at once, and milliseconds of one. */
  callsMax: 4,
  callMs: 30_000,
  /** Milliseconds for which a cursor is valid. */
  cursorMs: 900_000,
  /** Rows of one query, and their bytes: by default, and at most. */
  rows: 100,
  rowsMax: 1_000,
  rowBytes: 24 * KiB,
  rowBytesMax: 64 * KiB,
  /** Bytes that queries of one principal scan within 24 hours. */
  scannedBytesADay: 100 * KiB ** 3,
  /** Characters of a client's name in a usage record. */
  clientCharsMax: 64,
} as const
