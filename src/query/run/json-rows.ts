/** Writes rows of a result as JSON arrays, up to a number of rows and of bytes. */

import { cleanText } from '../../base/clean-text.ts'
import { type ColumnVector, isNull, type ResultBatch } from '../../core/result-batch.ts'
import { defaultTextOptions, textOf } from '../../wire/postgres/text-values.ts'

/** A value: 64-bit integers, decimals, times and bytes in PostgreSQL's text form, because JSON readers round. */
export type Cell = null | boolean | number | string | readonly Cell[]

export interface RowBounds {
  readonly rowsMax: number
  readonly bytesMax: number
  /** Characters of one text; the rest is cut off. */
  readonly charsMax: number
}

export interface WrittenRows {
  readonly rows: readonly (readonly Cell[])[]
  /** Whether there were more. */
  readonly truncated: boolean
}

/** Pulls rows until a bound is reached. Returning early ends the run. */
export async function writeRows(
  batches: AsyncIterable<ResultBatch>,
  { rowsMax, bytesMax, charsMax }: RowBounds,
): Promise<WrittenRows> {
  const rows: (readonly Cell[])[] = []
  let bytes = 0
  for await (const { columns, rowCount } of batches)
    for (let row = 0; row < rowCount; row++) {
      if (rows.length === rowsMax) return { rows, truncated: true }
      const cells = columns.map((column) => cellOf(column, row, charsMax))
      bytes += Buffer.byteLength(JSON.stringify(cells)) + 1
      if (bytes > bytesMax) return { rows, truncated: true }
      rows.push(cells)
    }
  return { rows, truncated: false }
}

/** One value. @throws ValueError for a date that PostgreSQL cannot hold */
export function cellOf(column: ColumnVector, row: number, charsMax: number): Cell {
  if (isNull(column, row)) return null
  switch (column.type) {
    case 'bool':
      return column.values[row] !== 0
    case 'int2':
    case 'int4':
      return column.values[row] ?? null
    case 'float4':
    case 'float8': {
      const value = column.values[row] ?? 0
      return Number.isFinite(value) && column.type === 'float8' ? value : asText(column, row, charsMax)
    }
    case 'array': {
      const { offsets, elements } = column
      const cells: Cell[] = []
      for (let at = offsets[row] ?? 0; at < (offsets[row + 1] ?? 0); at++)
        cells.push(cellOf(elements, at, charsMax))
      return cells
    }
    default:
      return asText(column, row, charsMax)
  }
}

function asText(column: ColumnVector, row: number, charsMax: number): string {
  return cleanText(textOf(column, row, defaultTextOptions), charsMax)
}
