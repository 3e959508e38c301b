/**
 * Who sees what by access for a time, in random sequences of requests, decisions, grants, ends, contract changes, renames,
 * drops, replaced tables and clones, compared with an oracle. Here the service's pure functions run on a store in memory;
 * `access-model.walks.ts` walks 10,000 sequences, and the real store.
 */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { walkInMemory } from '../support/access-in-memory.ts'

setDefaultTimeout(100_000)

test('nobody sees a row or a value that the oracle does not allow, nor misses one that it does', async () => {
  const { granted, lifted } = await walkInMemory(1_000)
  expect(granted).toBeGreaterThan(200)
  expect(lifted).toBeGreaterThan(200)
})
