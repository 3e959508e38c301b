/** Credentials that the service issues, in the hands of DuckDB, against moto with its IAM enforced (docs/credentials.md). */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { revokeServiceSession } from '../../src/store/session/sessions.ts'
import { send } from '../support/surface.ts'
import { type Lake, type LakeClient, type LakeLogin, startLake } from './lake.ts'

let lake: Lake
let python: LakeClient
let login: LakeLogin
let writer: LakeClient
let reader: LakeClient

beforeAll(async () => {
  lake = await startLake('vend')
  login = await lake.logIn('writer', ['commit'])
  python = lake.python('vending-duckdb-python', await lake.logIn('python', ['commit']))
  writer = lake.duckdb('vending-duckdb-writer', login)
  reader = lake.duckdb('vending-duckdb-reader', await lake.logIn('reader', ['read']))
  await lake.fill(python)
}, 200_000)
afterAll(() => lake?.[Symbol.asyncDispose]())

const table = 'covenant.sales.orders_s3'
const refused = expect.stringMatching(/403|Forbidden|Access Denied|AccessDenied/)

test('vending-duckdb: duckdb writes and reads a table with credentials for its folder', async () => {
  await writer.run(`INSERT INTO ${table} VALUES (2, 'again')`)
  expect(await reader.run(`SELECT id, note FROM ${table} ORDER BY id`)).toEqual([
    [1, 'orders'],
    [2, 'again'],
  ])
})

test('vending-duckdb: a reader writes nothing', async () => {
  expect((await reader.ask(`INSERT INTO ${table} VALUES (9, 'no')`)).message).toBeDefined()
  expect(await reader.run(`SELECT count(*) FROM ${table}`)).toEqual([[2]])
})

test('vending-duckdb: with the credentials of a table, storage refuses whatever lies outside of its folder', async () => {
  const headers = { 'x-iceberg-access-delegation': 'vended-credentials' }
  const path = '/namespaces/sales/tables/orders_s3'
  const as = { tenant: { ...lake.tenant, secret: login.secret }, headers }
  const loaded = await send(lake.service, 'GET', path, undefined, as)
  const { config } = (await loaded.json()) as { config: Record<string, string> }
  const { host } = new URL(lake.storage.url)
  await writer.run(`CREATE SECRET vended (TYPE s3, KEY_ID '${config['s3.access-key-id']}',
    SECRET '${config['s3.secret-access-key']}', SESSION_TOKEN '${config['s3.session-token']}',
    REGION 'us-east-1', ENDPOINT '${host}', URL_STYLE 'path', USE_SSL false)`)
  for (const name of ['orders', 'secrets']) await python.run(['load', { name: `sales.${name}_s3` }])
  const own = (await python.run(['files', { name: 'sales.orders_s3' }])) as readonly string[]
  const others = (await python.run(['files', { name: 'sales.secrets_s3' }])) as readonly string[]
  const size = (location: string) => writer.ask(`SELECT size FROM read_blob('${location}')`)
  for (const location of own) expect(await size(location)).not.toHaveProperty('message')
  for (const location of others) expect((await size(location)).message).toEqual(refused)
  const copy = (to: string) => writer.ask(`COPY (SELECT 1 AS n) TO '${to}' (FORMAT parquet)`)
  expect(await copy(`${lake.place('orders')}/data/x.parquet`)).not.toHaveProperty('message')
  for (const to of [`${lake.place('secrets')}/data/x.parquet`, 's3://lake/x.parquet'])
    expect((await copy(to)).message).toEqual(refused)
})

test('vending-duckdb: a revoked session reads and writes nothing from its next load on', async () => {
  const job = await lake.logIn('job', ['commit'])
  const client = lake.duckdb('vending-duckdb-job', job)
  await client.run(`SELECT count(*) FROM ${table}`)
  await revokeServiceSession(lake.service.store, lake.tenant.tenant, job.id)
  for (const statement of [`SELECT count(*) FROM ${table}`, `INSERT INTO ${table} VALUES (9, 'no')`])
    expect((await client.ask(statement)).message).toMatch(/401|Unauthorized/)
  expect(await reader.run(`SELECT count(*) FROM ${table}`)).toEqual([[2]])
})
