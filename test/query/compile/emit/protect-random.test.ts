/** The SQL of a plan on DuckDB writes what the TypeScript library gives, for the vector file and for random values. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { emitProtected, writerDialects } from '../../../../src/query/compile/emit/protect.ts'
import type { ColumnRule } from '../../../../src/transform/plan.ts'
import { protectValues } from '../../../../src/transform/protect-values.ts'
import { TransformRefused } from '../../../../src/transform/refusal.ts'
import { roundsOf } from '../../../support/long-form.ts'
import { randomTypes, seed } from '../../../transform/random-inputs.ts'
import {
  compareRandom,
  compareVectors,
  type SqlComparison,
  sqlWriters,
} from '../../../transform/sql-writers.ts'

let instance: DuckDBInstance
let connection: DuckDBConnection
beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:')
  connection = await instance.connect()
  // A writer's session may be in any time zone.
  await connection.run("SET TimeZone = 'America/Los_Angeles'")
})
afterAll(() => {
  connection.closeSync()
  instance.closeSync()
})

async function written({ statements, query, read }: SqlComparison) {
  for (const statement of statements) await connection.run(statement)
  return read((await connection.runAndReadAll(query)).getRowsJson())
}

test('DuckDB writes the outputs of the vector file', async () => {
  const comparisons = compareVectors(sqlWriters.duckdb, { prefix: '' })
  expect(comparisons.flatMap(({ expected }) => Object.keys(expected)).length).toBeGreaterThan(70)
  for (const comparison of comparisons)
    expect(await written(comparison)).toEqual(comparison.expected as never)
})

test.each([...randomTypes])(`DuckDB writes random %s as the library does (seed ${seed})`, async (type) => {
  const [comparison] = compareRandom(sqlWriters.duckdb, type, roundsOf(2_000), { prefix: '' })
  if (comparison === undefined) throw new Error(`no rule of ${type} was compared`)
  expect(Object.keys(comparison.expected)).toContain('keep')
  expect(await written(comparison)).toEqual(comparison.expected as never)
})

test('a nested column is refused for every dialect, and can be kept', () => {
  for (const dialect of writerDialects)
    for (const type of ['struct', 'list', 'map', 'variant']) {
      const rule = (rest: object) =>
        ({ field_id: 1, name: 'c', type, required: false, ...rest }) as ColumnRule
      expect(emitProtected(dialect, [rule({ action: 'keep' })])).toHaveLength(1)
      for (const rest of [{ action: 'redact' }, { action: 'mask', mask: 'replace-with-null' }])
        expect(() => emitProtected(dialect, [rule(rest)])).toThrow('nested columns cannot be protected')
    }
})

test('half of a surrogate pair is no text: the library and DuckDB refuse it', async () => {
  const rule = { field_id: 1, name: 'c', type: 'string', required: false, action: 'mask' } as const
  const column: ColumnRule = { ...rule, mask: 'show-last-4' }
  expect(() => protectValues(column, '', () => new Uint8Array(), ['a\ud83d'])).toThrow(TransformRefused)
  const [protectedColumn] = emitProtected('duckdb', [column])
  const sql = `SELECT ${protectedColumn?.sql} FROM (SELECT decode(unhex('61EDA0BD')) AS c)`
  await expect(connection.runAndReadAll(sql)).rejects.toThrow()
})
