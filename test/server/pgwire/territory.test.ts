/**
 * The attack on a masked table over the PostgreSQL wire: metadata of a table that nothing masks names its files. Writers
 * past the gateway wrote it, so only the read can refuse.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type DevCatalog, startDevCatalog } from '../../../demo/catalog/dev-catalog.ts'
import { type IcebergWriter, tableInFolder } from '../../../demo/lake/iceberg-writer.ts'
import { putContract } from '../../../src/contract/put-contract.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { putCatalogCredential } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { actorOf } from '../../support/actor.ts'
import { eventually } from '../../support/eventually.ts'
import { forgeTable, type StolenLayer } from '../../support/forged-table.ts'
import { commitColumns } from '../../support/governed.ts'
import { type Lake, readAs, startLake } from '../../support/lake.ts'
import { frames, WireClient } from '../../support/wire-client.ts'

setDefaultTimeout(300_000)

const name = 'secret'
const canary = 'CANARY-7c1d'
let folder: string
let catalog: DevCatalog
let second: DevCatalog
let lake: Lake
let secret: IcebergWriter
let foreign: TenantId

/** Each names the masked table's files from another layer on; both halves of the name have its length. */
const variants: readonly (readonly [string, string, StolenLayer | 'metadata'])[] = [
  ['its manifest list', 'forgea', 'manifest-list'],
  ['its manifests', 'forgeb', 'manifests'],
  ['its data files', 'forgec', 'files'],
  ['its metadata file', 'forged', 'metadata'],
]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'covenant-territory-'))
  catalog = await startDevCatalog({ folder: join(folder, 'catalog') })
  // Another address for the same folder: a catalog of its own, as far as the service knows.
  second = await startDevCatalog({ folder: join(folder, 'catalog') })
  lake = await startLake({
    catalog: { url: catalog.url, warehouse: 'dev', folder },
    tables: [],
    written: [
      {
        ref: { namespace: [name], name: 't' },
        masks: { note: { action: 'replace-with-null' } },
        rowFilter: 'id = 1',
        async write(below) {
          secret = tableInFolder(dirname(below), name, {
            fields: [
              { id: 1, name: 'id', type: 'long' },
              { id: 2, name: 'note', type: 'string' },
            ],
          })
          const rows = [
            { id: 1, note: canary },
            { id: 2, note: canary },
          ]
          return (await secret.append([{ rows }])).metadataLocation
        },
      },
    ],
  })
  const config = { endpoint: second.url, warehouse: 'dev', storage_roots: [`file://${folder}`] }
  await putCatalogCredential(lake.store, lake.tenant, {
    nickname: 'second',
    kind: 'alpha',
    endpoint: second.url,
    config,
  })
  foreign = (await createTenant(lake.store, { name: 'foreign' })).id
  expect(await readAs(lake.restricted, 'SELECT id, note FROM secret.t')).toEqual(['D 1|NULL', 'C SELECT 1'])
})
afterAll(async () => {
  await lake[Symbol.asyncDispose]()
  await catalog.stop()
  await second.stop()
  await rm(folder, { recursive: true, force: true })
})

const setMode = (mode: string) =>
  lake.store.tenantQuery(lake.tenant, 'update svc.territory_state set mode = $2 where tenant_id = $1', [
    lake.tenant,
    mode,
  ])

const tables = () => dirname(new URL(secret.options.location).pathname)

/** What a writer does who has the catalog's address and may write to the bucket. */
async function forge(at: DevCatalog, to: string, stolen: StolenLayer | 'metadata'): Promise<void> {
  await register(
    at,
    to,
    stolen === 'metadata'
      ? secret.metadataLocation
      : forgeTable(secret, { tables: tables(), from: name, to }, stolen).metadataLocation,
  )
}

async function register(at: DevCatalog, to: string, location: string | undefined): Promise<void> {
  const send = (path: string, body: object) =>
    fetch(`${at.url}/v1/dev/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  await send('namespaces', { namespace: [to] })
  const made = await send(`namespaces/${to}/register`, { name: 't', 'metadata-location': location })
  expect([made.status, made.ok ? '' : await made.text()]).toEqual([200, ''])
  await commitColumns(lake.store, lake.tenant, { namespace: [to], name: 't' }, { id: 'long', note: 'string' })
  const on = { store: lake.store, tenant: lake.tenant, actor: actorOf('stella'), checkPolicies }
  await putContract(on, { namespace: [to], name: 't' }, { id: `${to}-t`, version: 1 })
}

const conflictsOf = (namespace: string, tenant = lake.tenant) =>
  lake.store.tenantQuery<{ prefix: string; reason: string; owner: string | null }>(
    tenant,
    `select prefix, reason, owner ->> 'name' as owner from svc.territory_conflict
     where namespace ->> 0 = $1 order by prefix`,
    [namespace],
  )

describe('where territory is enforced', () => {
  beforeAll(() => setMode('enforce'))

  test.each(variants)('a table that names %s reads nothing, for nobody', async (_, to, stolen) => {
    await forge(catalog, to, stolen)
    // The very metadata file makes it the same table under a second name.
    const refusal =
      stolen === 'metadata'
        ? /^E 55000 The table is known under another name in its catalog/
        : /^E 42501 The table cannot be read: its /
    for (const env of [lake.restricted, lake.env]) {
      const answers = await readAs(env, `SELECT id, note FROM ${to}.t`)
      expect(answers).toEqual([expect.stringMatching(refusal)])
      expect(answers.join()).not.toMatch(/secret|CANARY/)
    }
  })

  test('nor does one of a second catalog over the same folder', async () => {
    await forge(second, 'forgez', 'metadata')
    expect(await readAs(lake.restricted, 'SELECT id, note FROM forgez.t', 'second')).toEqual([
      expect.stringMatching(/^E 42501 /),
    ])
  })

  // Threat L of docs/territory.md: detection and lineage answer it.
  test('a copy of the bytes under another key is read: paths do not show that it is one', async () => {
    const data = join(tables(), name, 'data')
    const [file = ''] = readdirSync(data).filter((one) => one.endsWith('.parquet'))
    const copy = tableInFolder(tables(), 'copied', { fields: secret.options.fields })
    const bytes = readFileSync(join(data, file))
    const { metadataLocation } = await copy.append([{ rows: [], bytes, recordCount: 2 }])
    await register(catalog, 'copied', metadataLocation)
    expect(await readAs(lake.restricted, 'SELECT id, note FROM copied.t ORDER BY id')).toEqual([
      `D 1|${canary}`,
      `D 2|${canary}`,
      'C SELECT 2',
    ])
  })

  test('the masked table itself is read as before', async () => {
    expect(await readAs(lake.restricted, 'SELECT id, note FROM secret.t')).toEqual(['D 1|NULL', 'C SELECT 1'])
    expect(await readAs(lake.env, 'SELECT id, note FROM secret.t ORDER BY id')).toHaveLength(3)
  })
})

describe('where territory is observed', () => {
  beforeAll(() => setMode('observe'))

  test.each(variants.slice(0, 3))(
    'a table that names %s is read, and listed as a conflict',
    async (_, to) => {
      expect(await readAs(lake.restricted, `SELECT id FROM ${to}.t ORDER BY id`)).toEqual([
        'D 1',
        'D 2',
        'C SELECT 2',
      ])
      const named = async () => (await conflictsOf(to)).find(({ owner }) => owner === 't')
      await eventually(async () => (await named()) !== undefined)
      expect(await named()).toMatchObject({ reason: 'foreign', prefix: expect.stringContaining('/secret/') })
      expect(await conflictsOf(to, foreign)).toEqual([])
    },
  )

  test('an open cursor ends once territory is enforced', async () => {
    const login = { user: 'bob', database: lake.catalog, password: lake.restricted.PGPASSWORD }
    const client = await WireClient.logIn({ port: Number(lake.env.PGPORT) }, login)
    for (const text of ['BEGIN', 'DECLARE c CURSOR FOR SELECT id FROM forgec.t', 'FETCH 1 FROM c'])
      expect((await client.ask(frames.query(text))).join()).not.toStartWith('E ')
    await setMode('enforce')
    expect((await client.ask(frames.query('FETCH 1 FROM c'))).join()).toContain(
      'E 55000 The territory of table forgec.t has changed since the query began. Run it again.',
    )
    client.close()
  })
})
