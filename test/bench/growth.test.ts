/** The exponent of a growing cost, and the command's words about it, on costs that are known. */

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { exponentOf, growthOf } from '../../bench/growth/row.ts'
import { growth } from '../../bench/growth.ts'

const seed = 32

describe('the growth of a cost', () => {
  test(`has the exponent of the power that it is (seed ${seed})`, () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 3, noNaN: true }),
        fc.double({ min: 1, max: 1000, noNaN: true }),
        (exponent, scale) => {
          const points = [10, 100, 1000].map((size) => ({ size, cost: scale * size ** exponent }))
          expect(exponentOf(points)).toBeCloseTo(exponent, 6)
        },
      ),
      { seed },
    )
  })

  test.each([
    [0, 'flat'],
    [0.2, 'flat'],
    [0.9, 'linear'],
    [1.1, 'linear'],
    [2, 'worse'],
  ] as const)('with the exponent %p is %s', (exponent, named) => {
    expect(growthOf(exponent)).toBe(named)
  })

  test.each([
    ['flat', 'flat', false],
    ['linear', 'flat', false],
    ['flat', 'linear', true],
    ['linear', 'worse', true],
  ] as const)('declared %s and found %s makes the command fail: %p', (declared, verdict, failed) => {
    const result = { bench: 'growth', case: { row: 'some-row', declared }, figures: {}, verdict }
    const concluded = growth.conclude?.([result, result])
    expect(concluded?.failed).toBe(failed)
    expect(concluded?.line).toBe(
      failed ? `Growth: some-row is ${verdict}, declared ${declared}.` : 'Growth: as declared.',
    )
  })
})
