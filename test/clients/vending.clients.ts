/**
 * Credentials that the service issues, in the hands of PyIceberg, against moto with its IAM enforced: what they open,
 * what they do not, and what ends them (docs/credentials.md).
 */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { SessionScope } from '../../src/core/session.ts'
import { createServiceSession, revokeServiceSession } from '../../src/store/session/sessions.ts'
import { denySession } from '../../src/vending/deny-session.ts'
import { actorOf } from '../support/actor.ts'
import { allowing } from '../support/address-rules.ts'
import { licenseFor } from '../support/license.ts'
import { addTenant, startTestService, type TestService, type TestTenant } from '../support/service.ts'
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
  readonly python: OpenSession
}

async function openPython(name: string, scopes: readonly SessionScope[]): Promise<Client> {
  const principal = { sub: name, roles: [] }
  const { id, secret } = await createServiceSession(service.store, tenant.tenant, { name, principal, scopes })
  const catalogUri = () => new URL('/v1/iceberg/main', service.app.url).href
  const python = stack.use(
    openSession({
      python: join(packageFolder('python:pyiceberg'), 'bin/python'),
      script: 'vending_session.py',
      log: `vending-${name}`,
      args: [],
      env: { SETTINGS: documentedSettings('PyIceberg', { catalogUri, secret, sessionId: id }) },
      seconds: 250,
    }),
  )
  return { id, python }
}

beforeAll(async () => {
  const moto = stack.use(await startEnforcingMoto(bucket))
  service = stack.use(await startTestService({ env: { SVC_LICENSE: licenseFor('vending') } }))
  tenant = await addTenant(service.store, 'lake', service.catalog.url, {
    'vending.mode': 'vend',
    'vending.role-arn': moto.role,
    'vending.sts-endpoint': moto.url,
    'vending.iam-endpoint': moto.url,
    's3.access-key-id': moto.id,
    's3.secret-access-key': moto.secret,
    's3.endpoint': moto.url,
    's3.region': 'us-east-1',
    storage_roots: [`s3://${bucket}/wh`],
  })
  await enforceTerritory(service.store, tenant.tenant)
  writer = await openPython('writer', ['commit'])
  reader = await openPython('reader', ['read'])
  for (const name of ['orders', 'secrets']) {
    const at = place(name)
    await run(writer, 'create', { name: `sales.${name}_s3`, location: at })
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
const refused = expect.stringMatching(/ACCESS_DENIED|AccessDenied|Access Denied|Forbidden/)

test('vending: pyiceberg writes and reads a table with credentials for its folder', async () => {
  await run(writer, 'append', { ...orders, at: 2, note: 'again' })
  await run(reader, 'load', orders)
  expect(await run(reader, 'read', orders)).toEqual([
    [1, 'orders'],
    [2, 'again'],
  ])
})

test('vending: storage refuses whatever lies outside of the folder', async () => {
  await run(writer, 'load', { name: 'sales.secrets_s3' })
  const others = (await run(writer, 'files', { name: 'sales.secrets_s3' })) as readonly string[]
  expect(others.length).toBeGreaterThan(1)
  for (const location of others) {
    expect(await run(writer, 'get', { name: 'sales.secrets_s3', location })).toBeGreaterThan(0)
    for (const client of [reader, writer])
      expect((await ask(client, 'get', { ...orders, location })).message).toEqual(refused)
  }
  for (const location of [`${place('secrets')}/data/x`, `s3://${bucket}/x`, `${place('orders')}_2/x`])
    expect((await ask(writer, 'put', { ...orders, location })).message).toEqual(refused)
})

test('vending: it lists its own folder, and none beside or above it', async () => {
  const list = (folder: string) => ask(reader, 'list_folder', { ...orders, folder })
  const own = (await list(`${bucket}/wh/orders_s3`)).value as readonly string[]
  expect(own.some((path) => path.endsWith('.parquet'))).toBe(true)
  for (const folder of ['wh/secrets_s3', 'wh/orders', 'wh', ''])
    expect((await list(`${bucket}/${folder}`)).message).toEqual(refused)
})

test('vending: a reader writes nothing, and a writer deletes nothing', async () => {
  const location = `${place('orders')}/data/x`
  expect((await ask(reader, 'put', { ...orders, location })).message).toEqual(refused)
  await run(writer, 'put', { ...orders, location })
  expect((await ask(writer, 'delete', { ...orders, location })).message).toEqual(refused)
})

test('vending: who is masked gets no credentials, and reads nothing', async () => {
  const masked = service.app.gateway.maskedFor
  Object.assign(service.app.gateway, { maskedFor: async () => true })
  try {
    const blind = await openPython('blind', ['read'])
    expect(await run(blind, 'load', orders)).toBe(null)
    expect(await ask(blind, 'read', orders)).toHaveProperty('error')
  } finally {
    Object.assign(service.app.gateway, { maskedFor: masked })
  }
})

test('vending: a revoked session stops at its next load, and at once where the storage is asked to deny it', async () => {
  const job = await openPython('job', ['commit'])
  const beside = await openPython('beside', ['commit'])
  for (const client of [job, beside]) await run(client, 'load', orders)
  const [location = ''] = (await run(job, 'files', orders)) as readonly string[]
  await revokeServiceSession(service.store, tenant.tenant, job.id)

  expect((await ask(job, 'load', orders)).error).toBe('UnauthorizedError')
  expect((await ask(job, 'append', { ...orders, at: 9, note: 'no' })).error).toBe('UnauthorizedError')
  expect(
    (await send(service, 'GET', '/namespaces/sales/tables/orders_s3', undefined, { tenant })).status,
  ).toBe(200)
  // The keys themselves are valid until they expire, or until they are denied.
  expect(await run(job, 'get', { ...orders, location })).toBeGreaterThan(0)
  const parts = { store: service.store, clock: { now: Date.now }, addressRules: allowing('127.0.0.0/8') }
  expect(await denySession(parts, tenant.tenant, job.id, actorOf('admin'))).toHaveLength(1)
  expect((await ask(job, 'get', { ...orders, location })).message).toEqual(refused)
  expect(await run(beside, 'get', { ...orders, location })).toBeGreaterThan(0)
})
