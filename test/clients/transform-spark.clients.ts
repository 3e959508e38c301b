/**
 * Spark as a writer that protects: the SQL of a plan writes what the TypeScript library gives, value by value, and frames
 * that `mapInArrow` protects are appended through the gateway, where a policy demands the plan.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { transform } from '../../src/admin/transform-verb.ts'
import { fetchPlan } from '../../src/transform/fetch-plan.ts'
import { protectColumns } from '../../src/transform/protect-values.ts'
import { randomInputs, randomTypes, seed } from '../transform/random-inputs.ts'
import {
  compareRandom,
  compareVectors,
  type SqlComparison,
  shownCell,
  shownValue,
  sqlWriters,
} from '../transform/sql-writers.ts'
import { documentedSettings } from './client-docs.ts'
import { packageFolder } from './packages.ts'
import type { OpenSession, Step } from './sessions.ts'
import { openSpark } from './spark-session.ts'
import { demand, startTransformLake, type TransformLake } from './transform-lake.ts'

setDefaultTimeout(400_000)

const canary = 'CANARY52e9'
const stack = new AsyncDisposableStack()
let lake: TransformLake
let spark: OpenSession

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-transform-spark-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  lake = stack.use(await startTransformLake())
  const { catalogUri, env } = lake
  const settings = {
    'spark.sql.catalog.lake': 'org.apache.iceberg.spark.SparkCatalog',
    'spark.sql.catalog.lake.type': 'hadoop',
    'spark.sql.catalog.lake.warehouse': folder,
    // A writer's session may be in any time zone.
    'spark.sql.session.timeZone': 'America/Los_Angeles',
  }
  const python = 'python:transform-spark'
  const session = {
    catalogUri: () => catalogUri,
    secret: lake.lake.env.PGPASSWORD,
    sessionId: '',
  }
  spark = stack.use(
    await openSpark({
      settings: [
        documentedSettings('Spark', session),
        ...Object.entries(settings).map(([key, value]) => `${key} ${value}`),
      ].join('\n'),
      log: 'transform-spark',
      seconds: 550,
      python,
      env: { ...env, PYSPARK_PYTHON: join(packageFolder(python), 'bin/python') },
    }),
  )
})
afterAll(() => stack.disposeAsync())

async function run(step: unknown): Promise<readonly (readonly unknown[])[]> {
  const { value, message } = await spark.ask(step)
  if (message !== undefined)
    throw new Error(`${JSON.stringify(step).slice(0, 300)}: ${message.slice(0, 900)}`)
  return value as never
}

async function written({ statements, query, read }: SqlComparison) {
  for (const statement of statements) await run(statement)
  return read(await run(query))
}

test('transform-spark: SQL writes the outputs of the vector file, in ANSI mode and without', async () => {
  for (const ansi of [false, true]) {
    await run(`SET spark.sql.ansi.enabled=${ansi}`)
    const place = { prefix: `lake.n.ansi_${ansi}_`, suffix: ' USING iceberg' }
    const comparisons = compareVectors(sqlWriters.spark, place)
    expect(comparisons.flatMap(({ expected }) => Object.keys(expected)).length).toBeGreaterThan(65)
    for (const comparison of comparisons)
      expect(await written(comparison)).toEqual(comparison.expected as never)
  }
})

test.each(randomTypes.filter((type) => type !== 'time'))(
  `transform-spark: SQL writes random %s as the library does (seed ${seed})`,
  async (type) => {
    const place = { prefix: 'lake.n.', suffix: ' USING iceberg' }
    const [comparison] = compareRandom(sqlWriters.spark, type, 400, place)
    if (comparison === undefined) throw new Error(`no rule of ${type} was compared`)
    expect(Object.keys(comparison.expected)).toContain('keep')
    expect(await written(comparison)).toEqual(comparison.expected as never)
  },
)

const schema = 'id BIGINT, email STRING, note STRING'
const rows = (...ids: number[]) =>
  ids.map((id) => [id, `${canary}${id}@example.org`, `${canary} of ${id} 😀`])
const append = (table: string, values: readonly (readonly unknown[])[], columns = schema): Promise<Step> =>
  spark.ask({ append: `sales.${table}`, catalog: 'covenant', schema: columns, rows: values })

test('transform-spark: frames are appended protected where a policy demands the plan, and no others', async () => {
  // What is compressed would hide from a look at the files.
  const properties = `'write.parquet.compression-codec' = 'uncompressed', 'write.metadata.metrics.column.note' = 'none'`
  for (const table of ['orders', 'customers', 'clear'])
    await run(`CREATE TABLE covenant.sales.${table} (${schema}) USING iceberg TBLPROPERTIES (${properties})`)
  for (const table of ['orders', 'customers']) {
    await lake.declare(table, 'email', { action: 'tokenize', method: 'hmac', scope: 'email' })
    await lake.declare(table, 'note', { action: 'encrypt', method: 'siv', scope: 'note' })
    await lake.demandPlan(table)
  }
  const refused = await spark.ask(`INSERT INTO covenant.sales.orders VALUES (1, 'in clear', 'in clear')`)
  expect(refused.message).toContain(demand)
  expect(await append('orders', rows(1, 2, 2))).not.toHaveProperty('message')
  expect(await append('customers', rows(2, 3))).not.toHaveProperty('message')
  expect(await run('SELECT id, email, note FROM covenant.sales.orders ORDER BY id')).toEqual(
    [1, 2, 2].map((id) => [id, expect.stringMatching(/^tok_/), expect.stringMatching(/^cse1\./)]) as never,
  )
})

/** A column of each type that Spark has, each under a rule that the type takes. */
const everyType: readonly (readonly [name: string, type: string, rule: object])[] = [
  ['truth', 'boolean', { action: 'redact' }],
  ['number', 'int', { action: 'mask', mask: 'sha-256-global' }],
  ['token', 'long', { action: 'tokenize', method: 'hmac', scope: 'token' }],
  ['half', 'float', { action: 'mask', mask: 'mask-to-fixed-value' }],
  ['whole', 'double', { action: 'mask', mask: 'replace-with-null' }],
  ['shown', 'string', { action: 'mask', mask: 'show-last-4' }],
  ['name', 'string', { action: 'tokenize', method: 'hmac', scope: 'name' }],
  ['sealed', 'string', { action: 'encrypt', method: 'siv', scope: 'sealed' }],
  ['bytes', 'binary', { action: 'encrypt', method: 'siv', scope: 'bytes' }],
  ['hash', 'binary', { action: 'mask', mask: 'sha-256-global' }],
  ['born', 'date', { action: 'mask', mask: 'truncate-to-year' }],
  ['amount', 'decimal(10,2)', { action: 'mask', mask: 'mask-to-fixed-value' }],
  ['noon', 'timestamp', { action: 'mask', mask: 'truncate-to-month' }],
  ['moment', 'timestamptz', { action: 'mask', mask: 'truncate-to-month' }],
]

test(`transform-spark: frames of every type hold what the TypeScript library gives (seed ${seed})`, async () => {
  const { typeOf, literal, shown } = sqlWriters.spark
  const columns = everyType.map(([name, type]) => `${name} ${typeOf(type)}`)
  const unmeasured = ['sealed', 'bytes'].map((name) => `'write.metadata.metrics.column.${name}' = 'none'`)
  await run(
    `CREATE TABLE covenant.sales.every (i BIGINT, ${columns.join(', ')}) USING iceberg TBLPROPERTIES (${unmeasured.join(', ')})`,
  )
  for (const [name, , rule] of everyType) await lake.declare('every', name, rule)
  await lake.demandPlan('every')
  const given = everyType.map(([, type]) => randomInputs(type, 60).slice(0, 60))
  const literals = (row: number) =>
    everyType.map(([, type], at) => {
      const value = given[at]?.[row] ?? null
      return value === null ? `CAST(NULL AS ${typeOf(type)})` : literal(type, value)
    })
  const rows = Array.from({ length: 60 }, (_, row) => `(${row}L, ${literals(row).join(', ')})`)
  const names = ['i', ...everyType.map(([name]) => name)].join(', ')
  const query = `SELECT * FROM (VALUES ${rows.join(', ')}) AS v (${names})`
  expect(await spark.ask({ append: 'sales.every', catalog: 'covenant', query })).not.toHaveProperty('message')
  const open = await fetchPlan({
    url: lake.lake.app.url.origin,
    table: ['sales', 'every'],
    headers: { 'x-svc-session': lake.lake.env.PGPASSWORD },
  })
  const byName = Object.fromEntries(everyType.map(([name], at) => [name, given[at] ?? []]))
  const safe = protectColumns(open, byName, open.plan.iat)
  const cells = everyType.map(([name, type]) => shown(type, name)).join(', ')
  const found = await run(`SELECT ${cells} FROM covenant.sales.every ORDER BY i`)
  for (const [at, [name, type]] of everyType.entries())
    expect([name, found.map((row) => shownCell(type, row[at]))]).toEqual([
      name,
      (safe[name] ?? []).map((value) => shownValue(type, value)),
    ])
})

test('transform-spark: tables join on tokens, and equal ciphertexts are equal', async () => {
  const join = (column: string) =>
    run(
      `SELECT count(*) FROM covenant.sales.orders o JOIN covenant.sales.customers c ON o.${column} = c.${column}`,
    )
  expect([await join('email'), await join('note')]).toEqual([[[2]], [[2]]])
})

test('transform-spark: a refusal on an executor names the column, and nothing is committed', async () => {
  const before = await run('SELECT * FROM covenant.sales.orders ORDER BY id')
  const again = await append('orders', [[9, `tok_${canary}`, 'again']])
  expect(again.message).toContain('column email: a value is a token or ciphertext already')
  expect(again.message).not.toContain(canary)
  // Spark itself would write a number into a column of texts.
  const ofNumbers = await append('orders', [[9, 9, canary]], 'id BIGINT, email BIGINT, note STRING')
  expect(ofNumbers.message).toContain('column email: its Arrow type is not that of string')
  expect(ofNumbers.message).not.toContain(canary)
  expect(await run('SELECT * FROM covenant.sales.orders ORDER BY id')).toEqual(before)
})

test('transform-spark: no file in storage holds a value that was protected', async () => {
  expect(lake.filesWith(canary)).toEqual([])
  // The same look finds what is written in clear.
  await run(`INSERT INTO covenant.sales.clear VALUES (1, '${canary}', 'clear')`)
  const found = lake.filesWith(canary)
  expect(found.length).toBeGreaterThan(0)
  expect(found.filter((path) => !path.includes('/clear'))).toEqual([])
})

test('transform-spark: the SQL of a plan is committed with the proof in its first line', async () => {
  await run(`CREATE TABLE covenant.sales.visits (id BIGINT, email STRING, at TIMESTAMP) USING iceberg`)
  await lake.declare('visits', 'email', { action: 'mask', mask: 'show-last-4' })
  await lake.declare('visits', 'at', { action: 'mask', mask: 'truncate-to-month' })
  await lake.demandPlan('visits')
  const lines: string[] = []
  const status = await transform(
    ['sql', '--table', 'sales.visits', '--dialect', 'spark', '--catalog', lake.lake.catalog],
    {
      env: { COVENANT_URL: lake.lake.app.url.origin, COVENANT_SESSION: lake.lake.env.PGPASSWORD },
      stdin: async () => '',
      print: (line) => void lines.push(line),
      complain: (line) => void lines.push(line),
    },
  )
  expect([status, lines[0]]).toEqual([0, expect.stringMatching(/^-- covenant\.transform-plan=/)])
  const given = `SELECT 1L AS id, '${canary}' AS email, TIMESTAMP '2026-11-24 10:00:00 UTC' AS at`
  const insert = `INSERT INTO covenant.sales.visits SELECT ${lines.slice(1).join('\n')} FROM (${given})`
  expect((await spark.ask(insert)).message).toContain(demand)
  // As docs/transform.md says it.
  const [, name, proof] = /^-- ([^=]+)=(.*)$/.exec(lines[0] ?? '') ?? []
  await run(`SET \`spark.sql.iceberg.snapshot-property.${name}\` = \`${proof}\``)
  await run(insert)
  expect(await run('SELECT id, email, unix_micros(at) FROM covenant.sales.visits')).toEqual([
    [1, `${'x'.repeat(6)}52e9`, Date.UTC(2026, 10, 1) * 1_000],
  ])
})
