/** Writes the rows of a batch as messages: a slice of rows at once, a column at a time. */

import { type ColumnVector, isNull, type ResultBatch } from '../../core/result-batch.ts'
import { limits } from '../../limits.ts'
import { binaryEncoder } from './binary-values.ts'
import { type ColumnEncoder, copyValue, type EncodedValues, scratch, viewOf } from './encoded.ts'
import type { MessageWriter } from './message-writer.ts'
import { backend, type Format } from './protocol.ts'
import { type TextOptions, textEncoder } from './text-values.ts'
import { ValueError } from './value-error.ts'

export type FormatOf = (column: number) => Format

/**
 * Writes rows of its batch from `from` until before `to`, or until about `limits.pgwireWriteBytes` are written, but at
 * least one row. A row is written whole or not at all.
 * @returns the row behind the last one written
 * @throws ValueError where the first row cannot be written; rows before an invalid row are written by earlier calls
 */
export type RowWriter = (out: MessageWriter, from: number, to: number) => number

/** The writer of a batch's rows as DataRow messages. */
export function dataRowWriter(batch: ResultBatch, formatOf: FormatOf, options: TextOptions): RowWriter {
  const encoders = batch.columns.map((column, index) =>
    formatOf(index) === 1 ? binaryEncoder(column) : textEncoder(column, options),
  )
  return tupleWriter(batch.columns, encoders, backend.dataRow)
}

/** Most rows in a slice, and rows in the first slice, before their size is known. */
const sliceRowsMax = 1_024
const sliceRowsFirst = 128

/** A writer of rows that adapts the size of slices. @param writeSlice may write fewer rows, but at least one */
export function sliceWriter(writeSlice: RowWriter): RowWriter {
  let sliceRows = sliceRowsFirst
  return (out, from, to) => {
    const { length } = out
    let rows = Math.min(to - from, sliceRows)
    for (;;) {
      try {
        const end = writeSlice(out, from, from + rows)
        sliceRows = Math.min((end - from) * 2, sliceRowsMax)
        return end
      } catch (thrown) {
        out.truncate(length)
        // A row of the slice is invalid; a shorter slice writes the rows before it.
        if (rows === 1 || !(thrown instanceof ValueError)) throw thrown
        rows >>= 1
      } finally {
        scratch.clear()
      }
    }
  }
}

/** @throws ValueError 54000 where a row is too long */
export function checkRowBytes(bytes: number): void {
  if (bytes > limits.pgwireRowBytesMax)
    throw new ValueError('54000', `A row is longer than ${limits.pgwireRowBytesMax} bytes.`)
}

/** Bytes of type, length and column count. */
const headBytes = 7
/** Room behind the rows, where fixed-width encoders write the values of NULL rows. */
const nowhereBytes = 16

const sizes = new Uint32Array(sliceRowsMax)
const places = new Uint32Array(sliceRowsMax)
const valuePlaces = new Uint32Array(sliceRowsMax)

/**
 * The writer of rows in the form of DataRow: the column count, then each value with its length.
 * @param lead bytes before the count in each row
 */
export function tupleWriter(
  columns: readonly ColumnVector[],
  encoders: readonly ColumnEncoder[],
  type: number,
  lead: Uint8Array = new Uint8Array(0),
): RowWriter {
  return sliceWriter((out, from, to) => {
    const encoded = encoders.map((encoder) =>
      encoder.width === undefined ? encoder.encode(from, to) : undefined,
    )
    sizes.fill(headBytes + lead.length + columns.length * 4, 0, to - from)
    for (const [index, column] of columns.entries())
      addSizes(column, encoders[index]?.width ?? 0, encoded[index], from, to)
    const { end, bytes } = placeRows(out, from, to)
    out.ensure(bytes + nowhereBytes)
    const view = new DataView(out.bytes.buffer, out.bytes.byteOffset, out.bytes.length)
    writeHeads(view, end - from, type, columns.length, lead)
    for (const [index, column] of columns.entries()) {
      const encoder = encoders[index]
      const values = encoded[index]
      if (values !== undefined) writeValues(view, column, values, from, end)
      else if (encoder?.width !== undefined) {
        writeLengths(view, column, encoder.width, out.length + bytes, from, end)
        encoder.fill(view, valuePlaces, from, end)
      }
    }
    out.length += bytes
    return end
  })
}

function addSizes(
  column: ColumnVector,
  width: number,
  encoded: EncodedValues | undefined,
  from: number,
  to: number,
): void {
  const { validity } = column
  if (encoded === undefined) {
    for (let row = from; row < to; row++)
      if (validity === undefined || !isNull(column, row)) sizes[row - from] = (sizes[row - from] ?? 0) + width
    return
  }
  const { offsets } = encoded
  for (let row = from; row < to; row++)
    if (validity === undefined || !isNull(column, row))
      sizes[row - from] = (sizes[row - from] ?? 0) + (offsets[row + 1] ?? 0) - (offsets[row] ?? 0)
}

/** Computes where each row begins. @returns the row behind the last one that fits, and the bytes of these rows */
function placeRows(
  { length }: MessageWriter,
  from: number,
  to: number,
): { readonly end: number; readonly bytes: number } {
  checkRowBytes(sizes[0] ?? 0)
  let bytes = 0
  let end = from
  for (; end < to; end++) {
    const size = sizes[end - from] ?? 0
    if (end > from && (bytes + size > limits.pgwireWriteBytes || size > limits.pgwireRowBytesMax)) break
    places[end - from] = length + bytes
    bytes += size
  }
  return { end, bytes }
}

function writeHeads(view: DataView, rows: number, type: number, columnCount: number, lead: Uint8Array): void {
  for (let index = 0; index < rows; index++) {
    let at = places[index] ?? 0
    view.setUint8(at, type)
    view.setInt32(at + 1, (sizes[index] ?? 0) - 1)
    at += 5
    for (let byte = 0; byte < lead.length; byte++) view.setUint8(at++, lead[byte] ?? 0)
    view.setUint16(at, columnCount)
    places[index] = at + 2
  }
}

function writeLengths(
  view: DataView,
  column: ColumnVector,
  width: number,
  nowhere: number,
  from: number,
  to: number,
): void {
  const { validity } = column
  for (let row = from; row < to; row++) {
    const at = places[row - from] ?? 0
    const isAbsent = validity !== undefined && isNull(column, row)
    view.setInt32(at, isAbsent ? -1 : width)
    valuePlaces[row - from] = isAbsent ? nowhere : at + 4
    places[row - from] = isAbsent ? at + 4 : at + 4 + width
  }
}

function writeValues(
  view: DataView,
  column: ColumnVector,
  values: EncodedValues,
  from: number,
  to: number,
): void {
  const { validity } = column
  const { offsets } = values
  const source = viewOf(values)
  for (let row = from; row < to; row++) {
    const at = places[row - from] ?? 0
    if (validity !== undefined && isNull(column, row)) {
      view.setInt32(at, -1)
      places[row - from] = at + 4
      continue
    }
    const start = offsets[row] ?? 0
    const end = offsets[row + 1] ?? 0
    view.setInt32(at, end - start)
    places[row - from] = copyValue(view, at + 4, source, start, end)
  }
}
