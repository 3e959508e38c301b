/** Values as the vector file writes them: bigints as decimal text, bytes as hexadecimal text. */

import type { MaskValue } from '../../src/core/mask.ts'

/** A value in JSON. */
export function toJson(value: MaskValue): boolean | number | string | null {
  if (typeof value === 'bigint') return String(value)
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value
}

/** A value of a column's type, from JSON. */
export function fromJson(type: string, value: boolean | number | string | null): MaskValue {
  if (value === null) return null
  if (type === 'long' || type.startsWith('time')) return BigInt(value)
  if (type === 'binary' || type.startsWith('fixed[')) return new Uint8Array(Buffer.from(String(value), 'hex'))
  return value
}
