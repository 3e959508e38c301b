/**
 * Compares the read path on DuckDB with a real PostgreSQL with security-barrier views: the same statements on the same
 * rows. Legal queries give the same rows of the same types. Attacks are refused, or give what the views give, and no
 * canary.
 */

import { afterAll, describe, expect, test } from 'bun:test'
import { typeOid } from '../../src/core/sql-type.ts'
import { SqlError } from '../../src/query/compile/base/sql-error.ts'
import { fingerprintStatement } from '../../src/query/compile/parse/fingerprint.ts'
import { someInShortForm } from '../support/long-form.ts'
import { attacks } from './attacks/all.ts'
import { corpus } from './corpus/all.ts'
import { duckdbOverloads, faults, overloads } from './corpus/overloads.ts'
import { refusedQueries } from './corpus/refused.ts'
import { normal, typeIn } from './support/compare.ts'
import type { Answer } from './support/duckdb.ts'
import { canary } from './support/fixture.ts'
import { openPair } from './support/pair.ts'

const page = await Bun.file(new URL('../../docs/sql.md', import.meta.url)).text()
const { hasPostgres, ask, subject, close } = await openPair()
afterAll(close)

// Skipped where the platform has no packaged PostgreSQL.
describe.skipIf(!hasPostgres)('against PostgreSQL', () => {
  describe('a legal query gives the same rows of the same types', () => {
    test.each(someInShortForm(corpus, 3).map((each) => [`${each.tool}: ${each.sql}`, each] as const))(
      '%s',
      async (_, { sql, parameters }) => {
        const expected = await ask(sql, parameters)
        if (typeof expected === 'string') throw new Error(`PostgreSQL itself refuses: ${expected}`)
        const actual = await subject.run(sql, parameters)
        expect(actual.columns.map(({ name, type }) => [name, String(typeOid(type))])).toEqual(
          expected.columns.map(({ name, type }) => [name, typeIn(type)]),
        )
        const types = actual.columns.map(({ type }) => type)
        const ordered = /order by[^)]*$/i.test(sql)
        expect(normal(actual.rows, types, ordered)).toEqual(normal(expected.rows, types, ordered))
        expect(JSON.stringify(actual)).not.toContain(canary)
      },
    )
  })

  test.each(refusedQueries.map((each) => [`${each.tool}: ${each.sql}`, each] as const))(
    'what a tool writes and is refused here is listed: %s',
    async (_, { sql, sqlState, listed }) => {
      expect(page).toContain(listed)
      const code = await subject.run(sql).then(
        () => undefined,
        (thrown) => (thrown instanceof SqlError ? thrown.sqlState : thrown),
      )
      expect(code).toBe(sqlState)
    },
  )

  test.each(someInShortForm([...overloads, ...duckdbOverloads], 3))(
    'every overload gives the same: %s',
    async (sql) => {
      const expected = await ask(sql)
      if (typeof expected === 'string') throw new Error(`PostgreSQL itself refuses: ${expected}`)
      const { columns, rows } = await subject.run(sql)
      const types = columns.map(({ type }) => type)
      expect(types.map((type) => String(typeOid(type)))).toEqual(
        expected.columns.map(({ type }) => typeIn(type)),
      )
      expect(normal(rows, types, false)).toEqual(normal(expected.rows, types, false))
    },
  )

  test.each(faults)('what fails in PostgreSQL fails: %s', async (sql) => {
    expect(typeof (await ask(sql))).toBe('string')
    const failed = await subject.run(sql).then(
      () => false,
      () => true,
    )
    expect(failed).toBe(true)
  })

  describe('an attack is refused, or gives what the barrier views give', () => {
    test.each(attacks.map((each) => [`${each.class}: ${each.sql}`, each] as const))(
      '%s',
      async (_, attack) => {
        let actual: Answer
        try {
          actual = await subject.run(attack.sql)
        } catch (error) {
          if (!(error instanceof SqlError)) {
            // An engine's own error is an outcome too, where the oracle has one for the same statement.
            expect(attack.expect).not.toBe('refused')
            expect(typeof (await ask(attack.sql))).toBe('string')
            return
          }
          expect(error.publicMessage).not.toContain(canary)
          expect(attack.expect).toBe('refused')
          return
        }
        expect(attack.expect).toBe('same')
        expect(JSON.stringify(actual)).not.toContain(canary)
        const expected = await ask(attack.sql)
        if (typeof expected === 'string') throw new Error(`PostgreSQL itself refuses: ${expected}`)
        const types = actual.columns.map(({ type }) => type)
        expect(normal(actual.rows, types, false)).toEqual(normal(expected.rows, types, false))
      },
    )
  })
})

test('the corpus has at least 600 statements with a tool named for each', () => {
  expect(corpus.length + refusedQueries.length).toBeGreaterThanOrEqual(600)
})

test.each([
  ['corpus', corpus],
  ['attack suite', attacks],
] as const)('the %s has no statement twice, and at least 300 that differ by fingerprint', (_, statements) => {
  const texts = statements.map(({ sql }) => sql)
  expect(texts.filter((sql, index) => texts.indexOf(sql) !== index)).toEqual([])
  const prints = new Set(texts.map((sql) => fingerprintStatement(sql) ?? sql))
  expect(prints.size).toBeGreaterThanOrEqual(300)
})
