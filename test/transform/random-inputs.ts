/** Random values of each type, which a seed repeats: those of `inputs.ts`, and more like them. */

import type { MaskValue } from '../../src/core/mask.ts'
import { generator } from '../support/generator.ts'
import { inputs } from './inputs.ts'

export const seed = 20261124

/** Types that SQL can write, among them decimals of other scales. */
export const randomTypes = [
  ...Object.keys(inputs).filter((type) => !type.endsWith('_ns')),
  ...['decimal(38,10)', 'decimal(5,0)', 'fixed[16]'],
] as const

/** What texts are made of: one code unit, two (surrogate pairs), marks that combine, and what regular expressions read. */
const pieces = [
  ...'aZ09xn (),.@-_\'"`\\/$^[]{}|*+?%\t\n\r',
  ...['é', 'e\u0301', 'ß', 'İ', '漢', '٣', 'ﬁ', '\u00a0', '\u2028', '\u200d', '\ufeff', '\ufffd', '\uffff'],
  ...['😀', '👩‍👩‍👧', '🏳️‍🌈', '🇩🇪', '𝟘', '𝔸', '\u{10ffff}', '\u{1f468}\u{1f3fd}', 'क्षि', 'Z͑͗'],
]

const secondMicros = 1_000_000n
const dayMicros = 86_400n * secondMicros
/** 0001-01-01 and 9999-12-31. */
const [dayMin, dayMax] = [-719_162, 2_932_896]

/** `count` values of a type beyond those of `inputs.ts`, and NULL; the same for the same seed. */
export function randomInputs(type: string, count: number): readonly MaskValue[] {
  const next = generator(seed + type.length * 7_919 + type.charCodeAt(0))
  const below = (end: number) => Math.floor(next() * end)
  const word = () => BigInt(below(2 ** 32))
  const draw = (): MaskValue => {
    const precise = /^decimal\((\d+),\s*(\d+)\)$/.exec(type)
    if (precise) return decimalOf(below, Number(precise[1]), Number(precise[2]))
    const width = /^fixed\[(\d+)\]$/.exec(type)?.[1]
    if (width !== undefined) return Uint8Array.from({ length: Number(width) }, () => below(256))
    // Half of the days are of the century around 1970, where most dates of people lie.
    const day = next() < 0.5 ? below(36_525) - 25_567 : dayMin + below(dayMax - dayMin)
    switch (type) {
      case 'boolean':
        return next() < 0.5
      case 'int':
        return below(2) === 0 ? below(2_000) - 1_000 : below(2 ** 32) - 2 ** 31
      case 'long':
        return BigInt.asIntN(64, (word() << 32n) | word()) >> BigInt(below(64))
      case 'float':
        return Math.fround((below(2_000_001) - 1_000_000) / 64)
      case 'double':
        return (below(2_000_001) - 1_000_000) / 64
      case 'string':
        return Array.from({ length: below(12) }, () => pieces[below(pieces.length)]).join('')
      case 'binary':
        return Uint8Array.from({ length: below(70) }, () => below(256))
      case 'uuid':
        return Buffer.from(Uint8Array.from({ length: 16 }, () => below(256)))
          .toString('hex')
          .replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5')
      case 'date':
        return day
      case 'time':
        return (word() * word()) % dayMicros
      default:
        return BigInt(day) * dayMicros + ((word() * word()) % dayMicros)
    }
  }
  return [...(inputs[type] ?? []), null, ...Array.from({ length: count }, draw)]
}

function decimalOf(below: (end: number) => number, precision: number, scale: number): string {
  const digits = Array.from({ length: 1 + below(precision) }, () => below(10)).join('')
  const padded = digits.replace(/^0+/, '').padStart(scale + 1, '0')
  const text = scale === 0 ? padded : `${padded.slice(0, -scale)}.${padded.slice(-scale)}`
  return below(2) === 0 || /^[0.]*$/.test(text) ? text : `-${text}`
}
