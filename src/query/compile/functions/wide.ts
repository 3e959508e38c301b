/**
 * Defines arithmetic of whole numbers of more than 38 digits, which only DuckDB has, as its BIGNUM. It is what symmetric
 * aggregates compute: sums over distinct hashes of 128 bits. DuckDB adds such numbers, and multiplies none.
 */

import { quoteText } from '../../../base/sql-text.ts'
import { aggregate, fn, type Template } from '../base/function-definition.ts'

const may = { fallible: true }

/** A hexadecimal text, `x` before it, as the bits of a signed integer: cut off, or filled with zeros, at the right. */
const bits =
  (digits: 8 | 16): Template =>
  ([text]) => {
    const [half, whole] = [2n ** BigInt(digits * 4 - 1), 2n ** BigInt(digits * 4)]
    const hex = `'0x' || left(rpad(substr(${text}, 2), ${digits}, '0'), ${digits})`
    const unsigned = `CAST(CAST(${hex} AS UBIGINT) AS HUGEINT)`
    const signed = `(${unsigned} + CAST('${half}' AS HUGEINT)) % CAST('${whole}' AS HUGEINT) - CAST('${half}' AS HUGEINT)`
    const value = `CAST(${signed} AS ${digits === 8 ? 'INTEGER' : 'BIGINT'})`
    return `CASE WHEN ${text} IS NULL THEN NULL WHEN regexp_full_match(${text}, '[xX][0-9a-fA-F]*') THEN ${value} ELSE error('invalid input syntax') END`
  }

/** `text::bit(32)::int` and `text::bit(64)::bigint`. */
export const integerOfBits = {
  int4: fn('bit', 'text', 'int4', bits(8), null, may),
  int8: fn('bit', 'text', 'int8', bits(16), null, may),
} as const

/** An integer times a literal of at most 2^64. */
const product: Template = ([integer], { literals }) =>
  `CAST(CAST(${integer} AS HUGEINT) * CAST(${quoteText(literals[1] ?? '0')} AS HUGEINT) AS BIGNUM)`

export const wideArithmetic = {
  '+': fn('+', 'numeric numeric', 'numeric', '({0} + {1})', null),
  '-': fn('-', 'numeric numeric', 'numeric', '({0} - {1})', null),
  '*': fn('*', 'int8 numeric', 'numeric', product, null, { literal: [1] }),
} as const

export const wideSum = aggregate('sum', 'numeric', 'numeric', 'sum[{0}]', null)
