/** Reads the names of types in casts, with their modifiers. */

import type { TypeName } from 'libpg-query'
import type { NumericSize, SqlType } from '../../../core/sql-type.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'
import { namedType, spokenType } from '../base/types.ts'
import { identifierOf } from './context.ts'
import { wideSize } from './wide.ts'

/** What a type's name in a cast means. */
interface NamedType {
  readonly type: SqlType
  readonly size?: NumericSize | undefined
  readonly length?: number | undefined
  /** Whether it is `char(n)`. */
  readonly isPadded?: boolean
  /** The field mask of an interval type, as in INTERVAL '3' DAY. */
  readonly fields?: number | undefined
}

/**
 * Reads a type's name.
 * @throws SqlError 42704 for one that is not served, 0A000 for a modifier that is not
 */
export function readTypeName(name: TypeName | undefined): NamedType {
  const names = (name?.names ?? []).map(identifierOf)
  const [first = '', second] = names
  const base =
    names.length === 1 ? first : names.length === 2 && first === 'pg_catalog' ? (second ?? '') : undefined
  // Its blanks at the end count for nothing, so it is text without them; `"char"` is another type.
  const isPadded = base === 'bpchar'
  const type = base === undefined ? undefined : isPadded ? 'varchar' : namedType(base)
  if (type === undefined || name === undefined)
    throw new SqlError('42704', `type "${names.join('.')}" is not supported`, name?.location)
  const bounds = name.arrayBounds ?? []
  if (bounds.length > 1) throw notSupported('An array of arrays', name.location)
  const mods = (name.typmods ?? []).map((node) =>
    'A_Const' in node && node.A_Const.ival ? (node.A_Const.ival.ival ?? 0) : undefined,
  )
  const numbers = mods.map((mod) => {
    if (mod === undefined || !Number.isInteger(mod)) throw notSupported('This type modifier', name.location)
    return mod
  })
  const array = bounds.length === 1
  if (numbers.length > 0 && array) throw notSupported('A modifier on an array type', name.location)
  if (type === 'interval') {
    if (numbers.length > 1) throw notSupported('The precision of an interval', name.location)
    return array ? { type: 'interval[]' } : { type, fields: numbers[0] }
  }
  if (numbers.length > 0 && type === 'numeric') {
    const [precision = 0, scale = 0] = numbers
    if (precision > 38 && precision <= 1_000 && scale === 0) return { type, size: wideSize }
    if (precision < 1 || precision > 38 || scale < 0 || scale > precision)
      throw notSupported('A numeric of more than 38 digits, or this scale,', name.location)
    return { type, size: [precision, scale] }
  }
  if (isPadded && array) throw notSupported('An array of character', name.location)
  if (isPadded) return { type, length: numbers[0], isPadded }
  if (numbers.length > 0 && type === 'varchar') return { type, length: numbers[0] }
  // Six digits are all that there are.
  const isWhole = ['timestamp', 'timestamptz', 'time'].includes(type) && numbers[0] === 6
  if (numbers.length > 0 && !isWhole) throw notSupported(`A modifier of ${spokenType(type)}`, name.location)
  return { type: array ? `${type}[]` : type }
}

/** The length of `bit(n)`; undefined for any other type. */
export function bitLength(name: TypeName | undefined): number | undefined {
  const [length] = name?.typmods ?? []
  const isBit = (name?.names ?? []).map(identifierOf).at(-1) === 'bit' && name?.arrayBounds === undefined
  return isBit && length !== undefined && 'A_Const' in length ? length.A_Const.ival?.ival : undefined
}

/** INTERVAL_MASK of PostgreSQL's datetime: the field that a bare number counts, of several the last. */
export const intervalUnits = new Map([
  [1 << 1, 'month'],
  [1 << 2, 'year'],
  [1 << 3, 'day'],
  [1 << 10, 'hour'],
  [1 << 11, 'minute'],
  [1 << 12, 'second'],
  [(1 << 10) | (1 << 11) | (1 << 12), 'second'],
  [(1 << 3) | (1 << 10) | (1 << 11) | (1 << 12), 'second'],
])
