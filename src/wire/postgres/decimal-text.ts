/** Writes integers, decimals and floats as PostgreSQL does, without allocating strings where it can. */

/** The most bytes that a 64-bit integer and a float take. */
export const integerRoom = 20
export const floatRoom = 32

const minus = 0x2d
const point = 0x2e

/** The four digits of each number below 10,000 as one 32-bit word. */
const fourDigits = Int32Array.from({ length: 10_000 }, (_, value) =>
  Buffer.from(String(value).padStart(4, '0'), 'latin1').readInt32BE(),
)

/** Writes an integer up to ±2^53. @returns the index behind it, as all writers in this file do */
export function writeInteger(view: DataView, at: number, value: number): number {
  if (value >= 0) return writeDigits(view, at, value, digitCount(value))
  view.setUint8(at, minus)
  return writeDigits(view, at + 1, -value, digitCount(-value))
}

/** Writes `value` with leading zeros. @param width number of digits; `value` must not have more */
export function writeDigits(view: DataView, at: number, value: number, width: number): number {
  const end = at + width
  let place = end
  let rest = value
  while (rest > 0x7fffffff) {
    const quotient = Math.floor(rest / 10_000)
    place -= 4
    view.setInt32(place, fourDigits[rest - quotient * 10_000] ?? 0)
    rest = quotient
  }
  let small = rest | 0
  while (place - at >= 4) {
    const quotient = (small / 10_000) | 0
    place -= 4
    view.setInt32(place, fourDigits[small - quotient * 10_000] ?? 0)
    small = quotient
  }
  const word = fourDigits[small] ?? 0
  if (place - at === 1) view.setUint8(at, word)
  else if (place - at === 2) view.setInt16(at, word)
  else if (place - at === 3) {
    view.setUint8(at, word >> 16)
    view.setInt16(at + 1, word)
  }
  return end
}

function digitCount(value: number): number {
  let count = 0
  let rest = value
  while (rest >= 10_000) {
    rest = Math.floor(rest / 10_000)
    count += 4
  }
  return count + (rest < 10 ? 1 : rest < 100 ? 2 : rest < 1_000 ? 3 : 4)
}

/** Writes characters that are known to be ASCII. */
export function writeAscii(view: DataView, at: number, text: string): number {
  for (let index = 0; index < text.length; index++) view.setUint8(at + index, text.charCodeAt(index))
  return at + text.length
}

/** Reads 64-bit integers as numbers where these are exact, so that no bigint is allocated per value. */
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

/** The text of an unscaled integer with `scale` digits behind the point. */
export function scaledText(unscaled: bigint, scale: number): string {
  const negative = unscaled < 0n
  const digits = (negative ? -unscaled : unscaled).toString()
  const sign = negative ? '-' : ''
  if (scale <= 0) return unscaled === 0n ? '0' : sign + digits + '0'.repeat(-scale)
  const padded = digits.padStart(scale + 1, '0')
  return `${sign}${padded.slice(0, -scale)}.${padded.slice(-scale)}`
}

/** The powers of ten below 2^53. */
const powers = Array.from({ length: 16 }, (_, exponent) => 10 ** exponent)

/** Writes `scaledText` of an unscaled value that is exact as a number. @param scale 0 to 15 */
export function writeScaled(view: DataView, at: number, unscaled: number, scale: number): number {
  if (scale === 0) return writeInteger(view, at, unscaled)
  const magnitude = Math.abs(unscaled)
  const unit = powers[scale] ?? 1
  const whole = Math.floor(magnitude / unit)
  if (unscaled < 0) view.setUint8(at++, minus)
  at = writeInteger(view, at, whole)
  view.setUint8(at, point)
  return writeDigits(view, at + 1, magnitude - whole * unit, scale)
}

/** Most numbers that people enter have at most this many digits behind the point. */
const shortScaleMax = 6

/**
 * Writes the fewest digits that read back as the same float8, as PostgreSQL does with extra_float_digits above 0. Up
 * to 15 digits, only one decimal of that length reads back.
 */
export function writeFloat8(view: DataView, at: number, value: number): number {
  const magnitude = Math.abs(value)
  if (magnitude >= 1e-4 && magnitude < 1e15)
    for (let scale = 0; scale <= shortScaleMax; scale++) {
      const unit = powers[scale] ?? 1
      const unscaled = Math.round(magnitude * unit)
      if (unscaled >= 1e15) break
      if (unscaled / unit === magnitude) return writeScaled(view, at, value < 0 ? -unscaled : unscaled, scale)
    }
  return writeAscii(view, at, floatText(value, 8, 1))
}

type FloatWidth = 4 | 8

/**
 * A float as PostgreSQL prints it: the fewest digits that read back as the same float, with exponents from 1e15 (1e6
 * for float4) and below 1e-4. With `extraDigits` below 1: the guaranteed digits of the type plus `extraDigits`.
 */
export function floatText(value: number, width: FloatWidth, extraDigits: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity'
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const magnitude = Math.abs(value)
  // In this range JavaScript's shortest form equals PostgreSQL's.
  if (width === 8 && extraDigits > 0 && magnitude >= 1e-4 && magnitude < 1e15) return String(value)
  const sure = width === 8 ? 15 : 6
  const isShortest = extraDigits > 0
  const precision = Math.max(sure + extraDigits, 1)
  const exponential = isShortest ? shortest(value, width) : toEven(value, precision - 1)
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
    if (Math.fround(Number(text)) === value && !isMidpoint(text, value, 24)) return toEven(value, digits)
  }
  return value.toExponential(8)
}

/** As toExponential, but a tie between two decimals rounds to the even one, as in C and Ryu. */
function toEven(value: number, fractionDigits: number): string {
  const [mantissa = '', exponent = ''] = value.toExponential(100).split('e')
  const end = mantissa.indexOf('.') + (fractionDigits === 0 ? 0 : fractionDigits + 1)
  const cut = mantissa.slice(0, end)
  const isTie = /^\.?50*$/.test(mantissa.slice(end))
  // JavaScript rounds ties up.
  return isTie && Number(cut.at(-1)) % 2 === 0 ? `${cut}e${exponent}` : value.toExponential(fractionDigits)
}

/**
 * Whether a decimal lies exactly between two floats. Such a decimal reads back correctly only where ties go to the
 * even float, and PostgreSQL does not rely on that. Only integers beyond the mantissa have such short midpoints.
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
