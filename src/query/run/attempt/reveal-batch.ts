/** Opens the revealed columns of a batch after the engine, so that no engine and no statement for it holds a value. */

import { type ColumnVector, isNull, type ResultBatch } from '../../../core/result-batch.ts'
import type { Reveal } from '../../../core/reveal.ts'
import type { BytesColumn } from '../../../transform/bytes-column.ts'
import { SqlError } from '../../compile/base/sql-error.ts'
import type { RevealedOutputs } from '../../compile/output/revealed-outputs.ts'

/** Opens one column's values for a query. */
export type RevealValues = (reveal: Reveal, column: BytesColumn) => Promise<BytesColumn>

/** The batch with its revealed columns in clear. @throws Fault where the keys cannot be had */
export async function revealBatch(
  batch: ResultBatch,
  reveals: RevealedOutputs,
  open: RevealValues,
): Promise<ResultBatch> {
  const columns: ColumnVector[] = []
  for (const [index, column] of batch.columns.entries()) {
    const reveal = reveals[index]
    columns.push(reveal === undefined ? column : await revealVector(column, batch.rowCount, reveal, open))
  }
  return { rowCount: batch.rowCount, columns }
}

async function revealVector(
  vector: ColumnVector,
  length: number,
  reveal: Reveal,
  open: RevealValues,
): Promise<ColumnVector> {
  const { type } = vector
  if (type !== 'text' && type !== 'varchar' && type !== 'bytea')
    throw new SqlError('XX000', 'The query failed.')
  const valid = Uint8Array.from({ length }, (_, row) => (isNull(vector, row) ? 0 : 1))
  const offsets = Float64Array.from(vector.offsets.subarray(0, length + 1))
  const opened = await open(reveal, { length, data: vector.bytes, offsets, valid })
  const validity = new Uint8Array(Math.ceil(length / 8))
  for (let row = 0; row < length; row += 1)
    if (opened.valid === undefined || opened.valid[row] !== 0)
      validity[row >> 3] = (validity[row >> 3] ?? 0) | (1 << (row & 7))
  return { type, bytes: opened.data, offsets: Uint32Array.from(opened.offsets), validity }
}
