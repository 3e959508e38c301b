/** Numerics that are computed from a text have PostgreSQL's digits; those here are what PostgreSQL 18 answers. */

import { expect, test } from 'bun:test'
import { computeExact, ExactError } from '../../src/core/exact-numeric.ts'
import { scaledText } from '../../src/wire/postgres/decimal-text.ts'

const textOf = (expression: string) => {
  const value = computeExact(expression)
  return value && scaledText(value.digits, value.scale)
}

test.each([
  ['a number keeps its digits', '1.50', '1.50'],
  ['a quotient has sixteen significant digits', '501.5675833 3 /', '167.1891944333333333'],
  ['a ratio below one has twenty digits', '1 3 /', '0.33333333333333333333'],
  ['operands that begin alike have four more', '1.5 1.0 /', '1.50000000000000000000'],
  ['a large quotient has fewer', '9999999999.99 3 /', '3333333333.33000000'],
  ['a negative one rounds away from zero', '-2 3 /', '-0.66666666666666666667'],
  ['zero has its own', '0.00 7 /', '0.00000000000000000000'],
  ['a sum has the larger scale', '1.5 2.25 +', '3.75'],
  ['a product has both', '1.50 2.25 *', '3.3750'],
  ['a remainder has the sign of the dividend', '-7.5 2 %', '-1.5'],
  ['rounding adds digits', '1.5 round3', '1.500'],
  ['rounding goes away from zero', '-0.145 round2', '-0.15'],
  ['rounding takes whole digits', '1250 round-2', '1300'],
  ['truncating does not', '1.999 trunc2', '1.99'],
  ['a floor is below', '-1.5 floor', '-2'],
  ['a ceiling is above', '1.5 ceil', '2'],
  ['steps follow one another', '10 3 / 3 *', '9.9999999999999999'],
  ['a variance is exact', '3 6 14 var_samp', '1.00000000000000000000'],
  ['a deviation is the root of it', '4 10 30 stddev_samp', '1.2909944487358056'],
  ['no spread is zero', '3 3 3 var_pop', '0'],
])('%s', (_, expression, text) => {
  expect(textOf(expression)).toBe(text)
})

test('a sample of one has no variance', () => {
  expect(computeExact('1 5 25 var_samp')).toBeUndefined()
})

test.each([
  ['a division by zero', '1 0 /', '22012'],
  ['a text that is no expression', '1 +', 'XX000'],
  ['another text', 'nan', 'XX000'],
])('%s fails', (_, expression, sqlState) => {
  expect(() => computeExact(expression)).toThrow(new ExactError(sqlState as '22012'))
})

/** A product of factors as an expression. */
const product = (factor: string, count: number) =>
  Array.from({ length: count }, (_, index) => (index === 0 ? factor : `${factor} *`)).join(' ')

test('a product has at most 16,383 digits after the point', () => {
  expect(computeExact(product('1 3 / round1000', 20))?.scale).toBe(16_383)
})

test('more than 131,072 digits before it fail', () => {
  const expression = product(`1${'0'.repeat(9_999)}`, 14)
  expect(() => computeExact(expression)).toThrow(new ExactError('22003'))
})

test('a batch that takes too long fails', () => {
  const work = { left: 1_000_000 }
  const expression = product('1 3 / round1000', 3)
  expect(() => {
    for (let row = 0; row < 10; row++) computeExact(expression, work)
  }).toThrow(new ExactError('54000'))
})
