/** Picks elements of a vector in a given order, because DuckDB's lists may share, skip or reverse elements. */

import type { ColumnVector } from '../../core/result-batch.ts'
import { isNull } from '../../core/result-batch.ts'
import { bytesAt, byteValues } from '../../core/variable-width.ts'
import { EngineError } from '../engine-error.ts'

/**
 * The elements at these indices, in their order.
 * @throws EngineError XX000 for lists of lists, which are not a result type
 */
export function gather(vector: ColumnVector, indices: readonly number[]): ColumnVector {
  const validity = gatherValidity(vector, indices)
  const nulls = validity && { validity }
  if (vector.type === 'array') throw new EngineError('XX000', 'The engine delivered nested lists.')
  if (vector.type === 'interval')
    return {
      ...vector,
      ...nulls,
      months: typed(vector.months, indices),
      days: typed(vector.days, indices),
      micros: typed(vector.micros, indices),
    }
  if ('bytes' in vector)
    return { ...vector, ...nulls, ...byteValues(indices.map((index) => bytesAt(vector, index))) }
  const values = Array.isArray(vector.values)
    ? indices.map((index) => (vector.values as readonly unknown[])[index])
    : typed(vector.values as Int32Array, indices)
  return { ...vector, ...nulls, values } as ColumnVector
}

function gatherValidity(vector: ColumnVector, indices: readonly number[]): Uint8Array | undefined {
  if (vector.validity === undefined) return undefined
  const validity = new Uint8Array((indices.length + 7) >> 3)
  for (const [row, index] of indices.entries())
    if (!isNull(vector, index)) validity[row >> 3] = (validity[row >> 3] ?? 0) | (1 << (row & 7))
  return validity
}

type TypedArray = Uint8Array | Int16Array | Int32Array | BigInt64Array | Float32Array | Float64Array

function typed<T extends TypedArray>(values: T, indices: readonly number[]): T {
  const Kind = values.constructor as new (length: number) => T
  const picked = new Kind(indices.length)
  for (const [row, index] of indices.entries()) picked[row] = values[index] as T[number]
  return picked
}
