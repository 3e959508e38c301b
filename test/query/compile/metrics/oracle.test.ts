/**
 * Compares metrics with SQL that is written by hand for PostgreSQL, over security-barrier views of the same rows: random
 * requests, for readers who see all, some and nothing. What is written for Trino is held against Trino's own grammar.
 */

import { afterAll, describe, expect, test } from 'bun:test'
import { generator } from '../../../support/generator.ts'
import { isLongForm } from '../../../support/long-form.ts'
import { normal } from '../../support/compare.ts'
import { openSubject } from '../../support/duckdb.ts'
import { canary, postgresSetup } from '../../support/fixture.ts'
import { askOracle, startOracle } from '../../support/postgres.ts'
import { byHand, randomRequest } from './by-hand.ts'
import { answering, readers } from './readers.ts'
import { shop } from './shop.ts'

const oracle = await startOracle()
for (const statement of oracle === undefined ? [] : postgresSetup()) await oracle?.admin.unsafe(statement)
const subject = await openSubject()
const answer = answering(subject, shop())
afterAll(async () => {
  subject.close()
  await oracle?.stop()
})

// Skipped where the platform has no packaged PostgreSQL.
describe.skipIf(oracle === undefined)('against PostgreSQL', () => {
  describe.each(readers)('for a reader $name', (reader) => {
    const seed = 20_261_123
    test(`random requests give what hand-written SQL gives (seed ${seed})`, async () => {
      const random = generator(seed)
      let rowsSeen = 0
      for (let round = 0; round < (isLongForm ? 500 : 60); round++) {
        const request = randomRequest(random)
        const sql = byHand(request, reader)
        const expected = oracle && (await askOracle(oracle.admin, sql))
        if (expected === undefined || typeof expected === 'string')
          throw new Error(`PostgreSQL refuses ${expected}: ${sql}`)
        const actual = await answer(reader, request).catch((cause: unknown) => {
          throw new Error(`${JSON.stringify(request)}`, { cause })
        })
        const types = actual.columns.map(({ type }) => type)
        const shown = { request, rows: normal(actual.rows, types, false) }
        expect(shown).toEqual({ request, rows: normal(expected.rows, types, false) })
        if (reader === readers[0]) expect(JSON.stringify(actual)).not.toContain(canary)
        rowsSeen += actual.rows.length
      }
      if (reader.name !== 'without the role that the filter wants') expect(rowsSeen).toBeGreaterThan(100)
    })
  })
})
