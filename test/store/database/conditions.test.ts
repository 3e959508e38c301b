/** The conditions of lists: only those whose values are given, with their parameters numbered. */

import { expect, test } from 'bun:test'
import { given } from '../../../src/store/database/conditions.ts'

test('a condition without its value is left out, and the others are numbered on', () => {
  expect(given(['tenant', 11], ['a = ?', undefined], ['b = ?::text', 'x'], ['c < ?::int8', 7])).toEqual({
    text: ' and b = $3::text and c < $4::int8',
    params: ['tenant', 11, 'x', 7],
  })
})

test('a condition of several values has a parameter for each, and needs all of them', () => {
  expect(given([], ['(a, b) < (?, ?)', 1, 2]).text).toBe(' and (a, b) < ($1, $2)')
  expect(given(['t'], ['(a, b) < (?, ?)', 1, undefined])).toEqual({ text: '', params: ['t'] })
})

test('a value of null is a value', () => {
  expect(given([], ['a is not distinct from ?', null])).toEqual({
    text: ' and a is not distinct from $1',
    params: [null],
  })
})
