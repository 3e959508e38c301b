/**
 * Quality rules on a table that Spark wrote: the service measures them on its embedded engine and on a real Trino, and
 * datacontract-cli on the same files. All three come to the same numbers.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Glob } from 'bun'
import { putCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { type Json, outcomes, type QualityWorld, startQualityWorld } from '../contract/quality/world.ts'
import { packageFolder } from './packages.ts'
import { type FixtureServer, startRestFixture } from './servers.ts'
import { runSpark } from './spark-session.ts'
import { icebergCatalog, startTrino } from './trino-server.ts'

const stack = new AsyncDisposableStack()
const rowCount = 20_000

/** Values by which engines and writers differ: NaN, both zeros, empty texts, marks of several bytes, old dates. */
const table = `SELECT id,
  CAST(id * 37 % 10000 AS DECIMAL(12,2)) / 100 AS amount,
  CASE id % 50 WHEN 0 THEN double('NaN') WHEN 1 THEN double('-Infinity') WHEN 2 THEN -0.0D WHEN 3 THEN 0.0D
    ELSE id / 7.0D END AS ratio,
  CASE WHEN id % 9 = 0 THEN NULL WHEN id % 9 = 1 THEN '' WHEN id % 9 = 2 THEN 'N/A'
    ELSE concat('näme ', id % 1000, ' 😀') END AS name,
  element_at(array('north', 'south', 'east', 'West'), CAST(id % 4 AS INT) + 1) AS region,
  id % 3 = 0 AS paid,
  date_add(DATE'1965-01-01', CAST(id % 20000 AS INT)) AS day,
  timestamp_micros(1711843200000000 + id * 61000001) AS seen,
  CASE WHEN id % 7 = 0 THEN NULL ELSE CAST(id % 100 AS INT) END AS qty
FROM range(1, ${rowCount + 1})`

/** Each rule once for a column and metric, because datacontract-cli names its checks by these. */
const rules: Readonly<Record<string, readonly (readonly [id: string, rule: string])[]>> = {
  '': [
    ['rows', `metric: rowCount, mustBe: ${rowCount}`],
    ['keys', 'metric: duplicateValues, arguments: {properties: [region, qty]}, mustBeLessThan: 1000'],
    ['own', 'type: sql, query: "SELECT count(*) FROM {object} WHERE amount < 1", mustBeGreaterThan: 0'],
  ],
  id: [['unique', 'metric: duplicateValues, mustBe: 0']],
  amount: [['repeated', 'metric: duplicateValues, mustBe: 10000']],
  ratio: [
    ['values', 'metric: duplicateValues, mustBeLessThan: 5'],
    ['nulls', 'metric: nullValues, mustBe: 0'],
  ],
  name: [
    ['nulls', 'metric: nullValues, mustBeLessThan: 100'],
    ['missing', `metric: missingValues, arguments: {missingValues: ['', 'N/A', null]}, mustBe: 6668`],
    ['shape', String.raw`metric: invalidValues, arguments: {pattern: '^n.me \d+ '}, mustBe: 0`],
    ['same', 'metric: duplicateValues, mustBe: 3'],
  ],
  region: [
    [
      'known',
      `metric: invalidValues, arguments: {validValues: [north, south, east]}, unit: percent, mustBe: 25`,
    ],
    ['share', 'metric: nullValues, unit: percent, mustBe: 0'],
  ],
  paid: [['nulls', 'metric: nullValues, mustBe: 0']],
  day: [['same', 'metric: duplicateValues, mustBe: 0']],
  seen: [['same', 'metric: duplicateValues, mustBe: 0']],
  qty: [
    ['nulls', 'metric: nullValues, unit: percent, mustBeBetween: [14, 15]'],
    ['allowed', 'metric: invalidValues, arguments: {validValues: [1, 2, 3]}, mustBeGreaterThan: 100'],
    ['missing', 'metric: missingValues, arguments: {missingValues: [0, 99]}, mustBe: 343'],
  ],
}

const types: Readonly<Record<string, readonly [logical: string, physical: string]>> = {
  ...{ id: ['integer', 'bigint'], amount: ['number', 'decimal(12,2)'], ratio: ['number', 'double'] },
  ...{ name: ['string', 'string'], region: ['string', 'string'], paid: ['boolean', 'boolean'] },
  ...{ day: ['date', 'date'], seen: ['timestamp', 'timestamp'], qty: ['integer', 'int'] },
}

/** @param more what only the other judge needs */
function documentOf(more = ''): string {
  const { '': ofTable = [], ...columns } = rules
  const list = (of: readonly (readonly [string, string])[]) =>
    `[${of.map(([id, rule]) => `{id: ${id}, ${rule}}`).join(', ')}]`
  return `apiVersion: v3.2.0
kind: DataContract
id: orders
version: 1.0.0
status: active
${more}
slaProperties: [{property: freshness, value: 100, unit: y, element: orders.seen}, {property: retention, value: 1, unit: d, element: orders.day}]
schema:
- name: orders
  quality: ${list(ofTable)}
  customProperties:
  - {property: covenant, vendor: covenant, value: {table: {namespace: [sales], name: orders}}}
  properties:
${Object.entries(columns)
  .map(([name, of]) => {
    const [logical, physical] = types[name] ?? []
    return `  - {name: ${name}, logicalType: ${logical}, physicalType: '${physical}', quality: ${list(of)}}`
  })
  .join('\n')}
`
}

let fixture: FixtureServer
let world: QualityWorld

beforeAll(async () => {
  fixture = stack.use(await startRestFixture())
  const trino = stack.use(await startTrino({ catalogs: { lake: icebergCatalog(fixture.url) } }))
  world = stack.use(
    await startQualityWorld({
      tables: [],
      catalog: { url: fixture.url, warehouse: '', folder: fixture.folder },
    }),
  )
  const { store, tenant } = world.lake
  const endpoint = fixture.url
  const named = { 'trino.uri': trino.url, 'trino.catalog': 'lake' }
  const shared = { endpoint, warehouse: '', storage_roots: [pathToFileURL(fixture.folder).href], ...named }
  for (const [nickname, engine] of [
    ['both', 'duckdb'],
    ['trino', 'trino'],
  ] as const)
    await putCatalogCredential(store, tenant, {
      ...{ nickname, kind: 'alpha', endpoint, config: { ...shared, read_engine: engine } },
    })
  const spark = await runSpark(
    {
      settings: [
        'spark.sql.extensions org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions',
        'spark.sql.catalog.lake org.apache.iceberg.spark.SparkCatalog',
        'spark.sql.catalog.lake.type rest',
        `spark.sql.catalog.lake.uri ${fixture.url}`,
        'spark.sql.session.timeZone America/New_York',
      ].join('\n'),
      ...{ log: 'checks-spark', seconds: 200 },
    },
    [`CREATE TABLE lake.sales.orders USING iceberg AS ${table}`, `SELECT count(*) FROM lake.sales.orders`],
  )
  expect(spark.map(({ message }) => message)).toEqual([undefined, undefined])
  const put = '/api/v1/contracts/documents/orders'
  const [status, answer] = await world.ask('PUT', put, world.stella, documentOf())
  expect([status, answer]).toEqual([200, expect.anything()])
}, 400_000)
afterAll(() => stack.disposeAsync())

const keys = Object.entries(rules).flatMap(([column, of]) =>
  of.map(([id]) => (column === '' ? id : `${column}.${id}`)),
)
/** Outcomes and values; ages are left out, because they grow. */
function found(run: Json): Record<string, string> {
  const all = Object.entries(outcomes(run))
  return Object.fromEntries(
    all.map(([key, one]) => [key, key.startsWith('sla.') ? (one.split(' ')[0] ?? '') : one]),
  )
}

test('checks: the embedded engine and Trino measure every rule and service level alike', async () => {
  const embedded = await world.measure({ catalog: 'lake' })
  const trino = await world.measure({ catalog: 'trino' })
  const engines = ({ results }: Json) => new Set((results as unknown as Json[]).map(({ engine }) => engine))
  expect([engines(embedded), engines(trino)]).toEqual([new Set(['duckdb']), new Set(['trino'])] as never)
  expect(found(trino)).toEqual(found(embedded))
  expect(Object.keys(found(embedded)).filter((key) => keys.includes(key))).toHaveLength(keys.length)
  expect(Object.values(found(embedded)).filter((one) => /^(error|not_run)/.test(one))).toEqual([])
  expect(found(embedded)).toMatchObject({
    readable: `passed ${rowCount}`,
    'name.nulls': 'failed 2222',
    'name.missing': 'passed 6668',
    'region.known': 'passed 25',
    'id.unique': 'passed 0',
    'sla.freshness.orders.seen': 'passed',
    'sla.retention.orders.day': 'warned',
  })
}, 120_000)

test('checks: datacontract-cli comes to the same values and verdicts on the same files', async () => {
  const run = await world.measure({ catalog: 'lake' })
  const ours = new Map(
    (run.results as unknown as readonly Record<string, string>[]).map((one) => [one.key, one]),
  )
  const folder = await mkdtemp(join(tmpdir(), 'covenant-checks-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const [data = ''] = new Glob('**/orders/data/*.parquet').scanSync({ cwd: fixture.folder, absolute: true })
  const files = `${data.slice(0, data.lastIndexOf('/'))}/*.parquet`
  const path = join(folder, 'orders.odcs.yaml')
  await Bun.write(
    path,
    documentOf(`servers: [{server: files, type: local, path: "${files}", format: parquet}]`),
  )
  const python = join(packageFolder('python:datacontract'), 'bin/python')
  const judge = new URL('odcs/test_data.py', import.meta.url).pathname
  const child = Bun.spawnSync([python, judge, path], { stderr: 'inherit' })
  const theirs = JSON.parse(child.stdout.toString()) as readonly {
    readonly field: string | null
    readonly id: string
    readonly result: string
    readonly value: number
    readonly percent: number | null
  }[]
  const seen = theirs.map(({ field, id, result, value, percent }) => {
    const key = field === null ? id : `${field}.${id}`
    return [key, result, Number(percent ?? value)]
  })
  const value = (key: string) => Number(ours.get(key)?.value)
  const expected = keys.map((key) => {
    // It counts NULL as missing where the list does not name it, too (docs/quality.md).
    if (key === 'qty.missing') return [key, 'failed', value(key) + (value('qty.nulls') * rowCount) / 100]
    return [key, ours.get(key)?.outcome, value(key)]
  })
  const byKey = (all: unknown[][]) => all.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1))
  expect(byKey(seen)).toEqual(byKey(expected))
}, 120_000)

test('checks: both engines hold the same rows of the table that Spark wrote, by every step', async () => {
  const asked = {
    contract: 'orders',
    namespace: ['sales'],
    table: 'orders',
    catalog: 'both',
    engine: 'trino',
  }
  const [status, { id }] = await world.ask('POST', '/api/v1/checks/reconciliations', world.stella, asked)
  expect(status).toBe(202)
  await world.lake.app.checks.runner.runDue()
  const [, run] = await world.ask('GET', `/api/v1/checks/runs/${id}`, world.stella)
  expect(run).toMatchObject({ state: 'passed', progress: { rows: String(rowCount) } })
  expect(Object.values(outcomes(run)).filter((one) => !one.startsWith('passed'))).toEqual([])
  expect(outcomes(run)).toMatchObject({
    totals: `passed ${rowCount}`,
    rows: 'passed',
    'content ratio': 'passed',
  })
}, 120_000)
