/**
 * Derived grants: a shallow clone shares its source's files, and every filter and mask of the source by field id. The
 * clone is what Spark's `snapshot` makes: manifests of its own that name the source's data files.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type DevCatalog, startDevCatalog } from '../../../demo/catalog/dev-catalog.ts'
import { appendSnapshot } from '../../../demo/commits.ts'
import { type IcebergWriter, tableInFolder } from '../../../demo/lake/iceberg-writer.ts'
import { putContract } from '../../../src/contract/put-contract.ts'
import { putMask } from '../../../src/contract/put-mask.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { isMaskedFor } from '../../../src/store/governance/protections.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { actorOf } from '../../support/actor.ts'
import { forgeTable } from '../../support/forged-table.ts'
import { commitColumns } from '../../support/governed.ts'
import { ask, session } from '../../support/identity.ts'
import { type Lake, readAs, startLake } from '../../support/lake.ts'
import { manifestFolder } from '../../support/manifests.ts'
import { enforceTerritory } from '../../support/territory.ts'
import { frames, WireClient } from '../../support/wire-client.ts'

setDefaultTimeout(300_000)

const source = 'secret'
const columns = { id: 'long', note: 'string', pay: 'long' } as const
let folder: string
let catalog: DevCatalog
let lake: Lake
let secret: IcebergWriter
let files: readonly string[]
let steward: string
let foreign: TenantId
let outsider: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'covenant-derived-'))
  catalog = await startDevCatalog({ folder: join(folder, 'catalog') })
  lake = await startLake({
    catalog: { url: catalog.url, warehouse: 'dev', folder },
    tables: [],
    written: [
      {
        ref: { namespace: [source], name: 't' },
        masks: { note: { action: 'replace-with-null' } },
        rowFilter: 'id = 1',
        async write(below) {
          secret = tableInFolder(dirname(below), source, {
            fields: [
              { id: 1, name: 'id', type: 'long' },
              { id: 2, name: 'note', type: 'string' },
              { id: 3, name: 'pay', type: 'long' },
            ],
          })
          const rows = [
            { id: 1, note: 'CANARY', pay: 7 },
            { id: 2, note: 'CANARY', pay: 8 },
          ]
          const appended = await secret.append([{ rows }])
          files = appended.files
          return appended.metadataLocation
        },
      },
    ],
  })
  await enforceTerritory(lake.store, lake.tenant)
  const scopes = ['read', 'admin', 'commit'] as const
  steward = await session(lake, lake.tenant, scopes, ['steward'], 'stella')
  foreign = (await createTenant(lake.store, { name: 'foreign' })).id
  outsider = await session(lake, foreign, scopes, ['steward'], 'mallory')
})
afterAll(async () => {
  await lake[Symbol.asyncDispose]()
  await catalog.stop()
  await rm(folder, { recursive: true, force: true })
})

const askTerritory = (method: string, path: string, by: string, body?: unknown) =>
  ask(lake, method, `/api/v1/territory${path}`, by, body)
const of = (namespace: string) => ({ catalog: lake.catalog, table: { namespace: [namespace], name: 't' } })
const derive = (clone: string, from = source, by = steward) =>
  askTerritory('POST', '/derived', by, { ...of(clone), source: of(from) })
const revoke = (clone: string, from = source, by = steward) =>
  askTerritory('POST', '/derived/revoke', by, { ...of(clone), source: of(from) })

const outside = [expect.stringMatching(/^E 42501 The table cannot be read: its data file lies outside/)]
const unmatched = [expect.stringMatching(/^E 42501 permission denied for table t/)]

/** Makes the clone in the catalog, and puts it under a contract with these columns by name and type. */
async function makeClone(
  name: string,
  known: Readonly<Record<string, string>> = columns,
  properties?: Readonly<Record<string, string>>,
): Promise<void> {
  const tables = dirname(fileURLToPath(secret.options.location))
  const { metadataLocation } = forgeTable(secret, { tables, from: source, to: name }, 'files')
  // 'files': its manifests are its own, and name the source's data files.
  const path = fileURLToPath(metadataLocation)
  const added =
    properties === undefined ? '"properties":{' : `"properties":${JSON.stringify(properties).slice(0, -1)}`
  const text = (await Bun.file(path).text()).replace('"properties":{', added)
  // A clone is a table of its own.
  await Bun.write(path, text.replace(/"table-uuid":"[^"]+"/, `"table-uuid":"${crypto.randomUUID()}"`))
  const send = (to: string, body: object) =>
    fetch(`${catalog.url}/v1/dev/${to}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  await send('namespaces', { namespace: [name] })
  const made = await send(`namespaces/${name}/register`, { name: 't', 'metadata-location': metadataLocation })
  expect([made.status, made.ok ? '' : await made.text()]).toEqual([200, ''])
  const ref = { namespace: [name], name: 't' }
  await commitColumns(lake.store, lake.tenant, ref, known)
  const on = { store: lake.store, tenant: lake.tenant, actor: actorOf('stella'), checkPolicies }
  await putContract(on, ref, { id: `${name}-t`, version: 1 })
}

describe('a clone', () => {
  beforeAll(() => makeClone('clonea'))

  test('is refused without a grant', async () => {
    expect(await readAs(lake.env, 'SELECT id FROM clonea.t')).toEqual(outside)
  })

  test('is read under its source’s filter and mask once a steward granted it', async () => {
    const granted = await derive('clonea')
    expect(granted).toMatchObject({
      status: 200,
      body: { prefixes: [expect.stringMatching(/\/secret\/$/), expect.stringMatching(/\/metadata\/$/)] },
    })
    expect(await readAs(lake.restricted, 'SELECT id, note, pay FROM clonea.t')).toEqual([
      'D 1|NULL|7',
      'C SELECT 1',
    ])
    expect(await readAs(lake.env, 'SELECT id, note FROM clonea.t ORDER BY id')).toEqual([
      'D 1|CANARY',
      'D 2|CANARY',
      'C SELECT 2',
    ])
  })

  test('lists its grant with the source, and the administration log has it', async () => {
    const { items } = (await askTerritory('GET', '/prefixes?namespace=clonea&table=t', steward)).body as {
      items: Readonly<Record<string, unknown>>[]
    }
    expect(items).toContainEqual(
      expect.objectContaining({ kind: 'derived', source: { namespace: [source], name: 't' } }),
    )
    const rows = await lake.store.tenantQuery<{ action: string }>(
      lake.tenant,
      `select action from svc.administration_log where action = 'derive-territory'`,
    )
    expect(rows).toHaveLength(1)
  })

  test('gets its source’s later masks at once', async () => {
    const on = { store: lake.store, tenant: lake.tenant, actor: actorOf('stella'), checkPolicies }
    const table = { namespace: [source], name: 't' }
    const mask = { id: 'pay', action: 'mask-to-fixed-value', exemptRoles: ['officer'] }
    await putMask(on, { table, column: 'pay' }, mask)
    const [row] = await readAs(lake.restricted, 'SELECT id, note, pay FROM clonea.t')
    expect(row).toMatch(/^D 1\|NULL\|/)
    expect(row).not.toEndWith('|7')
  })

  test('counts as masked for whom its source is, so that nothing of its files is vended', async () => {
    const ref = { namespace: ['clonea'], name: 't' }
    expect(await isMaskedFor(lake.store, lake.tenant, ref, { sub: 'bob', roles: [] })).toBe(true)
    expect(await isMaskedFor(lake.store, lake.tenant, ref, { sub: 'ann', roles: ['officer'] })).toBe(false)
  })

  test('of a clone inherits from both', async () => {
    await makeClone('cloneb')
    expect((await derive('cloneb', 'clonea')).status).toBe(200)
    // What its source shares is not the source's own, and is granted by itself.
    expect(await readAs(lake.env, 'SELECT id FROM cloneb.t')).toEqual(outside)
    const ref = { namespace: ['cloneb'], name: 't' }
    expect(await isMaskedFor(lake.store, lake.tenant, ref, { sub: 'bob', roles: [] })).toBe(true)
    expect((await derive('cloneb')).status).toBe(200)
    expect(await readAs(lake.restricted, 'SELECT id, note FROM cloneb.t')).toEqual(['D 1|NULL', 'C SELECT 1'])
  })
})

describe('a clone whose fields cannot be matched', () => {
  test('is refused to whom a mask of its source concerns, where the field is missing', async () => {
    await makeClone('clonec', { id: 'long' })
    expect((await derive('clonec')).status).toBe(200)
    expect(await readAs(lake.restricted, 'SELECT id FROM clonec.t')).toEqual(unmatched)
    expect(await readAs(lake.env, 'SELECT id FROM clonec.t ORDER BY id')).toEqual([
      'D 1',
      'D 2',
      'C SELECT 2',
    ])
  })

  test('and where the masked name is that of another field', async () => {
    await makeClone('cloned', { note: 'string', id: 'long', pay: 'long' })
    expect((await derive('cloned')).status).toBe(200)
    expect(await readAs(lake.restricted, 'SELECT pay FROM cloned.t')).toEqual(unmatched)
  })

  test('is refused to everybody where it maps columns by name', async () => {
    const mapping = JSON.stringify([{ 'field-id': 1, names: ['note'] }])
    await makeClone('clonee', columns, { 'schema.name-mapping.default': mapping })
    expect((await derive('clonee')).status).toBe(200)
    for (const env of [lake.env, lake.restricted])
      expect(await readAs(env, 'SELECT id FROM clonee.t')).toEqual([
        expect.stringMatching(
          /^E 42501 Table t shares files of another table by a grant, and maps columns by name/,
        ),
      ])
  })
})

describe('what a clone may do with its source’s folder', () => {
  const send = (method: string, path: string, body?: string) =>
    fetch(new URL(`/v1/iceberg/${lake.catalog}/v1/namespaces/clonea/tables/t${path}`, lake.app.url), {
      method,
      headers: { 'x-svc-session': lake.restricted.PGPASSWORD, 'content-type': 'application/json' },
      ...(body !== undefined && { body }),
    })
  const update = (one: object) => JSON.stringify({ requirements: [], updates: [one] })
  const below = () => `${secret.options.location}/data`

  test('its location and write paths may not lie there', async () => {
    for (const one of [
      { action: 'set-location', location: secret.options.location },
      { action: 'set-location', location: below() },
      { action: 'set-properties', updates: { 'write.data.path': below() } },
      { action: 'set-properties', updates: { 'write.metadata.path': below() } },
    ])
      expect((await send('POST', '', update(one))).status).toBe(403)
  })

  test('its manifests may name files there, also before the commit of a restricted caller', async () => {
    const own = manifestFolder(fileURLToPath(secret.options.location).replace('/secret', '/clonea'))
    const list = await own.list([await own.manifest([{ path: files[0] ?? '' }])])
    const text = appendSnapshot({
      snapshotId: 5n,
      sequenceNumber: 9,
      timestampMs: 1_900_000_000_000,
      manifestList: list,
    })
    const body = text
      .replace(/"requirements":\[[^\]]*\]/, '"requirements":[]')
      .replace('"ref-name":"main"', '"ref-name":"b"')
    const response = await send('POST', '', body)
    expect([response.status, response.ok ? '' : await response.text()]).toEqual([200, ''])
  })

  test('it is not dropped with its files', async () => {
    const response = await send('DELETE', '?purgeRequested=true')
    expect([response.status, await response.text()]).toEqual([
      403,
      expect.stringContaining('drop it without purge'),
    ])
  })
})

describe('a derived grant', () => {
  test('is refused where the source is the clone, or shares its territory', async () => {
    expect((await derive('clonea', 'clonea')).status).toBe(409)
    expect((await derive(source, 'clonea')).status).toBe(409)
    expect((await derive('clonea', 'nothing')).status).toBe(404)
  })

  test('is made by a steward of this tenant only', async () => {
    expect((await derive('clonea', source, lake.env.PGPASSWORD)).status).toBe(403)
    expect((await derive('clonea', source, outsider)).status).toBe(404)
    expect((await revoke('clonea', source, outsider)).status).toBe(404)
    expect((await askTerritory('GET', '/prefixes', outsider)).body.items).toEqual([])
  })

  test('ends open reads and all later ones when it is revoked', async () => {
    const login = { user: 'bob', database: lake.catalog, password: lake.restricted.PGPASSWORD }
    const client = await WireClient.logIn({ port: Number(lake.env.PGPORT) }, login)
    for (const text of ['BEGIN', 'DECLARE c CURSOR FOR SELECT id FROM clonea.t', 'FETCH 1 FROM c'])
      expect((await client.ask(frames.query(text))).join()).not.toMatch(/(^|,)E /)
    expect(await revoke('clonea')).toMatchObject({ status: 200, body: { released: 2 } })
    expect((await client.ask(frames.query('FETCH 1 FROM c'))).join()).toMatch(/E 55000 The .* has changed/)
    client.close()
    expect(await readAs(lake.env, 'SELECT id FROM clonea.t')).toEqual(outside)
    expect((await revoke('clonea')).status).toBe(404)
  })
})
