/**
 * Requests to storage that the service signs, for PyIceberg with s3fs, against moto with its keys checked: the client
 * has no keys of its own (docs/credentials.md).
 */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { SessionScope } from '../../src/core/session.ts'
import { createServiceSession, revokeServiceSession } from '../../src/store/session/sessions.ts'
import { licenseFor } from '../support/license.ts'
import { addTenant, metric, startTestService, type TestService, type TestTenant } from '../support/service.ts'
import { send } from '../support/surface.ts'
import { enforceTerritory } from '../support/territory.ts'
import { documentedSettings } from './client-docs.ts'
import { startEnforcingMoto } from './moto.ts'
import { packageFolder } from './packages.ts'
import { type OpenSession, openSession, type Step } from './sessions.ts'

const stack = new AsyncDisposableStack()
const bucket = 'lake'
let service: TestService
let tenant: TestTenant
let writer: Client
let reader: Client

interface Client {
  readonly id: string
  readonly secret: string
  readonly python: OpenSession
}

async function open(name: string, scopes: readonly SessionScope[]): Promise<Client> {
  const principal = { sub: name, roles: [] }
  const { id, secret } = await createServiceSession(service.store, tenant.tenant, { name, principal, scopes })
  const catalogUri = () => new URL('/v1/iceberg/main', service.app.url).href
  const python = stack.use(
    openSession({
      python: join(packageFolder('python:pyiceberg-s3fs'), 'bin/python'),
      script: 'vending_session.py',
      log: `signing-${name}`,
      args: [],
      env: {
        SETTINGS: documentedSettings('PyIceberg', { catalogUri, secret, sessionId: id }),
        PYICEBERG_CATALOG__COVENANT__PY_IO_IMPL: 'pyiceberg.io.fsspec.FsspecFileIO',
        PYICEBERG_CATALOG__COVENANT__HEADER__X_ICEBERG_ACCESS_DELEGATION: 'remote-signing',
        AWS_EC2_METADATA_DISABLED: 'true',
      },
      seconds: 250,
    }),
  )
  return { id, secret, python }
}

beforeAll(async () => {
  const moto = stack.use(await startEnforcingMoto(bucket))
  service = stack.use(await startTestService({ env: { SVC_LICENSE: licenseFor('vending') } }))
  tenant = await addTenant(service.store, 'lake', service.catalog.url, {
    'vending.mode': 'sign',
    's3.access-key-id': moto.id,
    's3.secret-access-key': moto.secret,
    's3.endpoint': moto.url,
    's3.region': 'us-east-1',
    storage_roots: [`s3://${bucket}/wh`],
  })
  await enforceTerritory(service.store, tenant.tenant)
  writer = await open('writer', ['commit'])
  reader = await open('reader', ['read'])
  for (const name of ['orders', 'secrets']) {
    await run(writer, 'create', { name: `sales.${name}_s3`, location: place(name) })
    await run(writer, 'append', { name: `sales.${name}_s3`, at: 1, note: name })
  }
}, 200_000)
afterAll(() => stack.disposeAsync())

const place = (name: string) => `s3://${bucket}/wh/${name}_s3`
const ask = ({ python }: Client, step: string, given: object): Promise<Step> => python.ask([step, given])
/** What a step comes to. @throws Error with its message where it is refused */
async function run(client: Client, step: string, given: object): Promise<unknown> {
  const { value, message } = await ask(client, step, given)
  if (message !== undefined) throw new Error(`${step} ${JSON.stringify(given)}: ${message}`)
  return value
}
const orders = { name: 'sales.orders_s3' }

test('signing: pyiceberg writes and reads a table without keys', async () => {
  const signed = 'svc_requests_signed_total{outcome="signed"}'
  const before = await metric(service, signed)
  await run(writer, 'append', { ...orders, at: 2, note: 'again' })
  expect(await run(reader, 'load', orders)).toBe(null)
  expect(await run(reader, 'read', orders)).toEqual([
    [1, 'orders'],
    [2, 'again'],
  ])
  expect(await metric(service, signed)).toBeGreaterThan(before + 5)
})

test('signing: nothing outside of the table is signed', async () => {
  await run(writer, 'load', { name: 'sales.secrets_s3' })
  const others = (await run(writer, 'files', { name: 'sales.secrets_s3' })) as readonly string[]
  for (const location of others) {
    expect(await run(writer, 'get', { name: 'sales.secrets_s3', location })).toBeGreaterThan(0)
    for (const client of [reader, writer])
      expect(await ask(client, 'get', { ...orders, location })).toHaveProperty('error')
  }
  expect(await ask(writer, 'put', { ...orders, location: `${place('secrets')}/x` })).toHaveProperty('error')
})

test('signing: a reader has the files of its snapshot, and no other of the table', async () => {
  await run(reader, 'load', orders)
  const [first = ''] = (await run(reader, 'files', orders)) as readonly string[]
  expect(await run(reader, 'get', { ...orders, location: first })).toBeGreaterThan(0)
  const beside = `${place('orders')}/data/beside`
  await run(writer, 'put', { ...orders, location: beside })
  expect(await run(writer, 'get', { ...orders, location: beside })).toBe(1)
  expect(await ask(reader, 'get', { ...orders, location: beside })).toHaveProperty('error')
  expect(await ask(reader, 'put', { ...orders, location: `${place('orders')}/y` })).toHaveProperty('error')
})

test('signing: a revoked session has nothing signed from then on, whatever session is sent beside its ticket', async () => {
  const job = await open('job', ['commit'])
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
  expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'private'])
  const given = Object.fromEntries(
    Object.entries(signed.headers).map(([name, [value = '']]) => [name, value]),
  )
  expect((await fetch(signed.uri, { headers: given })).status).toBe(200)
  expect((await fetch(signed.uri)).status).toBe(403)

  await revokeServiceSession(service.store, tenant.tenant, job.id)
  expect((await sign()).response.status).toBe(401)
  expect(await ask(job, 'get', { ...orders, location })).toHaveProperty('error')
})
