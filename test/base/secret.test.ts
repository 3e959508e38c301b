/** A placeholder is printed wherever a secret could be. */

import { expect, test } from 'bun:test'
import { inspect } from 'node:util'
import { Secret } from '../../src/base/secret.ts'

const secret = new Secret('hunter2')

test('reveals its value on demand', () => {
  expect(secret.reveal()).toBe('hunter2')
})

test.each([
  ['JSON', () => JSON.stringify({ secret })],
  ['a template', () => `${secret}`],
  ['concatenation', () => `a${String(secret)}`],
  ['inspection, as console.log does', () => Bun.inspect({ secret })],
  ['inspection by Node, hidden parts included', () => inspect({ secret }, { showHidden: true, depth: 9 })],
])('%s shows a placeholder', (_, print) => {
  expect(print()).toContain('[secret]')
  expect(print()).not.toContain('hunter2')
})

test('neither spreading, keys nor a structured clone carry the value', () => {
  expect(
    JSON.stringify([{ ...secret }, Object.getOwnPropertyNames(secret), structuredClone(secret)]),
  ).not.toContain('hunter2')
})
