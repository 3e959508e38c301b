/** A tenant's territory over HTTP: sweep, mode, conflicts, grants, releases and hand-overs, with a foreign tenant. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { appendSnapshot, orderFields, schemaOf } from '../../../demo/commits.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { putCatalogCredential } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { listUnusableNames } from '../../../src/store/territory/sweeps.ts'
import { call, type IdentityService, session, startIdentityService } from '../../support/identity.ts'
import { licenseForAll } from '../../support/license.ts'
import { passOn } from '../../support/recording-proxy.ts'
import { addTenant, type TestTenant } from '../../support/service.ts'
import { send } from '../../support/surface.ts'
import { enforceTerritory } from '../../support/territory.ts'

setDefaultTimeout(300_000)

let service: IdentityService
let tenant: TenantId
let administrator: string
let steward: string
let foreign: TestTenant
let outsider: string

type Json = Readonly<Record<string, unknown>>
const ask = async (method: string, path: string, secret: string, body?: unknown) => {
  const response = await call(service, method, `/api/v1/territory${path}`, {
    secret,
    ...(body !== undefined && { body }),
  })
  return { status: response.status, body: (response.status === 204 ? {} : await response.json()) as Json }
}
const items = async (path: string, secret = administrator) =>
  (await ask('GET', path, secret)).body.items as readonly Json[]
const table = (name: string) => ({ namespace: ['sales'], name })
const of = (name: string, prefix?: string) => ({
  catalog: 'main',
  table: table(name),
  ...(prefix && { prefix }),
})
const tables = '/namespaces/sales/tables'
const create = (name: string, location: string) =>
  send(service, 'POST', tables, { name, schema: schemaOf(orderFields), location })
let snapshotId = 1n
const append = async (name: string, manifestList: string) => {
  const text = appendSnapshot({
    snapshotId: ++snapshotId,
    sequenceNumber: 1,
    timestampMs: Date.now(),
    manifestList,
  })
  return (await send(service, 'POST', `${tables}/${name}`, text)).status
}

beforeAll(async () => {
  service = await startIdentityService({ env: { SVC_LICENSE: licenseForAll() } })
  tenant = service.owner.tenant
  foreign = await addTenant(service.store, 'foreign', service.catalog.url)
  const scopes = ['read', 'admin', 'commit'] as const
  administrator = await session(service, tenant, scopes, ['administrator'], 'ada')
  steward = await session(service, tenant, scopes, ['steward'], 'stella')
  outsider = await session(service, foreign.tenant, scopes, ['administrator'], 'mallory')
})
afterAll(() => service[Symbol.asyncDispose]())

test('a tenant enforces only once each of its catalogs was swept', async () => {
  expect((await ask('PUT', '/mode', administrator, { mode: 'enforce' })).status).toBe(409)
  expect((await ask('GET', '', administrator)).body).toMatchObject({
    mode: 'observe',
    sweeps: [{ catalog: 'main', tables: 0, failed: 0 }],
  })
  await service.app.jobs.run('sweep-territory')
  const { body } = await ask('GET', '', administrator)
  expect(body).toMatchObject({
    sweeps: [{ catalog: 'main', tables: 1, failed: 0, finished_at: expect.any(String) }],
  })
  expect((await items('/prefixes')).map((row) => [row.kind, row.table, row.catalog])).toEqual([
    ['location', table('orders'), 'main'],
  ])
  expect((await ask('PUT', '/mode', administrator, { mode: 'enforce' })).status).toBe(204)
  expect((await ask('GET', '', administrator)).body.mode).toBe('enforce')
  // A catalog that is added later is swept by the next run.
  const endpoint = service.catalog.url
  const config = { endpoint, warehouse: 'dev', credential: 'gateway:s3cret' }
  await putCatalogCredential(service.store, tenant, { nickname: 'late', kind: 'alpha', endpoint, config })
  expect((await ask('PUT', '/mode', administrator, { mode: 'enforce' })).status).toBe(409)
  await service.app.jobs.run('sweep-territory')
  expect((await ask('PUT', '/mode', administrator, { mode: 'enforce' })).status).toBe(204)
})

test('a sweep leaves a catalog that fails unswept, and goes on with it when it can', async () => {
  const { id } = await createTenant(service.store, { name: 'unlucky' })
  const secret = await session(service, id, ['read', 'admin'], ['administrator'], 'una')
  const config = { endpoint: service.catalog.url, warehouse: 'dev', credential: 'wrong:secret' }
  await putCatalogCredential(service.store, id, {
    nickname: 'main',
    kind: 'alpha',
    endpoint: config.endpoint,
    config,
  })
  await service.app.jobs.run('sweep-territory')
  const { body } = await ask('GET', '', secret)
  expect(body).toMatchObject({ sweeps: [{ problem: 'the catalog could not be listed' }] })
  expect((body.sweeps as readonly Json[])[0]).not.toHaveProperty('finished_at')
})

test('names in a catalog that the service cannot address are counted by its sweep, with what to do, and stop nothing', async () => {
  const proxy = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url)
      const { answer } = await passOn(request, service.catalog.url, await request.bytes())
      if (request.method !== 'GET' || searchParams.has('parent') || !/\/(namespaces|tables)$/.test(pathname))
        return answer
      const listed = (await answer.json()) as { namespaces?: unknown[]; identifiers?: unknown[] }
      listed.namespaces?.push(['odd name'])
      listed.identifiers?.push(
        { namespace: ['sales'], name: 'my table' },
        { namespace: ['sales'], name: 'ä' },
      )
      return Response.json(listed)
    },
  })
  try {
    const odd = await addTenant(service.store, 'odd', proxy.url.href.replace(/\/$/, ''))
    const secret = await session(service, odd.tenant, ['read', 'admin'], ['administrator'], 'olga')
    await service.app.jobs.run('sweep-territory')
    const [sweep] = (await ask('GET', '', secret)).body.sweeps as readonly Json[]
    expect(sweep).toMatchObject({
      failed: 0,
      finished_at: expect.any(String),
      unusable: {
        count: 3,
        names: expect.arrayContaining(['sales.my table', 'sales.ä', 'odd name']),
        advice: expect.stringContaining('RENAME TO'),
      },
    })
    for (const other of [administrator, outsider])
      for (const one of (await ask('GET', '', other)).body.sweeps as readonly Json[])
        expect(one).not.toHaveProperty('unusable')
    expect((await listUnusableNames(service.store)).map((one) => one.tenant)).toEqual([odd.tenant])
  } finally {
    await proxy.stop(true)
  }
})

test('in observe every stray location is listed, and allowed', async () => {
  await ask('PUT', '/mode', administrator, { mode: 'observe' })
  expect((await create('seen', 's3://lake/seen')).status).toBe(200)
  expect((await create('stray', 's3://lake/stray')).status).toBe(200)
  expect(await append('stray', 's3://lake/seen/metadata/a.avro')).toBe(200)
  expect((await create('above', 's3://lake/seen/below')).status).toBe(200)
  const listed = await items('/conflicts?namespace=sales&table=stray', steward)
  expect(listed).toMatchObject([
    {
      prefix: 's3://lake/seen/metadata/',
      reason: 'foreign',
      source: 'commit',
      owner: table('seen'),
      seen: 1,
    },
  ])
  expect(await items('/conflicts?namespace=sales&table=above', steward)).toMatchObject([
    { prefix: 's3://lake/seen/below/', reason: 'overlap', owner: table('seen') },
  ])
  const [kept] = await items('/conflicts?namespace=sales&table=above')
  expect([kept?.reason, kept?.prefix]).toEqual(['overlap', undefined])
  expect((await ask('GET', '', administrator)).body.conflicts).toBeGreaterThanOrEqual(2)
  await ask('PUT', '/mode', administrator, { mode: 'enforce' })
})

test('a steward grants a prefix that is nobody’s, and no other', async () => {
  expect((await create('fed', 's3://lake/fed')).status).toBe(200)
  expect(await append('fed', 's3://lake/imported/a.avro')).toBe(403)
  const granted = await ask('POST', '/grants', steward, of('fed', 's3a://lake/imported'))
  expect([granted.status, granted.body]).toEqual([200, { prefix: 's3://lake/imported/' }])
  expect(await append('fed', 's3://lake/imported/a.avro')).toBe(200)
  expect((await create('late', 's3://lake/imported/t')).status).toBe(403)
  for (const prefix of ['s3://lake/seen/', 's3://lake/seen/x/', 's3://lake/imported/'])
    expect((await ask('POST', '/grants', steward, of('stray', prefix))).status).toBe(409)
  for (const prefix of ['s3://lake', 's3://lake/a/../b', 'ftp://x/y'])
    expect((await ask('POST', '/grants', steward, of('stray', prefix))).status).toBe(400)
  expect(
    (await ask('POST', '/grants', steward, { ...of('fed', 's3://lake/y/'), catalog: 'none' })).status,
  ).toBe(404)
  expect((await ask('POST', '/releases', administrator, of('fed', 's3://lake/imported'))).body).toEqual({
    released: 1,
  })
  expect(await append('fed', 's3://lake/imported/b.avro')).toBe(403)
})

test('an administrator releases what a dropped table had, and nothing of one that is there', async () => {
  expect((await create('mortal', 's3://lake/mortal')).status).toBe(200)
  expect((await ask('POST', '/releases', administrator, of('mortal'))).status).toBe(409)
  expect((await send(service, 'DELETE', `${tables}/mortal`)).status).toBe(204)
  expect((await create('heir', 's3://lake/mortal')).status).toBe(403)
  expect((await items('/prefixes?namespace=sales&table=mortal'))[0]).toHaveProperty('dropped_at')
  expect((await ask('POST', '/releases', steward, of('mortal'))).status).toBe(403)
  expect((await ask('POST', '/releases', outsider, of('mortal'))).status).toBe(404)
  expect((await ask('POST', '/releases', administrator, of('mortal'))).body).toEqual({ released: 1 })
  expect((await create('heir', 's3://lake/mortal')).status).toBe(200)
})

test('territory is handed over by uuid once the old name is gone', async () => {
  const made = await create('mover', 's3://lake/mover')
  const { metadata } = (await made.json()) as { metadata: { 'table-uuid': string } }
  const handOver = (uuid: string) =>
    ask('POST', '/hand-overs', administrator, { from: of('mover'), to: of('moved'), table_uuid: uuid })
  expect((await handOver(metadata['table-uuid'])).status).toBe(409)
  expect((await send(service, 'DELETE', `${tables}/mover`)).status).toBe(204)
  expect((await create('moved', 's3://lake/mover')).status).toBe(403)
  expect((await handOver('another')).status).toBe(409)
  expect((await handOver(metadata['table-uuid'])).body).toEqual({ handed_over: 1 })
  expect((await create('moved', 's3://lake/mover')).status).toBe(200)
  expect((await create('mover', 's3://lake/mover')).status).toBe(403)
})

test('a sweep tells tables that were dropped past the gateway', async () => {
  expect((await create('past', 's3://lake/past')).status).toBe(200)
  const { headers } = await import('../../support/service.ts').then(async ({ upstreamHeaders }) => ({
    headers: await upstreamHeaders(service.catalog),
  }))
  await fetch(`${service.catalog.url}/v1/dev/namespaces/sales/tables/past`, { method: 'DELETE', headers })
  expect((await ask('POST', '/releases', administrator, of('past'))).status).toBe(409)
  await service.store.tenantQuery(
    tenant,
    `update svc.territory_sweep set started_at = started_at - interval '2 days', finished_at = finished_at - interval '2 days' where tenant_id = $1`,
    [tenant],
  )
  await service.app.jobs.run('sweep-territory')
  expect((await ask('POST', '/releases', administrator, of('past'))).status).toBe(200)
})

test('another tenant sees and changes nothing of it', async () => {
  // Its own sweep of the same upstream came before all but one of the tables.
  expect((await items('/prefixes', outsider)).map((row) => row.table)).toEqual([table('orders')])
  expect(await items('/conflicts', outsider)).toEqual([])
  expect((await ask('POST', '/grants', outsider, of('orders', 's3://lake/seen/'))).status).toBe(200)
  await enforceTerritory(service.store, foreign.tenant)
  expect((await items('/prefixes')).some((row) => row.kind === 'granted')).toBe(false)
})
