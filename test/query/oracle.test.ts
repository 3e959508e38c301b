/**
 * The read path on DuckDB against a real PostgreSQL with security-barrier views: the same statements on the
 * same rows. Legal queries give the same rows of the same types; attacks are refused, or give what the
 * barrier views give, and no canary.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Sql } from 'postgres'
import { type SqlType, typeOid } from '../../src/core/sql-type.ts'
import { fingerprintStatement } from '../../src/query/compile.ts'
import { SqlError } from '../../src/query/sql-error.ts'
import { attacks } from './attacks/all.ts'
import { corpus } from './corpus/all.ts'
import { type Answer, openSubject, type Subject } from './support/duckdb.ts'
import { canary, postgresSetup } from './support/fixture.ts'
import { type Oracle, startOracle } from './support/postgres.ts'

const started = await startOracle()

// Skipped where the platform has no packaged PostgreSQL.
describe.skipIf(started === undefined)('against PostgreSQL', () => {
  let oracle: Oracle
  let reader: Sql
  let subject: Subject

  beforeAll(async () => {
    if (started === undefined) throw new Error('there is no PostgreSQL')
    oracle = started
    for (const statement of postgresSetup()) await oracle.admin.unsafe(statement)
    reader = oracle.connect('reader')
    subject = await openSubject()
  })

  afterAll(async () => {
    subject?.close()
    await oracle?.stop()
  })

  /** What PostgreSQL answers, or its SQLSTATE. */
  const ask = async (sql: string, parameters?: readonly (string | null)[]): Promise<Answer | string> => {
    try {
      const result = await reader.unsafe(sql, parameters ? [...parameters] : []).raw()
      const columns = (result as unknown as { columns: { name: string; type: number }[] }).columns
      return {
        columns: columns.map(({ name, type }) => ({ name, type: String(type) as SqlType })),
        rows: result.map((row) =>
          (row as unknown as (Buffer | null)[]).map((cell) => cell?.toString() ?? null),
        ),
      }
    } catch (error) {
      return String(Reflect.get(error as object, 'code'))
    }
  }

  describe('a legal query gives the same rows of the same types', () => {
    test.each(corpus.map((each) => [`${each.tool}: ${each.sql}`, each] as const))(
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

test.each([
  ['corpus', corpus],
  ['attack suite', attacks],
] as const)('the %s has no statement twice, and at least 300 that differ by fingerprint', (_, statements) => {
  const texts = statements.map(({ sql }) => sql)
  expect(texts.filter((sql, index) => texts.indexOf(sql) !== index)).toEqual([])
  const prints = new Set(texts.map((sql) => fingerprintStatement(sql) ?? sql))
  expect(prints.size).toBeGreaterThanOrEqual(300)
})

/** PostgreSQL has types that the read path serves as another: name and unknown literals are text. */
function typeIn(oid: string): string {
  return oid === '705' || oid === '19' ? '25' : oid
}

/** Rows in a form in which equal values are equal text; unordered results are sorted. */
function normal(rows: Answer['rows'], types: readonly SqlType[], ordered: boolean): string[] {
  const lines = rows.map((row) =>
    JSON.stringify(row.map((cell, index) => normalCell(cell, types[index] ?? 'text'))),
  )
  return ordered ? lines : lines.sort()
}

function normalCell(cell: string | null, type: SqlType): unknown {
  if (cell === null) return null
  switch (type) {
    case 'numeric':
    case 'float4':
    case 'float8':
      // Quotients and averages are doubles here (docs/sql.md): 12 significant digits must agree.
      return Number.isFinite(Number(cell))
        ? String(Number(Number(cell).toPrecision(type === 'float4' ? 6 : 12)))
        : cell
    case 'json':
    case 'jsonb':
      return JSON.parse(cell)
    case 'numeric[]':
      // The elements of an array share one scale here.
      return cell.replace(/(\.\d*?)0+(?=[,}])/g, '$1').replace(/\.(?=[,}])/g, '')
    case 'interval':
      return intervalText(cell)
    default:
      return cell
  }
}

/** Months, days and microseconds of an interval as either engine writes it. */
function intervalText(text: string): string {
  let months = 0
  let days = 0
  let seconds = 0
  for (const [, amount = '0', unit = ''] of text.matchAll(/(-?\d+) (year|mon|day)/g)) {
    if (unit === 'year') months += 12 * Number(amount)
    else if (unit === 'mon') months += Number(amount)
    else days += Number(amount)
  }
  const clock = /(-?)(\d+):(\d\d):(\d\d(?:\.\d+)?)/.exec(text)
  if (clock)
    seconds =
      (Number(clock[2]) * 3600 + Number(clock[3]) * 60 + Number(clock[4])) * (clock[1] === '-' ? -1 : 1)
  return `${months} ${days} ${seconds}`
}
