/** Which texts are keys of a type, so that no other text reaches an engine as a value of it. */

import type { SqlType } from '../../core/sql-type.ts'

const patterns: Partial<Record<SqlType, RegExp>> = {
  bool: /^(?:t|f|true|false)$/,
  int2: /^-?\d{1,5}$/,
  int4: /^-?\d{1,10}$/,
  int8: /^-?\d{1,19}$/,
  numeric: /^-?\d{1,30}(?:\.\d{1,30})?$/,
  float4: /^-?\d{1,30}(?:\.\d{1,30})?(?:e[+-]?\d{1,3})?$/,
  float8: /^-?\d{1,30}(?:\.\d{1,30})?(?:e[+-]?\d{1,3})?$/,
  date: /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:T00:00:00)?$/,
  time: /^\d\d:\d\d:\d\d(?:\.\d{1,6})?$/,
  timestamp: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?$/,
  timestamptz: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?\+00$/,
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
  text: /^/,
  varchar: /^/,
}

/** Whether a text is a value of the type in PostgreSQL's form. */
export function isKeyText(type: SqlType, text: string): boolean {
  if (text.includes('\0') || !text.isWellFormed() || text.length > 8_192) return false
  if (!(patterns[type]?.test(text) ?? false)) return false
  const bits = bitsOf[type]
  if (bits !== undefined) return BigInt.asIntN(bits, BigInt(text)) === BigInt(text)
  return type !== 'date' || isDate(text.slice(0, 10))
}

const bitsOf: Partial<Record<SqlType, number>> = { int2: 16, int4: 32, int8: 64 }

function isDate(text: string): boolean {
  const moment = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(text)
}
