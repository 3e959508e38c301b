/**
 * Who sees what by access for a time, compared with an oracle: 10,000 random sequences on the service's pure functions,
 * and fewer by its operations on a store, where a second reader is late.
 */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { walkInMemory } from '../support/access-in-memory.ts'
import { onStore } from '../support/access-on-store.ts'
import { walkAccess } from '../support/access-walk.ts'
import { makeTenant } from '../support/spare-tenants.ts'
import { openTestStore } from '../support/store.ts'

setDefaultTimeout(600_000)

test('nobody sees more or less than the oracle says in 10,000 sequences', async () => {
  const { granted, lifted } = await walkInMemory(10_000)
  expect(granted).toBeGreaterThan(2_000)
  expect(lifted).toBeGreaterThan(2_000)
})

test('nobody sees more or less than the oracle says by the operations on a store', async () => {
  const seed = Number(process.env.SVC_TEST_SEED ?? Math.floor(Math.random() * 2 ** 32))
  console.log(`SVC_TEST_SEED=${seed}`)
  await using store = await openTestStore()
  const [ours, theirs] = [
    await makeTenant(store, { name: 'ours' }),
    await makeTenant(store, { name: 'theirs' }),
  ]
  const ids = { ours: ours.id, theirs: theirs.id }
  const total = { granted: 0, lifted: 0 }
  for (let index = 0; index < 30; index++) {
    const walked = await walkAccess(seed + index, (world) => onStore(store, ids, index, world), {
      ...{ steps: 40, reads: 6, clones: false },
    })
    total.granted += walked.granted
    total.lifted += walked.lifted
  }
  expect(total.granted).toBeGreaterThan(20)
  expect(total.lifted).toBeGreaterThan(20)
})
