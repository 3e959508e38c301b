/** Counts the bytes of data in a result batch. */

import type { ColumnVector, ResultBatch } from '../../../core/result-batch.ts'

/** Bytes of a batch's values in memory. */
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
    case 'bytea':
      return (column.offsets[column.offsets.length - 1] ?? 0) - (column.offsets[0] ?? 0)
    case 'uuid':
      return column.values.length * 16
    case 'array':
      return column.offsets.byteLength + vectorBytes(column.elements)
    case 'numeric':
      return column.values.length * 8
    default:
      return column.values.byteLength
  }
}
