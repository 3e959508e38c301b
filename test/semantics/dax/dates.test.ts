/** Dates of DAX in every year that a date can have: months that are added, and texts that are read. */

import { describe, expect, test } from 'bun:test'
import { scalarFunction } from '../../../src/semantics/dax/scalar-functions.ts'
import { dateFromText } from '../../../src/semantics/dax/values.ts'

/** What a function gives, a date as its text. */
function given(name: string, ...values: readonly (string | number)[]): unknown {
  const found = scalarFunction(name)?.of(values, 0)
  return typeof found === 'object' ? found.text : found
}

describe('a date', () => {
  test.each([
    ['EDATE', ['2024-01-31', 1], '2024-02-29'],
    ['EDATE', ['2024-03-31', -13], '2023-02-28'],
    ['EDATE', ['0050-01-31', 1], '0050-02-28'],
    ['EDATE', ['0004-01-31', 1], '0004-02-29'],
    ['EDATE', ['0099-12-31', 1], '0100-01-31'],
    ['EDATE', ['0100-01-31', -1], '0099-12-31'],
    ['EOMONTH', ['0001-01-15', 0], '0001-01-31'],
    ['EOMONTH', ['0096-01-15', 1], '0096-02-29'],
    ['EOMONTH', ['2024-01-15', 1.9], '2024-02-29'],
    ['DATE', [50, 2, 28], '0050-02-28'],
    ['YEAR', ['0050-02-28'], 50],
  ] as const)('%s(%p) is right', (name, values, wanted) => {
    expect(given(name, ...values)).toBe(wanted)
  })

  test('before the first year or after the last is refused', () => {
    expect(() => given('EDATE', '0001-01-31', -1)).toThrow('a date is out of range')
    expect(() => given('EDATE', '9999-12-31', 1)).toThrow('a date is out of range')
  })

  test('of each year has the moment that ISO 8601 gives it', () => {
    for (let year = 1; year <= 9_999; year += 7) {
      const text = `${String(year).padStart(4, '0')}-12-31 23:59:58.250`
      expect(dateFromText(text).ms).toBe(Date.parse(`${text.replace(' ', 'T')}Z`))
    }
  })
})
