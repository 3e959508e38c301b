/** Where two documents differ: by path, with items of lists by their name. */

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { differencesOf } from '../../../src/admin/contracts/document-difference.ts'
import { type JsonValue, parseJson, stringifyJson } from '../../../src/base/json.ts'

const of = (value: unknown) => parseJson(new TextEncoder().encode(JSON.stringify(value)))
const shown = (before: unknown, after: unknown) =>
  differencesOf(of(before), of(after)).map(
    ({ path, before: was, after: is }) =>
      `${path} ${was === undefined ? '' : stringifyJson(was)} > ${is === undefined ? '' : stringifyJson(is)}`,
  )

test('members are compared by name, whatever their order', () => {
  expect(shown({ a: 1, b: { c: 2, d: 3 } }, { b: { d: 4, e: 5 }, a: 1 })).toEqual([
    '/b/c 2 > ',
    '/b/d 3 > 4',
    '/b/e  > 5',
  ])
})

test('items of a list are compared by what names them, and by their place where nothing does', () => {
  const before = {
    properties: [
      { name: 'a', t: 1 },
      { name: 'b', t: 2 },
    ],
  }
  expect(shown(before, { properties: [{ name: 'x' }, { name: 'a', t: 1 }, { name: 'b', t: 3 }] })).toEqual([
    '/properties/b/t 2 > 3',
    '/properties/x  > {"name":"x"}',
  ])
  expect(shown(before, { properties: [...before.properties].reverse() })).toEqual([
    '/properties ["a","b"] > ["b","a"]',
  ])
  expect(shown({ tags: ['a', 'b'] }, { tags: ['a', 'c', 'd'] })).toEqual([
    '/tags/1 "b" > "c"',
    '/tags/2  > "d"',
  ])
})

test('integers keep all digits, and another kind of value is another value', () => {
  expect(differencesOf(2n ** 63n, 2n ** 63n + 1n)).toHaveLength(1)
  expect(shown({ a: '1' }, { a: 1 })).toEqual(['/a "1" > 1'])
  expect(shown({ a: null }, {})).toEqual(['/a null > '])
})

/** Our reader takes no integer beyond 64 bits. */
const isExact = (value: unknown) => !/\d{19}/.test(JSON.stringify(value))

test('two values differ nowhere exactly where they are equal, but for the order of members', () => {
  const seed = 20_261_123
  console.log(`seed ${seed}`)
  const sorted = (value: JsonValue): unknown => {
    if (Array.isArray(value)) return value.map(sorted)
    if (!(value instanceof Map)) return typeof value === 'bigint' ? `${value}n` : value
    const members = [...value].map(([key, member]) => [key, sorted(member)] as const)
    return new Map(members.toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }
  const value = fc.jsonValue({ maxDepth: 3 }).filter(isExact).map(of)
  const pair = fc.oneof(
    fc.tuple(value, value),
    value.map((one): [JsonValue, JsonValue] => [one, one]),
  )
  fc.assert(
    fc.property(pair, ([a, b]) => {
      const equal = Bun.deepEquals(sorted(a), sorted(b))
      expect(differencesOf(a, b).length === 0).toBe(equal)
    }),
    { seed, numRuns: 500 },
  )
})
