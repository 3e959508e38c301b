/**
 * Credentials that the service issues, in the hands of Trino, against moto with its IAM enforced, and what Trino can do
 * where requests are signed instead (docs/credentials.md).
 */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rotateCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { revokeServiceSession } from '../../src/store/session/sessions.ts'
import { metric } from '../support/service.ts'
import { type Lake, type LakeLogin, startLake } from './lake.ts'
import { startTrino, TrinoRefusal, type TrinoServer, trinoSql } from './trino-server.ts'

let lake: Lake
let writer: LakeLogin
let trino: TrinoServer
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  lake = stack.use(await startLake('vend'))
  const signed = await lake.addTenant('signed')
  await rotateCatalogCredential(lake.service.store, signed.tenant, 'main', { 'vending.mode': 'sign' })
  await lake.fill(lake.python('vending-trino-python', await lake.logIn('python', ['commit'])))
  writer = await lake.logIn('writer', ['commit'])
  trino = stack.use(
    await startTrino({
      catalogs: {
        covenant: lake.trinoCatalog(writer),
        reading: lake.trinoCatalog(await lake.logIn('reader', ['read'])),
        // Trino keeps small files of a catalog that it has read.
        blind: lake.trinoCatalog(await lake.logIn('blind', ['read'])),
        signed: lake.trinoCatalog(await lake.logIn('signer', ['read'], signed)),
      },
    }),
  )
}, 300_000)
afterAll(() => stack.disposeAsync())

const run = (statement: string) => trinoSql(trino.url, statement)
/** What Trino's user sees of a refusal, with its causes. */
async function refusal(statement: string): Promise<string> {
  try {
    return `done: ${JSON.stringify(await run(statement))}`
  } catch (thrown) {
    if (!(thrown instanceof TrinoRefusal)) throw thrown
    return [thrown.message, ...thrown.causes].join('\n')
  }
}

const rows = [
  [1, 'orders'],
  [2, 'again'],
]

test('vending-trino: trino creates, writes and reads tables with credentials for their folders', async () => {
  await run(`INSERT INTO covenant.sales.orders_s3 VALUES (2, 'again')`)
  expect(await run('SELECT id, note FROM reading.sales.orders_s3 ORDER BY id')).toEqual(rows)
  await run(`CREATE TABLE covenant.sales.copied_s3 WITH (location = '${lake.place('copied')}')
    AS SELECT id, note FROM covenant.sales.orders_s3`)
  expect(await run('SELECT id, note FROM reading.sales.copied_s3 ORDER BY id')).toEqual(rows)
})

test('vending-trino: a reader writes nothing', async () => {
  const refused = await refusal(`INSERT INTO reading.sales.orders_s3 VALUES (9, 'no')`)
  expect(refused).toMatch(/403|Access Denied|Failed to create|Failed to open/)
  expect(await run('SELECT count(*) FROM reading.sales.orders_s3')).toEqual([[2]])
})

test('vending-trino: who is masked gets no credentials, and reads nothing', async () => {
  const { gateway } = lake.service.app
  const { sightFor } = gateway
  Object.assign(gateway, { sightFor: async () => ({ masked: true, uncontracted: undefined }) })
  try {
    expect(await refusal('SELECT id FROM blind.sales.orders_s3')).not.toStartWith('done')
  } finally {
    Object.assign(gateway, { sightFor })
  }
  expect(await run('SELECT id, note FROM blind.sales.orders_s3 ORDER BY id')).toEqual(rows)
})

test('vending-trino: where requests are signed, trino asks for no signature, gets no keys and reads nothing', async () => {
  const signed = 'svc_requests_signed_total{outcome="signed"}'
  expect(await run(`SHOW TABLES FROM signed.sales LIKE 'orders_s3'`)).toEqual([['orders_s3']])
  expect(await refusal('SELECT id FROM signed.sales.orders_s3')).not.toStartWith('done')
  expect(await metric(lake.service, signed)).toBe(0)
})

test('vending-trino: a revoked session reads and writes nothing from its next load on', async () => {
  await revokeServiceSession(lake.service.store, lake.tenant.tenant, writer.id)
  for (const statement of [
    'SELECT count(*) FROM covenant.sales.orders_s3',
    `INSERT INTO covenant.sales.orders_s3 VALUES (9, 'no')`,
  ])
    expect(await refusal(statement)).toMatch(/401|Unauthorized|Not authorized/i)
  expect(await run('SELECT count(*) FROM reading.sales.orders_s3')).toEqual([[2]])
})
