/** Rows of a batch as DataRow messages. */

import { type ColumnVector, isNull, type ResultBatch } from '../../core/result-batch.ts'
import { binaryWriter } from './binary-values.ts'
import type { MessageWriter } from './message-writer.ts'
import { backend, type Format } from './protocol.ts'
import { type TextOptions, textWriter, type ValueWriter } from './text-values.ts'

export type FormatOf = (column: number) => Format

/** Writes one row of the batch that it was made for. */
export type RowWriter = (out: MessageWriter, row: number) => void

/** The writers of a batch's columns. */
export function columnWriters(
  batch: ResultBatch,
  formatOf: FormatOf,
  options: TextOptions,
): readonly ValueWriter[] {
  return batch.columns.map((column, index) =>
    formatOf(index) === 1 ? binaryWriter(column) : textWriter(column, options),
  )
}

/** The writer of a batch's rows as DataRow. It throws ValueError as the column writers do. */
export function dataRowWriter(batch: ResultBatch, formatOf: FormatOf, options: TextOptions): RowWriter {
  const { columns } = batch
  const writers = columnWriters(batch, formatOf, options)
  return (out, row) => {
    out.begin(backend.dataRow)
    writeTuple(out, row, columns, writers)
    out.end()
  }
}

/** The count of columns, then each value with its length: the body of DataRow and a tuple of binary COPY. */
export function writeTuple(
  out: MessageWriter,
  row: number,
  columns: readonly ColumnVector[],
  writers: readonly ValueWriter[],
): void {
  out.uint16(columns.length)
  for (let index = 0; index < columns.length; index++) {
    if (isNull(columns[index] as ColumnVector, row)) {
      out.int32(-1)
      continue
    }
    const lengthAt = out.openLength()
    const write = writers[index] as ValueWriter
    write(out, row)
    out.closeLength(lengthAt)
  }
}
