/** The long form of messy-twice.test.ts: whole tables. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { messySeeds } from '../../bench/detection/messy-tables.ts'
import { someInShortForm } from '../support/long-form.ts'
import { messyTwice } from './messy-twice.ts'

setDefaultTimeout(600_000)

test.each(someInShortForm([...messySeeds.tuning, ...messySeeds.heldOut], 3))(
  'the messy table of seed %d has the same tags, made empty and filled afterwards or in one transaction',
  async (seed) => {
    const { later, once } = await messyTwice(seed, 1)
    expect(later).toEqual(once)
    expect(later.length).toBeGreaterThan(80)
  },
)
