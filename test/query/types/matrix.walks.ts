/**
 * Every cast and operator for every pair of types, with values at the edges, beside PostgreSQL 18: value, type, typmod and
 * SQLSTATE. What differs is a list in docs/sql.md, with a reason each, which `RECORD=1` writes; the test fails when it
 * changes. It takes minutes; without long forms, every seventh call is tried, and only a
 * kind of difference that is not listed fails. Functions are in functions.walks.ts.
 */

import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { operatorFacts, typeFacts } from '../../../src/query/compile/base/operator-facts.ts'
import { isLongForm, someInShortForm } from '../../support/long-form.ts'
import { binaryOperators, casts, unaryOperators } from './calls.ts'
import { compare, type Difference } from './compare.ts'
import { listing, recordTable, unlisted } from './listing.ts'
import { factsQuery, typesQuery } from './operator-facts.ts'
import { openSides } from './sides.ts'

setDefaultTimeout(1_800_000)

const sides = await openSides()
afterAll(async () => sides?.[Symbol.asyncDispose]())

// Skipped where the platform has no packaged PostgreSQL.
test.skipIf(sides === undefined)(
  'what differs from PostgreSQL by types is listed in docs/sql.md',
  async () => {
    if (sides === undefined) return
    const differences: Difference[] = []
    for (const call of someInShortForm([...casts, ...unaryOperators, ...binaryOperators], 7))
      differences.push(...(await compare(sides, call)))
    const lines = listing(differences)
    if (!isLongForm) return expect(await unlisted('differences by type', lines)).toEqual([])
    const { told, listed } = await recordTable('differences by type', 'Operator', lines)
    expect(told).toBe(listed)
  },
)

// Skipped where the platform has no packaged PostgreSQL.
test.skipIf(sides === undefined)('the facts about operators are those of the catalogs', async () => {
  const rows = (await sides?.catalog(factsQuery)) ?? []
  const told = rows.map(([sign, ...types]) => [sign, ...types.filter((type) => type !== null)].join(' '))
  const held = Object.entries(operatorFacts).flatMap(([sign, list]) =>
    list.split(',').map((each) => `${sign} ${each.trim()}`),
  )
  expect(held.sort()).toEqual(told.sort())
  expect(typeFacts).toBe(String((await sides?.catalog(typesQuery))?.[0]?.[0]))
})
