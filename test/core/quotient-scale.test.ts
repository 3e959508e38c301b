import { describe, expect, test } from 'bun:test'
import { quotientScale, rescaled, shownDigits } from '../../src/core/quotient-scale.ts'

describe('the digits after the point of a quotient', () => {
  // What PostgreSQL 18 shows of these quotients.
  test.each([
    [5, 0.5, '10.0000000000000000'],
    [5, 2, '2.5000000000000000'],
    [7, 7, '1.00000000000000000000'],
    [1, 4, '0.25000000000000000000'],
    [0, 3, '0.00000000000000000000'],
    [-9, 4, '-2.2500000000000000'],
    [90000, 3, '30000.000000000000'],
    [1, 80000, '0.000012500000000000000000'],
    [1e16, 0.5, '20000000000000000'],
  ])('are those of PostgreSQL for %p by %p', (dividend, divisor, text) => {
    const scale = text.includes('.') ? text.length - text.indexOf('.') - 1 : 0
    expect(quotientScale(dividend / divisor, 0)).toBe(scale)
  })

  test('are never fewer than those of the operands, nor more than PostgreSQL shows', () => {
    expect([quotientScale(1e20, 0), quotientScale(1e20, 6), quotientScale(2, 30)]).toEqual([0, 6, 30])
    expect(quotientScale(5e-324, 1_200)).toBe(1_000)
  })

  test('are zeros beyond those of the double, and cut off by rounding half away from zero', () => {
    expect(rescaled(25n, 1, 3)).toBe(2500n)
    expect([rescaled(125n, 2, 1), rescaled(-125n, 2, 1), rescaled(-124n, 2, 1)]).toEqual([13n, -13n, -12n])
    expect(shownDigits(2.5, { digits: 25n, scale: 1 }, 2)).toEqual({ digits: 250n, scale: 2 })
    expect(shownDigits(2.5, { digits: 25n, scale: 1 }, undefined)).toEqual({ digits: 25n, scale: 1 })
  })
})
