/** Numbers as PostgreSQL prints them, written digit by digit. */

import type { MessageWriter } from './message-writer.ts'

const zero = 0x30
const minus = 0x2d

/** Writes a whole number of at most 2^53. */
export function writeInteger(out: MessageWriter, value: number): void {
  out.ensure(17)
  if (value < 0) {
    out.bytes[out.length++] = minus
    writeDigits(out, -value, digitCount(-value))
  } else writeDigits(out, value, digitCount(value))
}

/** Writes `value` with leading zeros up to `width` digits, which it must not pass. */
export function writeDigits(out: MessageWriter, value: number, width: number): void {
  out.ensure(width)
  const { bytes } = out
  let at = out.length + width
  out.length = at
  let rest = value
  while (rest > 0x7fffffff) {
    const quotient = Math.floor(rest / 10)
    bytes[--at] = zero + (rest - quotient * 10)
    rest = quotient
    width--
  }
  for (let small = rest | 0; width > 0; width--) {
    const quotient = (small / 10) | 0
    bytes[--at] = zero + (small - quotient * 10)
    small = quotient
  }
}

function digitCount(value: number): number {
  let count = 1
  for (let bound = 10; value >= bound; bound *= 10) count++
  return count
}

/** Reads 64-bit integers as numbers where they are exact, so that no bigint is made per value. */
export class Int64Reader {
  readonly #halves: Int32Array

  constructor(readonly values: BigInt64Array) {
    this.#halves = new Int32Array(values.buffer, values.byteOffset, values.length * 2)
  }

  /** The value; NaN where it is beyond ±2^53. */
  number(row: number): number {
    const high = this.#halves[row * 2 + 1] ?? 0
    if (high >= 0x20_0000 || high < -0x20_0000) return Number.NaN
    return high * 0x1_0000_0000 + ((this.#halves[row * 2] ?? 0) >>> 0)
  }

  bigint(row: number): bigint {
    return this.values[row] ?? 0n
  }
}

/** Writes an unscaled integer with `scale` digits behind the point. */
export function writeScaled(out: MessageWriter, unscaled: bigint, scale: number): void {
  const negative = unscaled < 0n
  const digits = (negative ? -unscaled : unscaled).toString()
  if (negative) out.byte(minus)
  if (scale <= 0) {
    out.ascii(unscaled === 0n ? '0' : digits + '0'.repeat(-scale))
    return
  }
  const padded = digits.padStart(scale + 1, '0')
  out.ascii(padded.slice(0, -scale))
  out.byte(0x2e)
  out.ascii(padded.slice(-scale))
}

/** `writeScaled` for an unscaled value that is exact as a number and a scale from 0 to 15. */
export function writeScaledNumber(out: MessageWriter, unscaled: number, scale: number): void {
  if (scale === 0) {
    writeInteger(out, unscaled)
    return
  }
  const magnitude = Math.abs(unscaled)
  const unit = 10 ** scale
  const whole = Math.floor(magnitude / unit)
  if (unscaled < 0) out.byte(minus)
  writeInteger(out, whole)
  out.byte(0x2e)
  writeDigits(out, magnitude - whole * unit, scale)
}

export type FloatWidth = 4 | 8

/**
 * A float as PostgreSQL prints it: the fewest digits that read back the same, exponents from 1e15 (1e6 for
 * float4) and below 1e-4; with `extraDigits` below 1, as many digits as the type is sure of plus these.
 */
export function floatText(value: number, width: FloatWidth, extraDigits: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity'
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const magnitude = Math.abs(value)
  // Here JavaScript's form of the fewest digits is PostgreSQL's.
  if (width === 8 && extraDigits > 0 && magnitude >= 1e-4 && magnitude < 1e15) return String(value)
  const sure = width === 8 ? 15 : 6
  const isShortest = extraDigits > 0
  const precision = Math.max(sure + extraDigits, 1)
  const exponential = isShortest ? shortest(value, width) : value.toExponential(precision - 1)
  const [mantissa = '', exponentText = '0'] = exponential.split('e')
  const sign = mantissa.startsWith('-') ? '-' : ''
  const digits = mantissa.replace(/[-.]/g, '').replace(/(?<=.)0+$/, '')
  return sign + layOut(digits, Number(exponentText), isShortest ? sure : precision)
}

function shortest(value: number, width: FloatWidth): string {
  if (width === 8) {
    const text = value.toExponential()
    return isMidpoint(text, value, 53) ? value.toExponential(16) : text
  }
  for (let digits = 0; digits < 8; digits++) {
    const text = value.toExponential(digits)
    if (Math.fround(Number(text)) === value && !isMidpoint(text, value, 24)) return text
  }
  return value.toExponential(8)
}

/**
 * Whether a decimal lies just between two floats. It reads back right where ties go to the even one, which
 * PostgreSQL does not count on. Only integers beyond the mantissa have so few digits there.
 */
function isMidpoint(text: string, value: number, mantissaBits: number): boolean {
  const magnitude = Math.abs(value)
  if (magnitude < 2 ** mantissaBits) return false
  const [mantissa = '', exponentText = '0'] = text.replace('-', '').split('e')
  const digits = mantissa.replace('.', '')
  const zeros = Number(exponentText) - (digits.length - 1)
  if (zeros < 0) return false
  const distance = BigInt(digits) * 10n ** BigInt(zeros) - BigInt(magnitude)
  const exponent = BigInt(magnitude).toString(2).length - 1
  const gap = 2n ** BigInt(exponent - mantissaBits + 1)
  const gapBelow = magnitude === 2 ** exponent ? gap / 2n : gap
  return distance * 2n === gap || -distance * 2n === gapBelow
}

function layOut(digits: string, exponent: number, exponentMax: number): string {
  if (exponent < -4 || exponent >= exponentMax) {
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : ''
    const sign = exponent < 0 ? '-' : '+'
    return `${digits[0]}${fraction}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`
  }
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`
  if (digits.length <= exponent + 1) return digits.padEnd(exponent + 1, '0')
  return `${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`
}
