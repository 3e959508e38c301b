/** A scan plan of the upstream names no file outside of its table's territory: the upstream opens what a snapshot names. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { operator } from '../../../src/core/administration.ts'
import { putTerritoryMode } from '../../../src/store/territory/administer-territory.ts'
import { listConflicts } from '../../../src/store/territory/list-territory.ts'
import { startUpstream, type TestUpstream } from '../../catalog/upstream.ts'
import { addTenant, startTestService, type TestService, type TestTenant } from '../../support/service.ts'
import { messageOf, send } from '../../support/surface.ts'
import { enforceTerritory } from '../../support/territory.ts'

setDefaultTimeout(300_000)

let service: TestService
let upstream: TestUpstream
let tenant: TestTenant
let foreign: TestTenant
/** What the upstream answers to a plan. */
let plan: unknown

const result = {
  'metadata-location': 's3://lake/own/metadata/1.json',
  metadata: {
    'format-version': 2,
    'table-uuid': '9c12d441-03fe-4693-9a96-a0705ddf69c1',
    location: 's3://lake/own',
    properties: {},
  },
}
const secret = {
  ...result.metadata,
  'table-uuid': '9c12d441-03fe-4693-9a96-a0705ddf69c2',
  location: 's3://lake/secret',
}

beforeAll(async () => {
  service = await startTestService()
  upstream = startUpstream(async (_, path) => {
    if (path.endsWith('/oauth/tokens')) return Response.json({ access_token: 'upstream-token' })
    if (/\/(?:plan|tasks)(?:\/|$)/.test(path))
      return typeof plan === 'string' ? new Response(plan) : Response.json(plan)
    if (path.endsWith('/tables/secret')) return Response.json({ ...result, metadata: secret })
    return Response.json(result)
  })
  tenant = await addTenant(service.store, 'plans', upstream.url.replace(/\/$/, ''), {
    storage_roots: ['s3://lake'],
  })
  foreign = await addTenant(service.store, 'others', upstream.url.replace(/\/$/, ''), {
    storage_roots: ['s3://lake'],
  })
  for (const { tenant: id } of [tenant, foreign]) await enforceTerritory(service.store, id)
  expect((await send(service, 'GET', '/namespaces/n/tables/secret', undefined, { tenant })).status).toBe(200)
})
afterAll(async () => {
  await upstream.stop()
  await service[Symbol.asyncDispose]()
})

const data = (path: string, more: object = {}) => ({
  'data-file': {
    content: 'data',
    'file-path': path,
    'file-format': 'parquet',
    'lower-bounds': { keys: [2], values: ['434e'] },
  },
  ...more,
})
const deletes = (path: string) => ({
  content: 'equality-deletes',
  'file-path': path,
  'file-format': 'parquet',
})
const completed = (more: object) => ({ status: 'completed', 'plan-id': 'p', ...more })
const asked = [
  ['POST', '/plan'],
  ['GET', '/plan/p'],
  ['POST', '/tasks'],
] as const
const ask = (method: string, path: string, of = tenant) =>
  send(service, method, `/namespaces/n/tables/own${path}`, method === 'POST' ? {} : undefined, { tenant: of })

const strays: Readonly<Record<string, object>> = {
  'a data file of another table': {
    'file-scan-tasks': [data('s3://lake/own/data/a'), data('s3://lake/secret/data/b')],
  },
  'a delete file of another table': {
    'file-scan-tasks': [data('s3://lake/own/data/a')],
    'delete-files': [deletes('s3a://lake/secret/data/b')],
  },
  'a data file that is nobody’s': { 'file-scan-tasks': [data('s3://lake/nobody/b')] },
  'a file that readers find in different places': { 'file-scan-tasks': [data('s3://lake/own//data/b')] },
}

describe.each(asked)('%s …%s', (method, path) => {
  test('passes where every file is the table’s', async () => {
    const files = {
      'file-scan-tasks': [data('s3a://lake/own/data/a')],
      'delete-files': [deletes('s3://lake/own/data/d')],
    }
    plan = completed({ ...files, 'plan-tasks': ['opaque'] })
    const answer = await ask(method, path)
    expect([answer.status, await answer.json()]).toEqual([200, plan])
    plan = { status: 'submitted', 'plan-id': 'p' }
    expect((await ask(method, path)).status).toBe(200)
  })

  test.each(Object.entries(strays))('is denied where the plan names %s', async (_, files) => {
    plan = completed(files)
    const answer = await ask(method, path)
    expect(answer.status).toBe(403)
    expect(await messageOf(answer)).toBe(
      'policy denied: the snapshot of n.own names files outside of its territory, so no scan is planned',
    )
  })

  test.each([
    { 'file-scan-tasks': 'none' },
    { 'file-scan-tasks': [{}] },
    { 'file-scan-tasks': [data('s3://lake/own/a'), { 'data-file': { 'file-path': 1 } }] },
    { 'delete-files': [{ content: 'equality-deletes' }] },
  ])('is refused where it cannot be told what it names: %j', async (files) => {
    plan = completed(files)
    expect((await ask(method, path)).status).toBe(502)
  })

  test('is refused where it is malformed', async () => {
    plan = '{"status":"completed","file-scan-tasks":[{"data-file":{"file-path":"s3://lake/own/\\uD800"}}]}'
    expect((await ask(method, path)).status).toBe(502)
  })
})

test('another tenant’s territory is not met', async () => {
  plan = completed({ 'file-scan-tasks': [data('s3://lake/own/data/a')] })
  expect((await ask('POST', '/plan', foreign)).status).toBe(200)
})

test('in observe the plan passes, and each folder is listed', async () => {
  await putTerritoryMode(service.store, tenant.tenant, 'observe', operator())
  plan = completed(strays['a data file of another table'] ?? {})
  const answer = await ask('POST', '/plan')
  expect([answer.status, await answer.json()]).toEqual([200, plan])
  const { items } = await listConflicts(service.store, tenant.tenant, { limit: 10 })
  expect(items).toMatchObject([
    { prefix: 's3://lake/secret/data/', reason: 'foreign', source: 'load', owner: { name: 'secret' } },
  ])
  expect((await listConflicts(service.store, foreign.tenant, { limit: 10 })).items).toEqual([])
})
