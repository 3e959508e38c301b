/** Writes to_char of numbers, for listed patterns only, from the number's digits, as PostgreSQL writes them. */

import { quoteText } from '../../../base/sql-text.ts'
import type { Template } from '../base/function-definition.ts'
import { notSupported } from '../base/sql-error.ts'

interface NumberForm {
  readonly fill: boolean
  readonly sign: 'default' | 'before' | 'behind' | 'minusBefore' | 'minusBehind' | 'brackets'
  readonly prefix: string
  readonly suffix: string
  /** Runs of digits before the point; a group sign stands between two. */
  readonly runs: readonly number[]
  readonly whole: number
  /** Digits that are written as zeros at least, before the point; and up to the last `0` behind it. */
  readonly zeros: number
  readonly fraction: number
  readonly fractionZeros: number
  readonly hasPoint: boolean
}

const literalText = `((?:"[^"]*"|[$%€£ ])*)`
const form = new RegExp(
  `^(FM)?(S|MI)?${literalText}([09](?:[09]|[,G](?=[09]))*)(?:([.D])([09]*))?(S|MI|PR)?${literalText}$`,
  'i',
)

/** @throws SqlError 0A000 for what the pattern may not hold */
function readForm(pattern: string): NumberForm {
  const found = form.exec(pattern)
  if (found === null) throw notSupported('This to_char pattern of numbers')
  const [, fill, before, prefix = '', digits = '', point, decimals = '', behind, suffix = ''] = found
  const places = digits.replace(/[,G]/gi, '')
  if (places.length + decimals.length > 38) throw notSupported('A to_char pattern of more than 38 digits')
  const firstZero = places.indexOf('0')
  const unquoted = (text: string) => text.replaceAll('"', '')
  return {
    fill: fill !== undefined,
    sign: signOf(before?.toUpperCase(), behind?.toUpperCase()),
    prefix: unquoted(prefix),
    suffix: unquoted(suffix),
    runs: digits.split(/[,G]/i).map((run) => run.length),
    whole: places.length,
    zeros: firstZero < 0 ? 0 : places.length - firstZero,
    fraction: decimals.length,
    fractionZeros: decimals.lastIndexOf('0') + 1,
    hasPoint: point !== undefined,
  }
}

function signOf(before: string | undefined, behind: string | undefined): NumberForm['sign'] {
  if (before !== undefined && behind !== undefined) throw notSupported('Two signs in a to_char pattern')
  if (before !== undefined) return before === 'S' ? 'before' : 'minusBefore'
  if (behind === undefined) return 'default'
  return behind === 'S' ? 'behind' : behind === 'MI' ? 'minusBehind' : 'brackets'
}

/**
 * SQL for DuckDB. The digits are those of `t`, a text such as `-12.50`; `d` holds their parts.
 * @param textOf SQL of the number's digits, rounded to the places of the pattern
 */
export function numberToChar(textOf: (value: string, fraction: number) => string): Template {
  return ([value = ''], { literals }) => {
    const given = readForm(literals[1] ?? '')
    const { fill, whole, fraction, prefix, suffix, sign } = given
    const parts = `{'n': starts_with(t, '-'), 'i': ltrim(split_part(t, '.', 1), '-'), 'f': rpad(split_part(t, '.', 2), ${fraction}, '0')}`
    const body = `${quoteText(prefix)} || ${signed(given)} || ${quoteText(suffix)}`
    const text = textOf(value, fraction)
    const d = `list_transform([${text}], lambda t: CASE WHEN t IS NOT NULL THEN ${parts} END)`
    // The integer digits with blanks and zeros before them, or signs of a number that is too long.
    const filled = `CASE WHEN length(d.i) > ${whole} THEN repeat('#', ${whole}) ELSE lpad(${digitsOf(given)}, ${whole}, ' ') END`
    const decimals = `CASE WHEN length(d.i) > ${whole} THEN repeat('#', ${fraction}) ELSE d.f END`
    const rest = `{'n': d.n, 'p': ${filled}, 'f': ${fill ? trimmed(decimals, given) : decimals}}`
    const p = `list_transform(${d}, lambda d: CASE WHEN d IS NOT NULL THEN ${rest} END)`
    const written = `list_transform(${p}, lambda d: {'n': d.n, 'b': ${grouped(given)}})`
    const isSeen = sign === 'default' || sign === 'before' || sign === 'brackets'
    const blanks = isSeen ? `length(d.b) - length(ltrim(d.b, ' '))` : '0'
    const split = `list_transform(${written}, lambda d: {'n': d.n, 'l': left(d.b, ${blanks}), 'r': substr(d.b, ${blanks} + 1)})`
    return `list_extract(list_transform(${split}, lambda d: ${body}), 1)`
  }
}

/** The digits before the point. A zero there is not written where decimals follow, unless the pattern has a `0`. */
function digitsOf({ zeros, fraction, fill, fractionZeros }: NumberForm): string {
  if (zeros > 0) return `CASE WHEN length(d.i) < ${zeros} THEN lpad(d.i, ${zeros}, '0') ELSE d.i END`
  if (fraction === 0) return 'd.i'
  const isBare = fill && fractionZeros === 0 ? ` AND rtrim(d.f, '0') <> ''` : ''
  return `CASE WHEN d.i = '0'${isBare} THEN '' ELSE d.i END`
}

/** The digits behind the point without zeros at the end, as FM writes them. */
function trimmed(decimals: string, { fractionZeros }: NumberForm): string {
  return `left(${decimals}, ${fractionZeros}) || rtrim(substr(${decimals}, ${fractionZeros + 1}), '0')`
}

/** Digits, group signs and the point. Before the first digit a group sign is a blank. */
function grouped({ runs, fill, hasPoint }: NumberForm): string {
  let at = 1
  const pieces = runs.map((length, index) => {
    const start = at
    at += length
    const sign = `CASE WHEN substr(d.p, ${start - 1}, 1) = ' ' THEN ' ' ELSE ',' END`
    return `${index === 0 ? '' : `${sign} || `}substr(d.p, ${start}, ${length})`
  })
  const digits = pieces.join(' || ')
  const point = hasPoint ? ` || '.' || d.f` : ''
  return `${fill ? `ltrim(${digits}, ' ')` : digits}${point}`
}

/** The sign stands before the first digit, or where the pattern has it. */
function signed({ sign, fill }: NumberForm): string {
  const blank = fill ? '' : ' '
  const either = (minus: string, plus: string) => `CASE WHEN d.n THEN '${minus}' ELSE '${plus}' END`
  switch (sign) {
    case 'before':
      return `d.l || ${either('-', '+')} || d.r`
    case 'behind':
      return `d.l || d.r || ${either('-', '+')}`
    case 'minusBefore':
      return `${either('-', blank)} || d.l || d.r`
    case 'minusBehind':
      return `d.l || d.r || ${either('-', blank)}`
    case 'brackets':
      return `d.l || ${either('<', blank)} || d.r || ${either('>', blank)}`
    default:
      return `d.l || ${either('-', blank)} || d.r`
  }
}

/** The digits of numbers of each type, rounded as PostgreSQL rounds them. */
export const digitsOfNumber = {
  integer: (value: string) => `CAST(${value} AS VARCHAR)`,
  numeric: (value: string, fraction: number) =>
    `CAST(CAST(round(${value}, ${fraction}) AS DECIMAL(38,${fraction})) AS VARCHAR)`,
  // Only 15 digits of a double are its own.
  float: (value: string, fraction: number) =>
    `list_extract(list_transform([${value}], lambda v: CASE WHEN v IS NULL THEN NULL WHEN NOT isfinite(v) OR abs(v) >= 1e${Math.max(0, 15 - fraction)} THEN error('to_char: more than 15 digits') ELSE format('{:.${fraction}f}', v) END), 1)`,
} as const
