/** Encodes numerics in PostgreSQL's binary format (numeric_send): base-10,000 digits behind a head. */

import { type ColumnVector, isNull, scaleAt } from '../../core/result-batch.ts'
import { Int64Reader } from './decimal-text.ts'
import { scratch, type VariableEncoder } from './encoded.ts'
import { ValueError } from './value-error.ts'

type NumericColumn = Extract<ColumnVector, { readonly type: 'numeric' }>

const headBytes = 8
const signNegative = 0x4000
/** PostgreSQL's greatest display scale. */
const scaleMax = 0x3fff
/** Up to this scale a fraction, filled up to whole groups, is exact as a number. */
const numberScaleMax = 12
/** The most bytes of a value that is exact as a number: up to 4 groups before the point, 3 behind it. */
const numberRoom = headBytes + 14

/** The encoder of a numeric column; it throws ValueError 22003 for too many digits. */
export function numericEncoder(column: NumericColumn): VariableEncoder {
  const { values, scale } = column
  const isInt64 = values instanceof BigInt64Array
  const reader = new Int64Reader(isInt64 ? values : new BigInt64Array(0))
  const shared = typeof scale === 'number' ? scale : -1
  const isShort = isInt64 && shared >= 0 && shared <= numberScaleMax
  const unit = 10 ** shared
  const fractionGroups = (shared + 3) >> 2
  const fill = 10 ** (fractionGroups * 4 - shared)
  return {
    width: undefined,
    encode(from, to) {
      const offsets = scratch.takeOffsets(to)
      scratch.ensure(numberRoom * (to - from))
      let at = scratch.length
      offsets[from] = at
      for (let row = from; row < to; row++) {
        if (!isNull(column, row)) {
          const unscaled = isShort ? reader.number(row) : Number.NaN
          if (Number.isNaN(unscaled)) {
            scratch.length = at
            at = writeLong(values[row] ?? 0n, scaleAt(scale, row), numberRoom * (to - row))
          } else at = writeShort(scratch.view, at, unscaled, shared, unit, fractionGroups, fill)
        }
        offsets[row + 1] = at
      }
      scratch.length = at
      return { bytes: undefined, offsets }
    },
  }
}

function writeHead(
  view: DataView,
  at: number,
  groups: number,
  weight: number,
  isNegative: boolean,
  scale: number,
): void {
  view.setInt16(at, groups)
  view.setInt16(at + 2, groups === 0 ? 0 : weight)
  view.setInt16(at + 4, isNegative ? signNegative : 0)
  view.setInt16(at + 6, scale)
}

/** @param fill the factor that extends a fraction to whole groups of digits */
function writeShort(
  view: DataView,
  at: number,
  unscaled: number,
  scale: number,
  unit: number,
  fractionGroups: number,
  fill: number,
): number {
  const magnitude = unscaled < 0 ? -unscaled : unscaled
  const whole = Math.floor(magnitude / unit)
  const fraction = (magnitude - whole * unit) * fill
  const wholeGroups = groupCount(whole)
  const start = at + headBytes
  writeGroups(view, start, whole, wholeGroups)
  // Leading zeros are not stored.
  const behind = wholeGroups === 0 ? groupCount(fraction) : fractionGroups
  writeGroups(view, start + wholeGroups * 2, fraction, behind)
  let groups = wholeGroups + behind
  while (groups > 0 && view.getInt16(start + groups * 2 - 2) === 0) groups--
  const weight = wholeGroups === 0 ? behind - fractionGroups - 1 : wholeGroups - 1
  writeHead(view, at, groups, weight, unscaled < 0, scale)
  return start + groups * 2
}

function groupCount(value: number): number {
  if (value < 1e8) return value === 0 ? 0 : value < 1e4 ? 1 : 2
  return value < 1e12 ? 3 : 4
}

function writeGroups(view: DataView, at: number, value: number, count: number): void {
  let rest = value
  for (let group = count - 1; group > 0; group--) {
    const quotient = Math.floor(rest / 10_000)
    view.setInt16(at + group * 2, (rest - quotient * 10_000) | 0)
    rest = quotient
  }
  if (count > 0) view.setInt16(at, rest | 0)
}

/**
 * Writes any value at the scratch's end.
 * @param reserve bytes to leave free behind it
 * @throws ValueError 22003 for too many digits
 */
function writeLong(unscaled: bigint, scale: number, reserve: number): number {
  if (scale > scaleMax) throw new ValueError('22003', 'A numeric has too many digits.')
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString()
  const shown = scale < 0 ? digits + '0'.repeat(-scale) : digits
  const dscale = Math.max(scale, 0)
  const whole = shown.length > dscale ? shown.slice(0, shown.length - dscale) : ''
  const fraction = shown.slice(whole.length).padStart(dscale, '0')
  const aligned =
    whole.padStart(Math.ceil(whole.length / 4) * 4, '0') +
    fraction.padEnd(Math.ceil(fraction.length / 4) * 4, '0')
  let end = aligned.length / 4
  let first = 0
  while (first < end && aligned.startsWith('0000', first * 4)) first++
  while (end > first && aligned.startsWith('0000', (end - 1) * 4)) end--
  scratch.ensure(headBytes + (end - first) * 2 + reserve)
  const { view, length: at } = scratch
  writeHead(view, at, end - first, Math.ceil(whole.length / 4) - 1 - first, unscaled < 0n, dscale)
  for (let group = first; group < end; group++)
    view.setInt16(at + headBytes + (group - first) * 2, Number(aligned.slice(group * 4, group * 4 + 4)))
  return at + headBytes + (end - first) * 2
}
