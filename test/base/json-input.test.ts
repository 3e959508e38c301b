/** Members are counted before a text is parsed: those of all objects, and nothing that stands in a string. */

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { assertMembers } from '../../src/base/json-input.ts'

const isWithin = (text: string, members: number) => {
  try {
    assertMembers(Buffer.from(text), members)
    return true
  } catch {
    return false
  }
}

/** The members of all objects in a value. */
function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inner = Object.values(value)
  return inner.reduce<number>((sum, one) => sum + membersOf(one), Array.isArray(value) ? 0 : inner.length)
}

test('any JSON text has exactly its members', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const [text, members] = [JSON.stringify(value), membersOf(value)]
      expect([isWithin(text, members), isWithin(text, members - 1)]).toEqual([true, members === 0])
    }),
    { seed: 20261128, numRuns: 500 },
  )
})

test.each([
  ['a colon in a key', '{"a:b":1}', 1],
  ['an escaped quote before a colon', String.raw`{"a\":":"\\","b":1}`, 2],
  ['a colon after a letter of several bytes', '{"ä:€":"𝄞:"}', 1],
])('%s is no member of its own', (_, text, members) => {
  expect([isWithin(text, members), isWithin(text, members - 1)]).toEqual([true, false])
})

test('nothing is read beyond the bound', () => {
  expect(() => assertMembers(Buffer.from('{"a":1,"b":2,\u0000 no JSON'), 1)).toThrow('more than 1 members')
})
