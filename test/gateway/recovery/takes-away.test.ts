/** What audited requests may have taken away, without a long look at them. */

import { expect, test } from 'bun:test'
import { setProperties } from '../../../demo/commits.ts'
import { anyTakesAway, requestsMax } from '../../../src/gateway/recovery/takes-away.ts'

const packed = (text: string) => Bun.zstdCompressSync(text)
const sets = packed(setProperties({ owner: 'a' }))
const removes = packed(
  JSON.stringify({ requirements: [], updates: [{ action: 'remove-properties', removals: ['owner'] }] }),
)

test('requests that only set something took nothing away', async () => {
  expect(await anyTakesAway([])).toBe(false)
  expect(await anyTakesAway(Array(requestsMax).fill(sets))).toBe(false)
})

test('one that removes properties did', async () => {
  expect(await anyTakesAway([sets, removes])).toBe(true)
})

test('a request that was not read, or cannot be, may have', async () => {
  expect(await anyTakesAway([sets, undefined])).toBe(true)
  expect(await anyTakesAway([sets, new Uint8Array()])).toBe(true)
  expect(await anyTakesAway([packed('{')])).toBe(true)
})

test('more requests than are looked into may have', async () => {
  expect(await anyTakesAway(Array(requestsMax + 1).fill(sets))).toBe(true)
})

test('a request of few bytes that is long once decompressed is not read, and may have', async () => {
  const long = packed(setProperties({ owner: 'a'.repeat(16 * 1024 * 1024) }))
  expect(long.length).toBeLessThan(64 * 1024)
  expect(await anyTakesAway([long])).toBe(true)
})

test('other work gets a turn between two requests', async () => {
  let turns = 0
  const spin = () => {
    turns++
    immediate = setImmediate(spin)
  }
  let immediate = setImmediate(spin)
  await anyTakesAway(Array(requestsMax).fill(sets))
  clearImmediate(immediate)
  expect(turns).toBeGreaterThanOrEqual(requestsMax)
})
