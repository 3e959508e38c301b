/** Compares what both sides measured, and names every difference. It knows no engine. */

import type { ColumnPair } from './column-kind.ts'
import { floatSumScale, type Measure, type MeasureName } from './measures.ts'

/** Floats are added in any order, so their sums may differ by this part of the sum of their magnitudes. */
const sumTolerance = 1e-9

/** What one side measured: a text each, null where there was no value. */
export interface Totals {
  readonly rows: string
  readonly values: readonly (string | null)[]
}

/** A measure that differs. */
export interface Difference {
  /** Undefined for the table. */
  readonly fieldId: number | undefined
  readonly measure: MeasureName | 'rows' | 'content'
  readonly left: string
  readonly right: string
  /** What all else suggests. */
  readonly hint?: 'time_zone'
}

/** The double of its bits. */
export function doubleOf(bits: string): number {
  const view = new DataView(new ArrayBuffer(8))
  view.setBigInt64(0, BigInt(bits))
  return view.getFloat64(0)
}

/** A decimal without trailing zeros, a leading plus or a negative zero. */
export function plainNumber(text: string): string {
  const [, sign = '', whole = '', fraction = ''] = /^([-+]?)0*(\d*)(?:\.(\d*?)0*)?$/.exec(text.trim()) ?? []
  if (whole === '' && fraction === '') return /^[-+]?[0.]+$/.test(text.trim()) ? '0' : text
  const digits = `${whole === '' ? '0' : whole}${fraction === '' ? '' : `.${fraction}`}`
  return sign === '-' ? `-${digits}` : digits
}

/** A value as it is shown. */
function shown({ kind }: ColumnPair, { name }: Measure, value: string | null): string {
  if (value === null) return ''
  const isFloat = kind === 'float' && ['sum', 'sum_of_magnitudes', 'min', 'max'].includes(name)
  if (isFloat) {
    const double = doubleOf(value) * (name.startsWith('sum') ? floatSumScale : 1)
    return Object.is(double, -0) ? '0' : String(double)
  }
  return isNumeric(kind, name) ? plainNumber(value) : value
}

function isNumeric(kind: ColumnPair['kind'], name: MeasureName): boolean {
  if (name === 'min' || name === 'max') return kind !== 'text' && kind !== 'binary' && kind !== 'time'
  return true
}

/**
 * The measures that differ.
 * @param measures of `left.values` and `right.values`, in their order
 */
export function compareTotals(
  pairs: readonly ColumnPair[],
  measures: readonly Measure[],
  left: Totals,
  right: Totals,
): readonly Difference[] {
  const differences: Difference[] = []
  if (left.rows !== right.rows)
    differences.push({ fieldId: undefined, measure: 'rows', left: left.rows, right: right.rows })
  for (const pair of pairs) {
    const own = measures.flatMap((measure, index) =>
      measure.fieldId === pair.fieldId
        ? [{ measure, left: left.values[index] ?? null, right: right.values[index] ?? null }]
        : [],
    )
    const magnitudes = own.find(({ measure }) => measure.name === 'sum_of_magnitudes')
    for (const one of own) {
      const { measure } = one
      if (measure.name === 'sum_of_magnitudes') continue
      const texts = { left: shown(pair, measure, one.left), right: shown(pair, measure, one.right) }
      if ((one.left === null) === (one.right === null) && texts.left === texts.right) continue
      if (measure.name === 'sum' && pair.kind === 'float' && isNear(one, magnitudes)) continue
      differences.push({ fieldId: pair.fieldId, measure: measure.name, ...texts })
    }
    const hint = hintOf(pair, own)
    if (hint !== undefined)
      for (const [index, one] of differences.entries())
        if (one.fieldId === pair.fieldId) differences[index] = { ...one, hint }
  }
  return differences
}

interface Both {
  readonly left: string | null
  readonly right: string | null
}

/** Whether two sums of floats may be those of the same values. Sums that overflow tell nothing. */
function isNear(sum: Both, magnitudes: Both | undefined): boolean {
  if (sum.left === null || sum.right === null) return false
  const [left, right] = [doubleOf(sum.left), doubleOf(sum.right)]
  if (!Number.isFinite(left) || !Number.isFinite(right)) return true
  const size = Math.max(doubleOf(magnitudes?.left ?? '0'), doubleOf(magnitudes?.right ?? '0'))
  return !Number.isFinite(size) || Math.abs(left - right) <= sumTolerance * size
}

const quarterMicros = 900_000_000n
const dayMicros = 86_400_000_000n

/** Instants that all moved by the same quarters of an hour, at most a day, were written in another time zone. */
function hintOf(
  { kind, nanos }: ColumnPair,
  own: readonly (Both & { readonly measure: Measure })[],
): 'time_zone' | undefined {
  if (kind !== 'instant') return undefined
  const shift = (name: MeasureName) => {
    const found = own.find(({ measure }) => measure.name === name)
    return found?.left && found.right ? BigInt(found.right) - BigInt(found.left) : undefined
  }
  const [least, most] = [shift('min'), shift('max')]
  const unit = nanos ? 1_000n : 1n
  if (least === undefined || least === 0n || least !== most) return undefined
  const size = (least < 0n ? -least : least) / unit
  return size <= dayMicros && size % quarterMicros === 0n ? 'time_zone' : undefined
}

/** The columns whose content differs, by what both sides' content statements gave. */
export function compareContent(
  pairs: readonly ColumnPair[],
  left: readonly (string | null)[],
  right: readonly (string | null)[],
): readonly Difference[] {
  return pairs.flatMap(({ fieldId }, index) => {
    const [a, b] = [left[index] ?? '', right[index] ?? '']
    return a === b ? [] : [{ fieldId, measure: 'content' as const, left: a, right: b }]
  })
}
