/** How much data a result batch holds. */

import type { ColumnVector, ResultBatch } from '../core/result-batch.ts'

/** Bytes of a batch's values in memory; text counts one a UTF-16 unit. */
export function batchBytes({ columns }: ResultBatch): number {
  return columns.reduce((sum, column) => sum + vectorBytes(column), 0)
}

function vectorBytes(column: ColumnVector): number {
  switch (column.type) {
    case 'interval':
      return column.months.byteLength + column.days.byteLength + column.micros.byteLength
    case 'text':
    case 'varchar':
    case 'json':
    case 'jsonb':
    case 'uuid':
    case 'bytea': {
      let sum = 0
      for (const value of column.values) sum += value.length
      return sum
    }
    case 'array':
      return column.offsets.byteLength + vectorBytes(column.elements)
    case 'numeric':
      return column.values.length * 8
    default:
      return column.values.byteLength
  }
}
