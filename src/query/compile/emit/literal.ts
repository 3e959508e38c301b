/** Writes literals and arrays. The dialect writes what differs between engines. */

import { quoteText } from '../../../base/sql-text.ts'
import { elementOf, isArray, type NumericSize, type SqlType } from '../../../core/sql-type.ts'
import type { LiteralExpr } from '../base/ir.ts'
import { notSupported } from '../base/sql-error.ts'
import type { Dialect } from './dialect.ts'

/**
 * A literal, without loss.
 *
 * @throws SqlError 0A000 for a numeric of more digits than the engines' decimals hold
 */
export function emitLiteral(
  dialect: Pick<Dialect, 'typeName' | 'literal' | 'list'>,
  { type, value, size }: LiteralExpr,
): string {
  // Beside other numerics a NULL must not bring digits of its own.
  if (value === null && type === 'numeric' && size === undefined) return 'CAST(NULL AS DECIMAL(1,0))'
  if (value === null) return `CAST(NULL AS ${dialect.typeName(type, size)})`
  if (isArray(type)) {
    const element = elementOf(type)
    const items = (JSON.parse(value) as (string | null)[]).map((item) =>
      emitLiteral(dialect, { kind: 'literal', type: element, value: item, size: [38, 10] }),
    )
    return `CAST(${dialect.list(items)} AS ${dialect.typeName(type)})`
  }
  switch (type) {
    case 'bool':
      return value === 'true' ? 'TRUE' : 'FALSE'
    case 'int4':
      // The digits without the sign exceed int4.
      return value === '-2147483648' ? `CAST(${plainNumber(value)} AS INTEGER)` : plainNumber(value)
    case 'int2':
    case 'int8':
      return `CAST(${plainNumber(value)} AS ${dialect.typeName(type)})`
    case 'numeric':
      return decimal(value, size)
    case 'text':
    case 'varchar':
    case 'unknown':
      return quoteText(value)
    default:
      return dialect.literal(value, type)
  }
}

/** An array of expressions. Decimals keep their common scale, so they are not cast. */
export function emitArray(dialect: Dialect, elements: readonly string[], type: SqlType): string {
  const list = dialect.list(elements)
  return type === 'numeric[]' && elements.length > 0 ? list : `CAST(${list} AS ${dialect.typeName(type)})`
}

function decimal(value: string, size: NumericSize | undefined): string {
  if (size === undefined) throw notSupported('A numeric of more than 38 digits')
  return `CAST(${quoteText(value)} AS DECIMAL(${size[0]},${size[1]}))`
}

/** Digits, sign and point as both engines read them; negative numbers in parentheses. */
function plainNumber(value: string): string {
  if (!/^-?\d+$/.test(value)) throw new RangeError('not a number')
  return value.startsWith('-') ? `(${value})` : value
}
