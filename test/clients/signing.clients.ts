/**
 * Requests to storage that the service signs, for PyIceberg with s3fs, against moto with its keys checked: the client
 * has no keys of its own (docs/credentials.md).
 */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { revokeServiceSession } from '../../src/store/session/sessions.ts'
import { metric } from '../support/service.ts'
import { send } from '../support/surface.ts'
import { type Lake, type LakeClient, startLake } from './lake.ts'

let lake: Lake
let writer: LakeClient
let reader: LakeClient

const open = async (name: string, scope: 'read' | 'commit') =>
  lake.python(`signing-${name}`, await lake.logIn(name, [scope]))

beforeAll(async () => {
  lake = await startLake('sign')
  writer = await open('writer', 'commit')
  reader = await open('reader', 'read')
  await lake.fill(writer)
}, 200_000)
afterAll(() => lake?.[Symbol.asyncDispose]())

const ask = (client: LakeClient, step: string, given: object) => client.ask([step, given])
const run = (client: LakeClient, step: string, given: object) => client.run([step, given])
const orders = { name: 'sales.orders_s3' }

test('signing: pyiceberg writes and reads a table without keys', async () => {
  const signed = 'svc_requests_signed_total{outcome="signed"}'
  const before = await metric(lake.service, signed)
  await run(writer, 'append', { ...orders, at: 2, note: 'again' })
  expect(await run(reader, 'load', orders)).toBe(null)
  expect(await run(reader, 'read', orders)).toEqual([
    [1, 'orders'],
    [2, 'again'],
  ])
  expect(await metric(lake.service, signed)).toBeGreaterThan(before + 5)
})

test('signing: nothing outside of the table is signed', async () => {
  await run(writer, 'load', { name: 'sales.secrets_s3' })
  const others = (await run(writer, 'files', { name: 'sales.secrets_s3' })) as readonly string[]
  for (const location of others) {
    expect(await run(writer, 'get', { name: 'sales.secrets_s3', location })).toBeGreaterThan(0)
    for (const client of [reader, writer])
      expect(await ask(client, 'get', { ...orders, location })).toHaveProperty('error')
  }
  expect(await ask(writer, 'put', { ...orders, location: `${lake.place('secrets')}/x` })).toHaveProperty(
    'error',
  )
})

test('signing: a reader has the files of its snapshot, and no other of the table', async () => {
  await run(reader, 'load', orders)
  const [first = ''] = (await run(reader, 'files', orders)) as readonly string[]
  expect(await run(reader, 'get', { ...orders, location: first })).toBeGreaterThan(0)
  const beside = `${lake.place('orders')}/data/beside`
  await run(writer, 'put', { ...orders, location: beside })
  expect(await run(writer, 'get', { ...orders, location: beside })).toBe(1)
  expect(await ask(reader, 'get', { ...orders, location: beside })).toHaveProperty('error')
  expect(await ask(reader, 'put', { ...orders, location: `${lake.place('orders')}/y` })).toHaveProperty(
    'error',
  )
})

test('signing: a revoked session has nothing signed from then on, whatever session is sent beside its ticket', async () => {
  const job = await open('job', 'commit')
  const { service, tenant } = lake
  await run(job, 'load', orders)
  const [location = ''] = (await run(job, 'files', orders)) as readonly string[]
  const headers = { 'x-iceberg-access-delegation': 'remote-signing', 'x-svc-session': job.secret }
  const loaded = await send(service, 'GET', '/namespaces/sales/tables/orders_s3', undefined, {
    tenant: { ...tenant, secret: job.secret },
    headers,
  })
  const { config } = (await loaded.json()) as { config: Record<string, string> }
  const sign = async () => {
    const uri = location.replace('s3://', `${config['s3.endpoint']}/`)
    // The session of another tenant, as Java's client sends that of its first catalog.
    const response = await fetch(new URL(`/v1/iceberg/main/${config['signer.endpoint']}`, service.app.url), {
      method: 'POST',
      headers: { 'x-svc-session': service.owner.secret, 'content-type': 'application/json' },
      body: JSON.stringify({ method: 'GET', region: 'us-east-1', uri, headers: {} }),
    })
    const signed = (await response.json()) as { uri: string; headers: Record<string, string[]> }
    return { response, signed }
  }
  const { response, signed } = await sign()
  expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-cache'])
  const given = Object.fromEntries(
    Object.entries(signed.headers).map(([name, [value = '']]) => [name, value]),
  )
  expect((await fetch(signed.uri, { headers: given })).status).toBe(200)
  expect((await fetch(signed.uri)).status).toBe(403)

  await revokeServiceSession(service.store, tenant.tenant, job.id)
  expect((await sign()).response.status).toBe(401)
  expect(await ask(job, 'get', { ...orders, location })).toHaveProperty('error')
})
