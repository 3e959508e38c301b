/** When an open read may go on, after the territory of its table has changed. */

import { expect, test } from 'bun:test'
import { mayStillRead, type Territory } from '../../src/core/territory.ts'

const of = (mode: Territory['mode'], ...prefixes: readonly string[]): Territory => ({
  ...{ mode, version: mode, prefixes },
})

test('an open read goes on where nothing that it may have opened was taken from its table', () => {
  expect(mayStillRead(of('enforce', 's3://a/'), of('enforce', 's3://b/', 's3://a/'))).toBe(true)
  expect(mayStillRead(of('enforce', 's3://a/'), of('observe'))).toBe(true)
  expect(mayStillRead(of('observe', 's3://a/'), of('observe'))).toBe(true)
})

test('an open read ends where a place was taken from its table', () => {
  expect(mayStillRead(of('enforce', 's3://a/', 's3://b/'), of('enforce', 's3://a/'))).toBe(false)
})

test('a read that was opened while nothing was refused ends once territory is enforced, even in the same places', () => {
  expect(mayStillRead(of('observe', 's3://a/'), of('enforce', 's3://a/'))).toBe(false)
})
