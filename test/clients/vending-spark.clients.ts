/**
 * Credentials that the service issues, in the hands of Iceberg's S3FileIO in Spark, against moto with its IAM enforced:
 * what they open, that they are renewed, and what ends them (docs/credentials.md).
 */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { revokeServiceSession } from '../../src/store/session/sessions.ts'
import { metric, type TestTenant } from '../support/service.ts'
import { type Lake, type LakeClient, type LakeLogin, startLake } from './lake.ts'
import { type SparkTenants, startSparkTenants } from './spark-tenants.ts'

let lake: Lake
let other: TestTenant
let theirs: LakeLogin
/** One JVM with the catalogs of a writer, of a reader and of another tenant. */
let spark: LakeClient
/** Seconds that credentials live at the storage: any statement after them needs others. */
const roleSeconds = 20

let rows: SparkTenants['rows']
let filesOf: SparkTenants['filesOf']

beforeAll(async () => {
  lake = await startLake('vend', { roleSeconds })
  ;({ other, theirs, spark, rows, filesOf } = await startSparkTenants(lake, 'vending-spark'))
}, 300_000)
afterAll(() => lake?.[Symbol.asyncDispose]())

const refused = expect.stringMatching(/Access Denied|AccessDenied|Forbidden|Status Code: 403/)

test('vending-spark: spark creates, writes and reads tables with credentials for their folders', async () => {
  await spark.run(`INSERT INTO covenant.sales.orders_s3 VALUES (2, 'again')`)
  const all = [
    [1, 'orders'],
    [2, 'again'],
  ]
  expect(await rows('covenant.sales.orders_s3')).toEqual(all)
  expect(await rows('reading.sales.orders_s3')).toEqual(all)
})

test('vending-spark: storage refuses whatever lies outside of the folder', async () => {
  const table = 'covenant.sales.orders_s3'
  const [own = ''] = await filesOf(table)
  await spark.run({ table, read: own })
  for (const location of await filesOf('covenant.sales.secrets_s3')) {
    await spark.run({ table: 'covenant.sales.secrets_s3', read: location })
    for (const mine of [table, 'reading.sales.orders_s3'])
      expect((await spark.ask({ table: mine, read: location })).message).toEqual(refused)
  }
  await spark.run({ table, write: `${lake.place('orders')}/data/x` })
  for (const location of [`${lake.place('secrets')}/data/x`, 's3://lake/x', `${lake.place('orders')}_2/x`])
    expect((await spark.ask({ table, write: location })).message).toEqual(refused)
})

test('vending-spark: a reader writes nothing', async () => {
  const step = { table: 'reading.sales.orders_s3', write: `${lake.place('orders')}/data/y` }
  expect((await spark.ask(step)).message).toEqual(refused)
  expect((await spark.ask(`INSERT INTO reading.sales.orders_s3 VALUES (9, 'no')`)).message).toBeDefined()
})

test('vending-spark: catalogs of two tenants in one process have each their own credentials', async () => {
  expect(await rows('theirs.sales.foreign_s3')).toEqual([[1, 'foreign']])
  const [foreign = ''] = await filesOf('theirs.sales.foreign_s3')
  const [ours = ''] = await filesOf('covenant.sales.orders_s3')
  await spark.run({ table: 'theirs.sales.foreign_s3', read: foreign })
  expect((await spark.ask({ table: 'theirs.sales.foreign_s3', read: ours })).message).toEqual(refused)
  expect((await spark.ask({ table: 'covenant.sales.orders_s3', read: foreign })).message).toEqual(refused)
})

test('vending-spark: a job that outlives its credentials is given others, by the table that it loaded at its start', async () => {
  const table = 'covenant.sales.orders_s3'
  const [own = ''] = await filesOf(table)
  const issued = 'svc_credentials_vended_total{access="write"}'
  const before = await metric(lake.service, issued)
  // Spark's clock is its own: the credentials must have had time to end.
  await spark.run(`SELECT reflect('java.lang.Thread', 'sleep', ${(roleSeconds + 5) * 1000}L)`)
  await spark.run({ table, read: own })
  await spark.run(`INSERT INTO ${table} VALUES (3, 'late')`)
  expect(await metric(lake.service, issued)).toBeGreaterThan(before)
})

test('vending-spark: the job of a revoked session stops when its credentials end, and others go on', async () => {
  const table = 'theirs.sales.foreign_s3'
  const [own = ''] = await filesOf(table)
  await spark.run({ table, read: own })
  await revokeServiceSession(lake.service.store, other.tenant, theirs.id)
  await spark.run(`SELECT reflect('java.lang.Thread', 'sleep', ${(roleSeconds + 5) * 1000}L)`)
  expect((await spark.ask({ table, read: own })).message).toContain('unknown, expired or revoked')
  expect((await spark.ask(`INSERT INTO ${table} VALUES (9, 'no')`)).message).toBeDefined()
  expect(await rows('covenant.sales.secrets_s3')).toEqual([[1, 'secrets']])
})
