/** Tables that were made in the catalog itself: a contract that is put on one takes its columns from the catalog. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DevCatalog, startDevCatalog } from '../../demo/catalog/dev-catalog.ts'
import { type IcebergWriter, tableInFolder } from '../../demo/lake/iceberg-writer.ts'
import type { Field, Row } from '../../demo/lake/table-fields.ts'
import { sessionScopes } from '../../src/core/session.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { putCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { loadGovernance } from '../../src/store/governance/governance.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { freePort } from '../support/free-port.ts'
import { call, session } from '../support/identity.ts'
import { type Lake, readAs, startLake } from '../support/lake.ts'
import { licenseForAll } from '../support/license.ts'
import { messageOf } from '../support/surface.ts'

setDefaultTimeout(300_000)

let folder: string
let catalog: DevCatalog
let lake: Lake
let steward: string
let foreign: TenantId
let foreignSteward: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'covenant-existing-'))
  catalog = await startDevCatalog({ folder: join(folder, 'catalog') })
  lake = await startLake({
    ...{ catalog: { url: catalog.url, warehouse: 'dev', folder }, tables: [] },
    env: { SVC_LICENSE: licenseForAll() },
  })
  steward = await session(lake, lake.tenant, sessionScopes, ['steward'])
  foreign = (await createTenant(lake.store, { name: 'foreign' })).id
  foreignSteward = await session(lake, foreign, sessionScopes, ['steward'])
})
afterAll(async () => {
  await lake[Symbol.asyncDispose]()
  await catalog.stop()
  await rm(folder, { recursive: true, force: true })
})

const people: readonly Field[] = [
  { id: 1, name: 'id', type: 'long', required: true },
  { id: 2, name: 'Email', type: 'string' },
  { id: 3, name: 'home', type: { struct: [{ id: 4, name: 'city', type: 'string' }] } },
  { id: 5, name: 'labels', type: { list: 'string', elementId: 6 } },
]
const rows: readonly Row[] = [
  { id: 1, Email: 'ann@example.org', home: { city: 'Bern' }, labels: ['a'] },
  { id: 2, Email: 'bob@example.org', home: { city: 'Ulm' }, labels: [] },
]

async function toCatalog(path: string, body: object, at = catalog): Promise<void> {
  const made = await fetch(`${at.url}/v1/dev/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!made.ok && made.status !== 409) throw new Error(`${made.status} ${await made.text()}`)
}

/** What a writer leaves that never heard of the gateway. */
async function madeInCatalog(
  namespace: string,
  name: string,
  { fields = people, appends = rows }: { fields?: readonly Field[]; appends?: readonly Row[] } = {},
): Promise<IcebergWriter> {
  const table = tableInFolder(join(folder, 'catalog/warehouse', namespace), name, { fields })
  const { metadataLocation } = await table.append([{ rows: appends }])
  await toCatalog('namespaces', { namespace: [namespace] })
  await toCatalog(`namespaces/${namespace}/register`, { name, 'metadata-location': metadataLocation })
  return table
}

/** A change of the catalog's table that does not come through the gateway. */
const addColumn = (namespace: string, name: string, column: { id: number; name: string }) =>
  toCatalog(`namespaces/${namespace}/tables/${name}`, {
    requirements: [],
    updates: [
      {
        action: 'add-schema',
        schema: {
          type: 'struct',
          'schema-id': 1,
          fields: [
            { id: 1, name: 'id', type: 'long', required: true },
            { id: 2, name: 'Email', type: 'string', required: false },
            { ...column, type: 'string', required: false },
          ],
        },
      },
      { action: 'set-current-schema', 'schema-id': -1 },
    ],
  })

const at = (namespace: string, name: string) => `/api/v1/contracts/tables/${namespace}/${name}`
const request = (method: string, path: string, body?: unknown, secret = steward) =>
  call(lake, method, path, { secret, body })
const put = async (path: string, body: unknown, secret = steward) => {
  const { status } = await request('PUT', path, body, secret)
  return status
}
/** Sends a document of the table crm.NAME, with a mask and a row filter. */
function sendDocument(method: string, name: string, below: string): Promise<Response> {
  const mask = { id: 'm', action: 'replace-with-null', exemptRoles: ['officer'] }
  const own = (value: object) => [{ property: 'covenant', vendor: 'covenant', value }]
  const document = {
    ...{ apiVersion: 'v3.2.0', kind: 'DataContract', id: name, version: '1.0.0', status: 'active' },
    schema: [
      {
        name,
        customProperties: own({
          table: { namespace: ['crm'], name },
          rowFilters: [{ id: 'f', expression: 'id = 2' }],
        }),
        properties: [
          { name: 'Email', logicalType: 'string', customProperties: own({ masks: [mask] }) },
          { name: 'home', logicalType: 'object' },
        ],
      },
    ],
  }
  return call(lake, method, `/api/v1/contracts/documents/${name}${below}`, {
    ...{ secret: steward, body: JSON.stringify(document) },
    headers: { 'content-type': 'application/json' },
  })
}

const columnsOf = async (namespace: string, name: string, tenant = lake.tenant) =>
  (await loadGovernance(lake.store, tenant, { namespace: [namespace], name }))?.columns.map(
    ({ name }) => name,
  ) ?? []

describe('a table that was made in the catalog and never committed through the gateway', () => {
  test('has its columns when a contract is put: masks, tags, filters and SELECT * work at once', async () => {
    await madeInCatalog('crm', 'people')
    const table = at('crm', 'people')
    expect([
      await put(table, { id: 'people', version: 1, properties: [{ name: 'Email', unique: true }] }),
      await put(`${table}/columns/Email/masks/m`, { action: 'replace-with-null', exempt_roles: ['officer'] }),
      await put(`${table}/columns/home.city/tags/place`, undefined),
      await put(`${table}/row-filters/f`, { expression: 'id = 1', exempt_roles: ['officer'] }),
    ]).toEqual([204, 204, 204, 204])
    expect(await readAs(lake.env, 'SELECT * FROM crm.people ORDER BY id')).toEqual([
      'D 1|ann@example.org|{"city": "Bern"}|{a}',
      'D 2|bob@example.org|{"city": "Ulm"}|{}',
      'C SELECT 2',
    ])
    expect(await readAs(lake.restricted, 'SELECT id, "Email" FROM crm.people')).toEqual([
      'D 1|NULL',
      'C SELECT 1',
    ])
  })

  test('is another one than that of the same name of a foreign tenant', async () => {
    await madeInCatalog('crm', 'visits')
    expect(await put(at('crm', 'visits'), { id: 'visits', version: 1 })).toBe(204)
    expect(await columnsOf('crm', 'visits')).toContain('Email')
    // The foreign tenant has no catalog with the table.
    expect(await put(at('crm', 'visits'), { id: 'visits', version: 1 }, foreignSteward)).toBe(204)
    expect(await columnsOf('crm', 'visits', foreign)).toEqual([])
    const mask = `${at('crm', 'visits')}/columns/Email/masks/m`
    expect(await put(mask, { action: 'replace-with-null' }, foreignSteward)).toBe(404)
  })

  test('is refused a contract that declares a column which it does not have, and nothing is recorded', async () => {
    await madeInCatalog('crm', 'leads')
    const body = { id: 'leads', version: 1, properties: [{ name: 'email' }] }
    const refused = await request('PUT', at('crm', 'leads'), body)
    expect([refused.status, await messageOf(refused)]).toEqual([422, 'Table crm.leads has no column email.'])
    expect(await columnsOf('crm', 'leads')).toEqual([])
  })

  test('may have capitals in its name', async () => {
    await madeInCatalog('CRM', 'People')
    expect(await put(at('CRM', 'People'), { id: 'capitals', version: 1 })).toBe(204)
    expect(await readAs(lake.env, 'SELECT "Email" FROM "CRM"."People" WHERE id = 2')).toEqual([
      'D bob@example.org',
      'C SELECT 1',
    ])
  })

  test('comes under a document with its masks in one step', async () => {
    await madeInCatalog('crm', 'accounts')
    const answer = await sendDocument('PUT', 'accounts', '')
    expect([answer.status, answer.ok ? '' : await messageOf(answer)]).toEqual([200, ''])
    expect(await readAs(lake.restricted, 'SELECT id, "Email" FROM crm.accounts')).toEqual([
      'D 2|NULL',
      'C SELECT 1',
    ])
  })

  test('comes under a version with its masks when that is deployed', async () => {
    await madeInCatalog('crm', 'deals')
    const settings = '/api/v1/contracts/life-cycle-settings'
    expect((await request('PUT', settings, { deploy_unverified: true })).status).toBe(204)
    const added = (await (await sendDocument('POST', 'deals', '/versions')).json()) as { sha256: string }
    const version = '/api/v1/contracts/documents/deals/versions/1'
    const other = await session(lake, lake.tenant, sessionScopes, ['steward'], 'sten')
    const move = (name: string) => request('POST', `${version}/moves`, { move: name })
    expect((await move('propose')).status).toBe(200)
    expect((await request('POST', `${version}/sign-offs`, { sha256: added.sha256 }, other)).status).toBe(200)
    expect(await columnsOf('crm', 'deals')).toEqual([])
    const deployed = await move('deploy')
    expect([deployed.status, deployed.ok ? '' : await messageOf(deployed)]).toEqual([200, ''])
    expect(await readAs(lake.restricted, 'SELECT id, "Email" FROM crm.deals')).toEqual([
      'D 2|NULL',
      'C SELECT 1',
    ])
  })
})

test('a column that came by a change of the schema alone is there for rules when the contract is put again', async () => {
  await madeInCatalog('crm', 'late', { fields: people.slice(0, 2), appends: [{ id: 1, Email: 'a@b.org' }] })
  const table = at('crm', 'late')
  expect(await put(table, { id: 'late', version: 1 })).toBe(204)
  await addColumn('crm', 'late', { id: 9, name: 'phone' })
  const mask = `${table}/columns/phone/masks/m`
  expect(await put(mask, { action: 'replace-with-null' })).toBe(404)
  expect(await put(table, { id: 'late', version: 2 })).toBe(204)
  expect(await put(mask, { action: 'replace-with-null' })).toBe(204)
  expect(await readAs(lake.env, 'SELECT * FROM crm.late')).toEqual(['D 1|a@b.org|NULL', 'C SELECT 1'])
})

test('a table that no catalog has comes under a contract all the same, without columns', async () => {
  expect(await put(at('crm', 'planned'), { id: 'planned', version: 1 })).toBe(204)
  expect(await columnsOf('crm', 'planned')).toEqual([])
})

describe('where the tenant has several catalogs', () => {
  let second: DevCatalog
  const credential = (nickname: string, endpoint: string) =>
    putCatalogCredential(lake.store, lake.tenant, {
      ...{ nickname, kind: 'alpha', endpoint },
      config: { endpoint, warehouse: 'dev', storage_roots: [`file://${folder}`] },
    })

  beforeAll(async () => {
    second = await startDevCatalog({ folder: join(folder, 'second') })
    await credential('second', second.url)
  })
  afterAll(() => second.stop())

  test('a table that two of them have takes the name of the one that is meant', async () => {
    await madeInCatalog('both', 't')
    const other = tableInFolder(join(folder, 'second/warehouse/both'), 't', {
      fields: [{ id: 1, name: 'other', type: 'long' }],
    })
    const { metadataLocation } = await other.append([{ rows: [{ other: 1 }] }])
    await toCatalog('namespaces', { namespace: ['both'] }, second)
    const registered = { name: 't', 'metadata-location': metadataLocation }
    await toCatalog('namespaces/both/register', registered, second)

    const refused = await request('PUT', at('both', 't'), { id: 'both', version: 1 })
    expect([refused.status, await messageOf(refused)]).toEqual([
      409,
      'The catalogs lake and second each have a table both.t. Name one as `catalog` when you put a contract on the table.',
    ])
    expect(await put(at('both', 't'), { id: 'both', version: 1, catalog: 'second' })).toBe(204)
    expect(await columnsOf('both', 't')).toEqual(['other'])
    // What is recorded stays that of the named catalog.
    expect(await put(at('both', 't'), { id: 'both', version: 2 })).toBe(204)
    expect(await columnsOf('both', 't')).toEqual(['other'])
    const unknown = await request('PUT', at('both', 't'), { id: 'both', version: 3, catalog: 'third' })
    expect([unknown.status, await messageOf(unknown)]).toEqual([404, 'There is no such catalog.'])
    const absent = await request('PUT', at('both', 'u'), { id: 'u', version: 1, catalog: 'second' })
    expect([absent.status, await messageOf(absent)]).toEqual([404, 'The catalog second has no table both.u.'])
  })

  test('one that is away refuses a table that is not recorded yet, and no other', async () => {
    await madeInCatalog('crm', 'here')
    await credential('gone', `http://127.0.0.1:${freePort()}`)
    const refused = await request('PUT', at('crm', 'here'), { id: 'here', version: 1 })
    expect(refused.status).toBe(503)
    expect(await messageOf(refused)).toStartWith('The catalog gone could not be asked for the table crm.here')
    expect(await put(at('crm', 'here'), { id: 'here', version: 1, catalog: 'lake' })).toBe(204)
    expect(await columnsOf('crm', 'here')).toContain('Email')
    expect(await put(at('crm', 'here'), { id: 'here', version: 2 })).toBe(204)
  })
})
