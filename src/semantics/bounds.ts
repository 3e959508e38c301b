/** Bounds of what the semantic layer accepts and answers. */

export const semanticBounds = {
  /** Rows of one answer. */
  rowsMax: 10_000,
  answerBytesMax: 8 * 1024 * 1024,
  expressionCharsMax: 10_000,
  textCharsMax: 10_000,
  dimensionsMax: 200,
  relationshipsMax: 20,
  kpisMax: 100,
  setsMax: 100,
  folderCharsMax: 1_000,
  groupSizeMax: 1_000_000,
  queriesPerDayMax: 1_000_000,
  /** Of a document of another format; a body holds it with its quotes escaped. */
  documentCharsMax: 1_000_000,
  /** Files of one import. */
  documentsMax: 500,
  /** Entries of a list of what a document says beyond us. */
  notCarriedMax: 1_000,
} as const
