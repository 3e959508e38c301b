/** The SQL of a plan on Trino writes what the TypeScript library gives, into Iceberg tables, value by value. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { emitProtected } from '../../src/query/compile/emit/protect.ts'
import { eventually } from '../support/eventually.ts'
import { randomTypes, seed } from '../transform/random-inputs.ts'
import { compareRandom, compareVectors, type SqlComparison, sqlWriters } from '../transform/sql-writers.ts'
import { startTrino, type TrinoServer, trinoSql } from './trino-server.ts'

const stack = new AsyncDisposableStack()
let trino: TrinoServer

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'covenant-transform-trino-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const lake = {
    'connector.name': 'iceberg',
    'iceberg.catalog.type': 'testing_file_metastore',
    'hive.metastore.catalog.dir': 'local:///catalog',
    'fs.native-local.enabled': 'true',
    'local.location': folder,
  }
  trino = stack.use(await startTrino({ catalogs: { lake } }))
  await trinoSql(trino.url, `CREATE SCHEMA lake.n WITH (location = 'local:///n')`)
  await trinoSql(trino.url, 'CREATE TABLE lake.n.ready (i INT)')
  // Trino answers before the catalog knows of a node that writes.
  await eventually(() =>
    trinoSql(trino.url, 'INSERT INTO lake.n.ready VALUES 1').catch((refused: Error) => {
      if (!refused.message.includes('No nodes available')) throw refused
      return undefined
    }),
  )
}, 180_000)
afterAll(() => stack.disposeAsync())

/** A writer's session may be in any time zone. */
const session = { 'x-trino-time-zone': 'America/Los_Angeles' }

async function written({ statements, query, read }: SqlComparison) {
  for (const statement of statements) await trinoSql(trino.url, statement, session)
  return read(await trinoSql(trino.url, query, session))
}

test('transform-trino: writes the outputs of the vector file', async () => {
  const comparisons = compareVectors(sqlWriters.trino, { prefix: 'lake.n.' })
  expect(comparisons.flatMap(({ expected }) => Object.keys(expected)).length).toBeGreaterThan(70)
  for (const comparison of comparisons)
    expect(await written(comparison)).toEqual(comparison.expected as never)
})

test.each([...randomTypes])(
  `transform-trino: writes random %s as the library does (seed ${seed})`,
  async (type) => {
    const [comparison] = compareRandom(sqlWriters.trino, type, 1_000, { prefix: 'lake.n.' })
    if (comparison === undefined) throw new Error(`no rule of ${type} was compared`)
    expect(Object.keys(comparison.expected)).toContain('keep')
    expect(await written(comparison)).toEqual(comparison.expected as never)
  },
)

test('transform-trino: NULL in a required column stays NULL, so that the table refuses the write', async () => {
  await trinoSql(trino.url, 'CREATE TABLE lake.n.strict (c VARCHAR NOT NULL)')
  const rule = { field_id: 1, name: 'c', type: 'string', required: true } as const
  for (const action of [{ action: 'redact' }, { action: 'mask', mask: 'mask-to-fixed-value' }] as const) {
    const [column] = emitProtected('trino', [{ ...rule, ...action }])
    const from = '(VALUES CAST(NULL AS VARCHAR)) AS v (c)'
    const insert = `INSERT INTO lake.n.strict SELECT ${column?.sql} FROM ${from}`
    await expect(trinoSql(trino.url, insert)).rejects.toThrow('NULL value not allowed')
  }
})
