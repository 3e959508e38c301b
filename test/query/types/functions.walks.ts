/**
 * Every function and aggregate for every type of its arguments, with values at the edges, beside PostgreSQL 18: value, type,
 * typmod and SQLSTATE. What differs is a list in docs/sql.md, with a reason each, which `RECORD=1` writes; the test fails
 * when it changes. It takes minutes; without long forms, every seventh call is tried, and only a
 * kind of difference that is not listed fails. Functions that return rows are not compared here.
 */

import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { factsOfFunctions } from '../../../src/query/compile/resolve/function-choice.ts'
import { isLongForm, someInShortForm } from '../../support/long-form.ts'
import { aggregateCalls, scalarCalls } from './calls.ts'
import { compare, type Difference } from './compare.ts'
import { listing, recordTable, unlisted } from './listing.ts'
import { functionsQuery } from './operator-facts.ts'
import { openSides } from './sides.ts'

setDefaultTimeout(1_800_000)

const sides = await openSides()
afterAll(async () => sides?.[Symbol.asyncDispose]())

// Skipped where the platform has no packaged PostgreSQL.
test.skipIf(sides === undefined)('the facts about functions are those of the catalog', async () => {
  const rows = (await sides?.catalog(functionsQuery)) ?? []
  const told = rows.map(([name, signature]) => `${name}: ${signature}`)
  const held = [...factsOfFunctions].flatMap(([name, facts]) =>
    facts.map(({ operands, result, defaults, isVariadic }) => {
      const words = operands.map((type, index) => {
        const isLast = index === operands.length - 1
        return `${type}${isVariadic && isLast ? '...' : ''}${index >= operands.length - defaults ? '?' : ''}`
      })
      return `${name}: ${[...words, result].join(' ')}`
    }),
  )
  expect(held.sort()).toEqual(told.sort())
})

// Skipped where the platform has no packaged PostgreSQL.
test.skipIf(sides === undefined)(
  'what functions differ in from PostgreSQL by types is listed in docs/sql.md',
  async () => {
    if (sides === undefined) return
    const differences: Difference[] = []
    for (const call of someInShortForm([...scalarCalls, ...aggregateCalls], 7))
      differences.push(...(await compare(sides, call)))
    const lines = listing(differences)
    if (!isLongForm) return expect(await unlisted('functions by type', lines)).toEqual([])
    const { told, listed } = await recordTable('functions by type', 'Function', lines)
    expect(told).toBe(listed)
  },
)
