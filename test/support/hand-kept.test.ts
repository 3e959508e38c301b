/** What a list that is kept by hand says where it differs. */

import { expect, test } from 'bun:test'
import { differences } from './hand-kept.ts'

test('a difference says what to write where, and equal lists say nothing', () => {
  expect(differences(['GET /a', 'GET /old'], ['GET /new', 'GET /a', 'GET /a'], '`access`')).toEqual([
    "add 'GET /new' to `access`",
    "remove 'GET /old' from `access`",
  ])
  expect(differences(['one', 'two'], ['two', 'one'], 'it')).toEqual([])
})
