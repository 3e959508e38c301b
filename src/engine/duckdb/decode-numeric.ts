/** Decodes DuckDB's decimals, integers and doubles as numerics: unscaled integers and a scale. */

import { shownDigits, type TextScale } from '../../core/quotient-scale.ts'
import type { ColumnVector } from '../../core/result-batch.ts'
import { EngineError } from '../engine-error.ts'
import { exactNumerics } from '../exact-numerics.ts'
import { byteStrings } from './decode-text.ts'
import { hasValue, type RawVector } from './raw-vector.ts'

/** Unscaled values of decimals. @param width bytes of each: 2, 4, 8 or 16 */
export function decimals({ bytes, count }: RawVector, width: number): BigInt64Array | bigint[] {
  const { buffer } = bytes.slice()
  if (width === 8) return new BigInt64Array(buffer as ArrayBuffer)
  if (width === 16) return huge(buffer as ArrayBuffer, count)
  const narrow = width === 2 ? new Int16Array(buffer) : new Int32Array(buffer)
  const values = new BigInt64Array(count)
  // Writes both 32-bit halves, so that no bigint is allocated.
  const halves = new Int32Array(values.buffer)
  for (let row = 0; row < count; row++) {
    const value = narrow[row] ?? 0
    halves[row * 2] = value
    halves[row * 2 + 1] = value >> 31
  }
  return values
}

/** Decimals of one scale, each shown with digits of its own. @param bytes of each value */
export function decimalsShown(raw: RawVector, bytes: number, from: number, shown: TextScale) {
  const given = decimals(raw, bytes)
  const values: bigint[] = []
  const scale = new Uint16Array(raw.count)
  for (let row = 0; row < raw.count; row++) {
    const own = { digits: hasValue(raw, row) ? (given[row] ?? 0n) : 0n, scale: from }
    const part = shownDigits(Number(own.digits) / 10 ** from, own, shown)
    values.push(part.digits)
    scale[row] = part.scale
  }
  return { values, scale }
}

/** What is computed of texts; see core/exact-numeric.ts. */
export function computedNumerics(raw: RawVector): ColumnVector {
  const { bytes, offsets } = byteStrings(raw)
  const { values, scale, validity } = exactNumerics(raw.count, (row) =>
    hasValue(raw, row)
      ? Buffer.from(bytes.subarray(offsets[row], offsets[row + 1])).toString('latin1')
      : undefined,
  )
  return { type: 'numeric', values, scale, validity }
}

/** Integers of 4, 8 or 16 bytes as numerics without a fraction. */
export function integersAsDecimals(raw: RawVector, width: number) {
  return { values: decimals(raw, width), scale: 0 }
}

function huge(buffer: ArrayBuffer, count: number): bigint[] {
  const lower = new BigUint64Array(buffer)
  const upper = new BigInt64Array(buffer)
  return Array.from(
    { length: count },
    (_, row) => ((upper[row * 2 + 1] ?? 0n) << 64n) + (lower[row * 2] ?? 0n),
  )
}

/**
 * Doubles as the shortest decimals that read back as the same doubles, each with a scale of its own: the text of a value
 * must not depend on the values that share its batch.
 * @param textScale digits after the point; undefined: as many as each value needs
 * @throws EngineError 22003 for NaN and infinities
 */
export function doublesAsDecimals(raw: RawVector, textScale?: TextScale) {
  const doubles = new Float64Array(raw.bytes.slice().buffer)
  const values: bigint[] = []
  const scale = new Uint16Array(raw.count)
  for (let row = 0; row < raw.count; row++) {
    const double = doubles[row] ?? 0
    const part = hasValue(raw, row) ? shownDigits(double, shortest(double), textScale) : zero
    values.push(part.digits)
    scale[row] = part.scale
  }
  return { values, scale }
}

const zero = { digits: 0n, scale: 0 }

/** A double's shortest decimal that reads back as it. @throws EngineError 22003 for NaN and infinities */
export function shortest(value: number): { readonly digits: bigint; readonly scale: number } {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? []
  if (whole === '') throw new EngineError('22003', 'value out of range')
  const digits = BigInt(`${sign}${whole}${fraction}`)
  const scale = fraction.length - Number(exponent)
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 }
}
