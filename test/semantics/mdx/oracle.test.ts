/** Compares random pivots, cell by cell, with SQL by hand, for an officer and for a reader of some rows, masked. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { generator } from '../../support/generator.ts'
import { type Lake, readAs } from '../../support/lake.ts'
import { roundsOf } from '../../support/long-form.ts'
import { cellsetAs, startCubeLake } from './cube-lake.ts'
import { type Ask, groupsBySql, groupsOf, mdxOf, randomPivot } from './pivot-oracle.ts'

setDefaultTimeout(600_000)

let lake: Lake
beforeAll(async () => {
  lake = await startCubeLake()
})
afterAll(() => lake[Symbol.asyncDispose]())

describe.each(['officer', 'reader'] as const)('pivots of the %s', (who) => {
  test('are what SQL gives over the rows and values that the principal sees', async () => {
    const ask: Ask = (text) => readAs(who === 'officer' ? lake.env : lake.restricted, text)
    const random = generator(who === 'officer' ? 41 : 42)
    let values = 0
    for (let round = 0; round < roundsOf(150); round++) {
      const pivot = await randomPivot(random, ask)
      const statement = mdxOf(pivot, random() < 0.7)
      // Products of sets are made whole, or of what has rows.
      const bounds = { fullProductMax: random() < 0.5 ? 0 : 1e9 }
      const found = groupsOf(await cellsetAs(lake, who, statement, {}, { bounds }))
      expect([statement, ...found]).toEqual([statement, ...(await groupsBySql(ask, pivot))])
      values += found.length
    }
    expect(values).toBeGreaterThan(roundsOf(150) * 5)
  })
})
