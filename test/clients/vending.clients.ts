/**
 * Credentials that the service issues, in the hands of PyIceberg, against moto with its IAM enforced: what they open,
 * what they do not, and what ends them (docs/credentials.md).
 */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { revokeServiceSession } from '../../src/store/session/sessions.ts'
import { denySession } from '../../src/vending/deny-session.ts'
import { actorOf } from '../support/actor.ts'
import { allowing } from '../support/address-rules.ts'
import { send } from '../support/surface.ts'
import { type Lake, type LakeClient, startLake } from './lake.ts'

let lake: Lake
let writer: LakeClient
let reader: LakeClient

const open = async (name: string, scope: 'read' | 'commit') =>
  lake.python(`vending-${name}`, await lake.logIn(name, [scope]))

beforeAll(async () => {
  lake = await startLake('vend')
  writer = await open('writer', 'commit')
  reader = await open('reader', 'read')
  await lake.fill(writer)
}, 200_000)
afterAll(() => lake?.[Symbol.asyncDispose]())

const ask = (client: LakeClient, step: string, given: object) => client.ask([step, given])
const run = (client: LakeClient, step: string, given: object) => client.run([step, given])
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
  for (const location of [`${lake.place('secrets')}/data/x`, `s3://lake/x`, `${lake.place('orders')}_2/x`])
    expect((await ask(writer, 'put', { ...orders, location })).message).toEqual(refused)
})

test('vending: it lists its own folder, and none beside or above it', async () => {
  const list = (folder: string) => ask(reader, 'list_folder', { ...orders, folder })
  const own = (await list('lake/wh/orders_s3')).value as readonly string[]
  expect(own.some((path) => path.endsWith('.parquet'))).toBe(true)
  for (const folder of ['wh/secrets_s3', 'wh/orders', 'wh', ''])
    expect((await list(`lake/${folder}`)).message).toEqual(refused)
})

test('vending: a reader writes nothing, and a writer deletes nothing', async () => {
  const location = `${lake.place('orders')}/data/x`
  expect((await ask(reader, 'put', { ...orders, location })).message).toEqual(refused)
  await run(writer, 'put', { ...orders, location })
  expect((await ask(writer, 'delete', { ...orders, location })).message).toEqual(refused)
})

test('vending: who is masked gets no credentials, and reads nothing', async () => {
  const masked = lake.service.app.gateway.sightFor
  Object.assign(lake.service.app.gateway, {
    sightFor: async () => ({ masked: true, uncontracted: undefined }),
  })
  try {
    const blind = await open('blind', 'read')
    expect(await run(blind, 'load', orders)).toBe(null)
    expect(await ask(blind, 'read', orders)).toHaveProperty('error')
  } finally {
    Object.assign(lake.service.app.gateway, { sightFor: masked })
  }
})

test('vending: what a revoked session wrote and did not commit is listed from the storage, and nothing else', async () => {
  const { service, tenant } = lake
  const job = await open('leaver', 'commit')
  await run(job, 'load', orders)
  await run(job, 'append', { ...orders, at: 3, note: 'committed' })
  const left = `${lake.place('orders')}/data/left behind=1.parquet`
  await run(job, 'put', { ...orders, location: left })
  await revokeServiceSession(service.store, tenant.tenant, job.id)
  const administrator = await lake.logInAs('administrator')
  const listed = await fetch(new URL(`/api/v1/credentials/staged?session=${job.id}`, service.app.url), {
    headers: { 'x-svc-session': administrator },
  })
  const { items } = (await listed.json()) as { items: readonly Record<string, unknown>[] }
  const found = items.map(({ location, problem }) => location ?? problem)
  expect(found).toContain(left)
  // The upload of another test; storage does not say whose it is.
  expect(found.filter((one) => one !== left)).toEqual([`${lake.place('orders')}/data/x`])
})

test('vending: a revoked session stops at its next load, and at once where the storage is asked to deny it', async () => {
  const job = await open('job', 'commit')
  const beside = await open('beside', 'commit')
  for (const client of [job, beside]) await run(client, 'load', orders)
  const [location = ''] = (await run(job, 'files', orders)) as readonly string[]
  const { service, tenant } = lake
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
