/**
 * What programs write of their own accord, as test/clients/corpus.clients.ts recorded it, gives what PostgreSQL gives:
 * columns, types and rows, or the SQLSTATE. For Trino it is written, or refused with a sentence.
 */

import { afterAll, describe, expect, test } from 'bun:test'
import { typeOfOid } from '../../src/core/sql-type.ts'
import { SqlError } from '../../src/query/compile/base/sql-error.ts'
import { freePort } from '../support/free-port.ts'
import { someInShortForm } from '../support/long-form.ts'
import { corpus } from './corpus/all.ts'
import { programDifferences } from './corpus/program-differences.ts'
import { formOf, type ProgramStatement, recordedPrograms } from './corpus/recorded-programs.ts'
import { openSubject } from './support/duckdb.ts'
import { canary, postgresSetup } from './support/fixture.ts'
import { startOracle } from './support/postgres.ts'
import { differenceOf, stateOf } from './support/same-answer.ts'
import { openWireOracle } from './support/wire-oracle.ts'

const page = await Bun.file(new URL('../../docs/sql.md', import.meta.url)).text()
const port = freePort()
const oracle = await startOracle({ port })
for (const statement of oracle === undefined ? [] : postgresSetup()) await oracle?.admin.unsafe(statement)
const wire = oracle === undefined ? undefined : await openWireOracle(port, 'reader')
const subject = await openSubject()
afterAll(async () => {
  wire?.close()
  subject.close()
  await oracle?.stop()
})

/** As the service knows the types that a program names. */
const typed = ({ oids }: ProgramStatement) =>
  oids === undefined ? {} : { parameterTypes: oids.map((oid) => (oid === 0 ? undefined : typeOfOid(oid))) }

const listedFor = ({ text }: ProgramStatement) => programDifferences.find(({ written }) => written.test(text))

async function run(statement: ProgramStatement) {
  return subject.run(statement.text, statement.values, typed(statement)).catch(stateOf)
}

/** @returns the SQLSTATE of a refusal before the run */
function refusedFor(dialect: 'duckdb' | 'trino', statement: ProgramStatement): string | undefined {
  try {
    const { parameters } = subject.compile(statement.text, typed(statement))
    const parameterValues = (statement.values ?? []).map((value, index) => [index + 1, value] as const)
    subject.compile(statement.text, { parameterTypes: parameters, parameterValues }).emit(dialect)
    return undefined
  } catch (thrown) {
    if (!(thrown instanceof SqlError)) throw thrown
    return thrown.sqlState
  }
}

describe.each(recordedPrograms.map((each) => [each.tool, each.statements] as const))(
  '%s',
  (_, statements) => {
    const some = someInShortForm(statements, 3)

    // Skipped where the platform has no packaged PostgreSQL.
    test.skipIf(wire === undefined)('gets what it gets from PostgreSQL, or what is listed', async () => {
      const differences: unknown[] = []
      for (const statement of some) {
        const expected = (await wire?.ask(statement)) ?? ''
        const actual = await run(statement)
        expect(JSON.stringify(actual)).not.toContain(canary)
        const difference = differenceOf(statement.text, actual, expected)
        const listed = listedFor(statement)
        const isAsListed = listed?.state === undefined ? difference !== undefined : actual === listed.state
        if (listed === undefined ? difference !== undefined : !isAsListed)
          differences.push([statement, difference])
      }
      expect(differences).toEqual([])
    })

    test('is written for Trino, or refused there as not supported, if not on both engines', () => {
      const states = some.map((each) => [refusedFor('trino', each), each] as const)
      const others = states.filter(([state]) => state !== undefined && state !== '0A000')
      expect(others.filter(([state, each]) => state !== refusedFor('duckdb', each))).toEqual([])
    })
  },
)

test('docs/sql.md says what differs, and something does', () => {
  const texts = recordedPrograms.flatMap(({ statements }) => statements.map(({ text }) => text))
  for (const { written, listed } of programDifferences) {
    expect(page).toContain(listed)
    expect(texts.some((text) => written.test(text))).toBe(true)
  }
})

test('programs and the corpus by hand have at least 1,000 statements of distinct forms', () => {
  const recorded = recordedPrograms.flatMap(({ statements }) => statements.map(formOf))
  expect(new Set(recorded).size).toBeGreaterThanOrEqual(1_000)
  expect(new Set([...recorded, ...corpus.map(({ sql }) => formOf({ text: sql }))]).size).toBeGreaterThan(
    2_000,
  )
})
