/**
 * Requests to storage that the service signs, for Iceberg's S3FileIO in Spark, against moto with its keys checked. One
 * JVM has the catalogs of two tenants, because its signer shares its connection among them (docs/credentials.md).
 */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rotateCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { revokeServiceSession } from '../../src/store/session/sessions.ts'
import { metric, type TestTenant } from '../support/service.ts'
import { type Lake, type LakeClient, type LakeLogin, startLake } from './lake.ts'
import { type SparkTenants, startSparkTenants } from './spark-tenants.ts'

let lake: Lake
let other: TestTenant
let theirs: LakeLogin
let spark: LakeClient

let rows: SparkTenants['rows']
let filesOf: SparkTenants['filesOf']

beforeAll(async () => {
  lake = await startLake('sign')
  ;({ other, theirs, spark, rows, filesOf } = await startSparkTenants(lake, 'signing-spark'))
}, 300_000)
afterAll(() => lake?.[Symbol.asyncDispose]())

const refused = expect.stringMatching(/policy denied: the request to storage/)

test('signing-spark: spark creates, writes and reads tables without keys', async () => {
  const signed = 'svc_requests_signed_total{outcome="signed"}'
  const before = await metric(lake.service, signed)
  await spark.run(`INSERT INTO covenant.sales.orders_s3 VALUES (2, 'again')`)
  const all = [
    [1, 'orders'],
    [2, 'again'],
  ]
  expect(await rows('covenant.sales.orders_s3')).toEqual(all)
  expect(await rows('reading.sales.orders_s3')).toEqual(all)
  expect(await metric(lake.service, signed)).toBeGreaterThan(before + 5)
})

/** Writes a file below a table, of which no signature for a read was given. @returns its location */
async function put(table: string, name: string): Promise<string> {
  const location = `${lake.place(name)}/data/${crypto.randomUUID()}`
  await spark.run({ table, write: location })
  return location
}

test('signing-spark: nothing outside of the table is signed, and for a reader nothing that is written', async () => {
  const table = 'covenant.sales.orders_s3'
  const reading = 'reading.sales.orders_s3'
  const [own = ''] = await filesOf(table)
  for (const mine of [table, reading]) await spark.run({ table: mine, read: own })
  const secret = await put('covenant.sales.secrets_s3', 'secrets')
  const beside = await put(table, 'orders')
  for (const [mine, location] of [
    [table, secret],
    [reading, secret],
    [reading, beside],
  ] as const)
    expect((await spark.ask({ table: mine, read: location })).message).toEqual(refused)
  await spark.run({ table, read: beside })
  await spark.run({ table: 'covenant.sales.secrets_s3', read: secret })
  expect((await spark.ask({ table: reading, write: beside })).message).toEqual(refused)
  expect((await spark.ask({ table, write: secret })).message).toEqual(refused)
})

test('signing-spark: catalogs of two tenants in one process do not mix: each asks with its own ticket', async () => {
  const [our, their] = ['covenant.sales.orders_s3', 'theirs.sales.foreign_s3']
  // By turns, because the signer keeps its connection.
  for (let turn = 0; turn < 2; turn++) {
    const [ours, foreign] = [await put(our, 'orders'), await put(their, 'foreign')]
    expect((await spark.ask({ table: their, read: ours })).message).toEqual(refused)
    expect((await spark.ask({ table: our, read: foreign })).message).toEqual(refused)
    await spark.run({ table: our, read: ours })
    await spark.run({ table: their, read: foreign })
    // What was signed for the one a moment ago is not good for the other.
    expect((await spark.ask({ table: their, read: ours })).message).toEqual(refused)
    expect((await spark.ask({ table: our, read: foreign })).message).toEqual(refused)
    expect((await spark.ask({ table: their, write: ours })).message).toEqual(refused)
  }
})

test('signing-spark: the job of a revoked session stops at its next request, and the other catalog goes on', async () => {
  const table = 'theirs.sales.foreign_s3'
  const [own = ''] = await filesOf(table)
  const step = { table, write: `${lake.place('foreign')}/data/staged` }
  await spark.run(step)
  await revokeServiceSession(lake.service.store, other.tenant, theirs.id)
  expect((await spark.ask(step)).message).toContain('The session of the sign ticket has ended')
  expect((await spark.ask(`INSERT INTO ${table} VALUES (9, 'no')`)).message).toBeDefined()
  expect((await spark.ask({ table, read: own })).message).toContain('has ended')
  expect(await rows('covenant.sales.secrets_s3')).toEqual([[1, 'secrets']])
})

// Pins what Iceberg's client does, so that docs/credentials.md stays true: a version that keeps them apart fails here.
test('signing-spark: where signatures may be cached, catalogs of one process share those of reads, by their client', async () => {
  const { store } = lake.service
  await rotateCatalogCredential(store, lake.tenant.tenant, 'main', { 'vending.cache-signatures': true })
  const ours = await put('covenant.sales.orders_s3', 'orders')
  await spark.run({ table: 'covenant.sales.orders_s3', read: ours })
  // Its own session has ended by now, and has nothing signed.
  await spark.run({ table: 'theirs.sales.foreign_s3', read: ours })
})
