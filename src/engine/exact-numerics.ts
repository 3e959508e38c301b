/** Computes the numerics of a batch that engines deliver as texts of what they are computed from. */

import { computeExact, ExactError, newWork, type Work } from '../core/exact-numeric.ts'
import { EngineError } from './engine-error.ts'

/** @throws EngineError 22012 for a division by zero, 22003 for too many digits, 54000 for too much work */
export function exactNumerics(count: number, textOf: (row: number) => string | undefined) {
  const values: bigint[] = []
  const scale = new Uint16Array(count)
  const work = newWork()
  const validity = new Uint8Array((count + 7) >> 3)
  for (let row = 0; row < count; row++) {
    const text = textOf(row)
    const value = text === undefined ? undefined : computed(text, work)
    values.push(value?.digits ?? 0n)
    scale[row] = value?.scale ?? 0
    if (value !== undefined) validity[row >> 3] = (validity[row >> 3] ?? 0) | (1 << (row & 7))
  }
  return { values, scale, validity }
}

function computed(text: string, work: Work) {
  try {
    return computeExact(text, work)
  } catch (thrown) {
    if (thrown instanceof ExactError) throw new EngineError(thrown.sqlState, thrown.message)
    throw thrown
  }
}
