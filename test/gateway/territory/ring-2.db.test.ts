/**
 * Ring 2: the manifests that a commit brings. Before the forward for a caller whom a filter or mask restricts, after the
 * commit for the rest. The attacks are threats D and E of docs/territory.md; ring 1 sees neither.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { UnsecuredJWT } from 'jose'
import { type DevCatalog, startDevCatalog } from '../../../demo/catalog/dev-catalog.ts'
import { appendSnapshot, schemaOf } from '../../../demo/commits.ts'
import { type IcebergWriter, tableInFolder } from '../../../demo/lake/iceberg-writer.ts'
import type { Manifest } from '../../../demo/lake/manifests.ts'
import { startApp } from '../../../src/app.ts'
import { parseConfig } from '../../../src/config.ts'
import { putCatalogCredential } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { listDecisions } from '../../../src/store/commit/decision-list.ts'
import { listRefusals } from '../../../src/store/commit/refusals.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { createLogger } from '../../../src/telemetry/log.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { ask, session } from '../../support/identity.ts'
import { type ClientEnvironment, type Lake, readAs, startLake } from '../../support/lake.ts'
import { manifestFolder } from '../../support/manifests.ts'
import { metric } from '../../support/service.ts'
import { testCatalogDirectory } from '../../support/store.ts'
import { enforceTerritory } from '../../support/territory.ts'
import { frames, WireClient } from '../../support/wire-client.ts'

setDefaultTimeout(300_000)

const fields = [
  { id: 1, name: 'id', type: 'long' },
  { id: 2, name: 'note', type: 'string' },
] as const
const rows = [{ id: 1, note: 'CANARY-5b1e' }]
const folderName = { open: 'open', secret: 'secret' } as const

let folder: string
let catalog: DevCatalog
let lake: Lake
let open: IcebergWriter
let secret: IcebergWriter
let stolenFile: string
let stolenManifest: Manifest
let administrator: string
let steward: string
let outsider: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'covenant-ring-2-'))
  catalog = await startDevCatalog({ folder: join(folder, 'catalog') })
  const written = (name: keyof typeof folderName, keep: (writer: IcebergWriter) => void) => ({
    ref: { namespace: [name], name: 't' },
    async write(below: string) {
      const writer = tableInFolder(dirname(below), name, { fields })
      keep(writer)
      return (await writer.append([{ rows }])).metadataLocation
    },
  })
  lake = await startLake({
    catalog: { url: catalog.url, warehouse: 'dev', folder },
    tables: [],
    written: [
      {
        ...written('secret', (writer) => {
          secret = writer
        }),
        masks: { note: { action: 'replace-with-null' } },
      },
      written('open', (writer) => {
        open = writer
      }),
    ],
  })
  const { files } = await secret.append([{ rows }])
  stolenFile = files[0] ?? ''
  stolenManifest = await manifestFolder(fileURLToPath(secret.options.location)).manifest([
    { path: stolenFile },
  ])
  await enforceTerritory(lake.store, lake.tenant)
  const scopes = ['read', 'admin', 'commit'] as const
  administrator = await session(lake, lake.tenant, scopes, ['administrator'], 'ada')
  steward = await session(lake, lake.tenant, scopes, ['steward'], 'stella')
  const foreign = (await createTenant(lake.store, { name: 'foreign' })).id
  outsider = await session(lake, foreign, scopes, ['administrator'], 'mallory')
  await audit()
})
afterAll(async () => {
  await lake[Symbol.asyncDispose]()
  await catalog.stop()
  await rm(folder, { recursive: true, force: true })
})

type Json = Readonly<Record<string, unknown>>
const askTerritory = (method: string, path: string, by: string, body?: unknown) =>
  ask(lake, method, `/api/v1/territory${path}`, by, body)
const setManifests = async (mode: string) =>
  expect((await askTerritory('PUT', '/manifests', administrator, { mode })).status).toBe(204)
const setTerritory = (mode: string) =>
  lake.store.tenantQuery(lake.tenant, 'update svc.territory_state set mode = $2 where tenant_id = $1', [
    lake.tenant,
    mode,
  ])
const audit = () => lake.app.jobs.run('audit-manifests')
const pending = async () => (await askTerritory('GET', '', administrator)).body
const quarantine = async (by = steward) =>
  (await askTerritory('GET', '/quarantine', by)).body.items as readonly Json[]
const quarantineOf = async (snapshot: Snapshot) =>
  (await quarantine()).find((one) => one.snapshot_id === String(snapshot.id))

interface Snapshot {
  readonly id: bigint
  readonly list: string
}
let lastId = 88_000_000_000_000_000n
let sequence = 10
let clockMs = 1_800_000_000_000
let folders: ReturnType<typeof manifestFolder> | undefined
/** The folder of the table that is not masked. */
const own = () => {
  folders ??= manifestFolder(fileURLToPath(open.options.location))
  return folders
}
const clean = (name = crypto.randomUUID()) =>
  own().manifest([{ path: `${open.options.location}/data/${name}.parquet` }])
const snapshotOf = async (manifests: readonly Manifest[]): Promise<Snapshot> => ({
  id: ++lastId,
  list: await own().list(manifests),
})
/** D: an own manifest list that lists the other table's manifest. */
const ofManifests = () => snapshotOf([stolenManifest])
/** E: an own manifest that names the other table's file. */
const ofFiles = async () => snapshotOf([await own().manifest([{ path: stolenFile }])])
const ofDeletes = async () => snapshotOf([await own().manifest([{ path: stolenFile }], 'deletes')])

/** A branch of its own for each commit, so that no test depends on another's snapshot. */
function bodyOf({ id, list }: Snapshot, parent?: Snapshot, ref = `b${id}`): string {
  const text = appendSnapshot({
    snapshotId: id,
    parentId: parent?.id,
    sequenceNumber: ++sequence,
    timestampMs: ++clockMs,
    manifestList: list,
  })
  return text
    .replace(/"requirements":\[[^\]]*\]/, '"requirements":[]')
    .replace('"ref-name":"main"', `"ref-name":"${ref}"`)
}

const headers = (env: ClientEnvironment) => ({
  'x-svc-session': env.PGPASSWORD,
  'content-type': 'application/json',
})
const send = (path: string, env: ClientEnvironment, body: string, more: Record<string, string> = {}) =>
  fetch(new URL(`/v1/iceberg/${lake.catalog}/${path}`, lake.app.url), {
    method: 'POST',
    headers: { ...headers(env), ...more },
    body,
  })
const commit = (
  env: ClientEnvironment,
  snapshot: Snapshot,
  parent?: Snapshot,
  more: Record<string, string> = {},
) => send('namespaces/open/tables/t', env, bodyOf(snapshot, parent), more)
const changeOf = (text: string) => {
  const identifier = '"identifier":{"namespace":["open"],"name":"t"}'
  return `{"table-changes":[{${identifier},${text.slice(1)}]}`
}

const denial = /^policy denied: territory: the location .*\/secret\/.* is outside the territory of open\.t$/

describe('before the forward, for a caller whom a mask of any table restricts', () => {
  const surfaces: readonly (readonly [string, (text: string) => Promise<Response>])[] = [
    ['the literal path', (text) => send('namespaces/open/tables/t', lake.restricted, text)],
    ['the client surface', (text) => send('v1/namespaces/open/tables/t', lake.restricted, text)],
    ['a literal transaction', (text) => send('transactions/commit', lake.restricted, changeOf(text))],
    ['a client transaction', (text) => send('v1/transactions/commit', lake.restricted, changeOf(text))],
  ]
  const attacks = [
    ['D: manifests of another table', ofManifests],
    ['E: files of another table', ofFiles],
    ['E: its files as delete files', ofDeletes],
  ] as const

  test.each(
    surfaces.flatMap(([surface, way]) => attacks.map(([name, make]) => ({ surface, way, name, make }))),
  )('$name are denied in the words of ring 1, by $surface', async ({ way, make }) => {
    const rejected = await metric(lake, 'commit_rejected_total{reason="policy_denied"}')
    const response = await way(bodyOf(await make()))
    const text = await response.text()
    const message = text.startsWith('{')
      ? (JSON.parse(text) as { error: { message: string } }).error.message
      : text
    expect(response.status).toBe(403)
    expect(message.replace('denied: open.t: ', 'denied: ')).toMatch(denial)
    expect(await metric(lake, 'commit_rejected_total{reason="policy_denied"}')).toBe(rejected + 1)
    const [newest] = (await listDecisions(lake.store, lake.tenant, { limit: 1 })).items
    expect(newest).toMatchObject({ decision: 'REJECTED' })
    expect(`policy denied: ${newest?.reason}`).toMatch(denial)
    // Whose the file is, is told to stewards, and to them alone.
    expect(message).not.toContain('secret.t')
    const [refusal] = (await listRefusals(lake.store, lake.tenant, { limit: 1 })).items
    expect(refusal?.explanation).toContain('belongs to secret.t')
  })

  test('a commit of own files passes, and the cost has a histogram of its own', async () => {
    const series = 'svc_manifest_check_duration_seconds_count{mode="enforce",outcome="inside"}'
    const before = await metric(lake, series)
    expect((await commit(lake.restricted, await snapshotOf([await clean()]))).status).toBe(200)
    expect(await metric(lake, series)).toBe(before + 1)
    expect(
      await metric(lake, 'svc_manifest_check_duration_seconds_count{mode="enforce",outcome="outside"}'),
    ).toBe(12)
  })

  test('only manifests that the parent does not list are read', async () => {
    const first = await clean()
    const parent = await snapshotOf([first])
    expect((await commit(lake.restricted, parent)).status).toBe(200)
    const path = fileURLToPath(first.path)
    const bytes = await Bun.file(path).bytes()
    await rm(path)
    const next = await snapshotOf([first, await clean()])
    expect((await commit(lake.restricted, next, parent)).status).toBe(200)
    const stolen = await snapshotOf([first, stolenManifest])
    expect((await commit(lake.restricted, stolen, parent)).status).toBe(403)
    await Bun.write(path, bytes)
    await audit()
  })

  test('what cannot be read is no verdict, and passes once it can', async () => {
    const manifest = await clean()
    const snapshot = await snapshotOf([manifest])
    const path = fileURLToPath(manifest.path)
    const bytes = await Bun.file(path).bytes()
    await rm(path)
    const rejected = (await listDecisions(lake.store, lake.tenant, { limit: 1 })).items[0]?.commitId
    const response = await commit(lake.restricted, snapshot)
    expect([response.status, await response.text()]).toEqual([503, 'policy-engine-unavailable'])
    expect((await listDecisions(lake.store, lake.tenant, { limit: 1 })).items[0]?.commitId).toBe(rejected)
    const [refusal] = (await listRefusals(lake.store, lake.tenant, { limit: 1 })).items
    expect(refusal).toMatchObject({
      reason: 'ErrManifestRead',
      explanation: 'the manifests of the commit could not be checked: a file is not there',
    })
    await Bun.write(path, bytes)
    expect((await commit(lake.restricted, snapshot)).status).toBe(200)
  })

  test('beyond a bound there is no verdict either, and the reason says which', async () => {
    const manifest = await clean()
    const many = Array.from({ length: 300 }, (_, index) => ({
      ...manifest,
      path: `${manifest.path}-${index}`,
    }))
    await Promise.all(
      many.map(({ path }) => Bun.write(fileURLToPath(path), Bun.file(fileURLToPath(manifest.path)))),
    )
    expect((await commit(lake.restricted, await snapshotOf(many))).status).toBe(503)
    const [refusal] = (await listRefusals(lake.store, lake.tenant, { limit: 1 })).items
    expect(refusal?.explanation).toEndWith('more than 256 manifests would have to be read')
  })

  test('a creation with staged data is judged like a commit', async () => {
    expect((await send('v1/namespaces', lake.restricted, '{"namespace":["made"]}')).status).toBe(200)
    const create = async (name: string, manifest: (at: string) => Promise<Manifest>) => {
      const staged = await send(
        'v1/namespaces/made/tables',
        lake.restricted,
        JSON.stringify({ name, schema: schemaOf([...fields]), 'stage-create': true }),
      )
      expect(staged.status).toBe(200)
      const { metadata } = (await staged.json()) as { metadata: { location: string; 'table-uuid': string } }
      const { location } = metadata
      const made = { id: ++lastId, list: '' }
      const list = await manifestFolder(fileURLToPath(location)).list([await manifest(location)])
      const add = JSON.parse(
        bodyOf({ ...made, list }, undefined, 'main').replaceAll(String(made.id), `"${made.id}"`),
      ) as { updates: object[] }
      const updates = [
        { action: 'assign-uuid', uuid: metadata['table-uuid'] },
        { action: 'upgrade-format-version', 'format-version': 2 },
        { action: 'add-schema', schema: { ...schemaOf([...fields]), 'schema-id': 0 }, 'last-column-id': 2 },
        { action: 'set-current-schema', 'schema-id': -1 },
        { action: 'add-spec', spec: { 'spec-id': 0, fields: [] } },
        { action: 'set-default-spec', 'spec-id': -1 },
        { action: 'add-sort-order', 'sort-order': { 'order-id': 0, fields: [] } },
        { action: 'set-default-sort-order', 'sort-order-id': -1 },
        { action: 'set-location', location },
        ...add.updates,
      ]
      const body = JSON.stringify({ requirements: [{ type: 'assert-create' }], updates })
      return await send(
        `v1/namespaces/made/tables/${name}`,
        lake.restricted,
        body.replaceAll(`"${made.id}"`, String(made.id)),
      )
    }
    const stolen = await create('hostile', async () => stolenManifest)
    expect([stolen.status, await stolen.text()]).toEqual([
      403,
      expect.stringContaining('policy denied: territory'),
    ])
    const honest = await create('honest', (at) =>
      manifestFolder(fileURLToPath(at)).manifest([{ path: `${at}/data/a.parquet` }]),
    )
    expect([honest.status, honest.ok ? '' : await honest.text()]).toEqual([200, ''])
  })

  test('roles that nobody verified exempt from no mask', async () => {
    const authorization = `Bearer ${new UnsecuredJWT({ sub: 'bob', roles: ['officer'] }).encode()}`
    expect((await commit(lake.restricted, await ofFiles(), undefined, { authorization })).status).toBe(403)
  })

  test('whom no mask restricts is checked before the forward only where the mode is enforce', async () => {
    await setManifests('enforce')
    expect((await commit(lake.env, await ofFiles())).status).toBe(403)
    await setManifests('audit')
    const snapshot = await ofFiles()
    expect((await commit(lake.env, snapshot)).status).toBe(200)
    await audit()
  })

  test('nothing is read where the mode is off, before the commit or after it', async () => {
    await setManifests('off')
    const snapshot = await ofFiles()
    expect((await commit(lake.restricted, snapshot)).status).toBe(200)
    expect(await pending()).toMatchObject({ manifests: 'off', checks: 0 })
    await setManifests('audit')
    await audit()
    expect(await quarantineOf(snapshot)).toBeUndefined()
  })

  test('a tenant that only observes its territory refuses and quarantines nothing, and lists what lies outside', async () => {
    await setTerritory('observe')
    const snapshot = await ofFiles()
    expect((await commit(lake.restricted, snapshot)).status).toBe(200)
    await audit()
    await setTerritory('enforce')
    expect(await quarantineOf(snapshot)).toBeUndefined()
    const { items } = (await askTerritory('GET', '/conflicts?namespace=open&table=t', steward)).body as {
      items: Json[]
    }
    expect(items.map(({ source, reason, owner }) => ({ source, reason, owner }))).toContainEqual({
      source: 'commit',
      reason: 'foreign',
      owner: { namespace: ['secret'], name: 't' },
    })
  })
})

describe('after the commit of a caller whom no mask restricts', () => {
  /** Main of the table as the last test left it. */
  const setMain = async ({ id }: { readonly id: bigint }) => {
    const update = `{"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":${id}}`
    const body = `{"requirements":[],"updates":[${update}]}`
    expect((await send('namespaces/open/tables/t', lake.env, body)).status).toBe(200)
  }
  let bad: Snapshot
  let honest: bigint

  beforeAll(async () => {
    const metadata = open.metadata() as { 'current-snapshot-id': bigint | number | string }
    honest = BigInt(metadata['current-snapshot-id'])
  })

  test('the commit is taken, and its check finds it: a conflict, and the snapshot in quarantine for every reader and engine while the tenant enforces', async () => {
    const quarantined = await metric(lake, 'svc_snapshots_quarantined_total')
    bad = await ofFiles()
    expect((await commit(lake.env, bad)).status).toBe(200)
    await audit()
    expect(await pending()).toMatchObject({ checks: 0 })
    expect(await metric(lake, 'svc_snapshots_quarantined_total')).toBe(quarantined + 1)
    expect(await quarantineOf(bad)).toMatchObject({
      table: { namespace: ['open'], name: 't' },
      catalog: lake.catalog,
      cause: 'outside',
      detail: expect.stringContaining('/secret/'),
    })
    await putCatalogCredential(lake.store, lake.tenant, {
      nickname: 'trino',
      kind: 'alpha',
      endpoint: catalog.url,
      config: {
        endpoint: catalog.url,
        warehouse: 'dev',
        storage_roots: [`file://${folder}`],
        read_engine: 'trino',
        'trino.uri': 'http://127.0.0.1:1',
        'trino.catalog': 'lake',
      },
    })
    await setMain(bad)
    for (const [database, env] of [
      [lake.catalog, lake.env],
      [lake.catalog, lake.restricted],
      ['trino', lake.env],
    ] as const)
      expect(await readAs(env, 'SELECT id FROM open.t', database)).toEqual([
        expect.stringMatching(new RegExp(`^E 55000 Snapshot ${bad.id} of table open\\.t is quarantined`)),
      ])
    await setTerritory('observe')
    // The forged manifest lies about the file's length.
    expect(await readAs(lake.env, 'SELECT id FROM open.t')).toEqual([expect.stringMatching(/^E 58030 /)])
    await setTerritory('enforce')
    await setMain({ id: honest })
    expect(await readAs(lake.env, 'SELECT id FROM open.t')).toEqual(['D 1', 'C SELECT 1'])
  })

  test('a pin to it is refused, too, and one to another snapshot is read', async () => {
    const pin = async (verb: string, body: object) => {
      const response = await fetch(new URL(`/api/v1/contracts/tables/open/t/${verb}`, lake.app.url), {
        method: 'POST',
        headers: { 'x-svc-session': steward, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      expect([response.status, response.ok ? '' : await response.text()]).toEqual([response.status, ''])
    }
    await pin('pin', { catalog: lake.catalog, snapshot_id: String(bad.id) })
    expect(await readAs(lake.env, 'SELECT id FROM open.t')).toEqual([
      expect.stringMatching(/^E 55000 Snapshot .* is quarantined/),
    ])
    await setMain(bad)
    await pin('pin', { catalog: lake.catalog, snapshot_id: String(honest) })
    expect(await readAs(lake.env, 'SELECT id FROM open.t')).toEqual(['D 1', 'C SELECT 1'])
    await setMain({ id: honest })
    await pin('unpin', {})
  })

  test('a later snapshot that keeps its manifest is quarantined, one that drops it is not', async () => {
    const kept = await own().manifest([{ path: stolenFile }])
    const parent = await snapshotOf([kept])
    expect((await commit(lake.env, parent)).status).toBe(200)
    const child = await snapshotOf([kept, await clean()])
    expect((await commit(lake.env, child, parent)).status).toBe(200)
    await audit()
    const grandchild = await snapshotOf([kept, await clean()])
    const repaired = await snapshotOf([await clean()])
    expect((await commit(lake.env, grandchild, child)).status).toBe(200)
    expect((await commit(lake.env, repaired, child)).status).toBe(200)
    // For a restricted caller the parent is as bad before the forward.
    expect((await commit(lake.restricted, await snapshotOf([kept, await clean()]), child)).status).toBe(403)
    await audit()
    expect(await quarantineOf(parent)).toBeDefined()
    expect(await quarantineOf(child)).toBeDefined()
    expect(await quarantineOf(grandchild)).toBeDefined()
    expect(await quarantineOf(repaired)).toBeUndefined()
  })

  test('the commits of one table are checked by one load of it', async () => {
    for (const snapshot of [await snapshotOf([await clean()]), await snapshotOf([await clean()])])
      expect((await commit(lake.env, snapshot)).status).toBe(200)
    const loads = catalog.faults.counts.load
    await audit()
    expect(catalog.faults.counts.load).toBe(loads + 1)
    expect(await pending()).toMatchObject({ checks: 0 })
  })

  test('what cannot be read waits and is tried again, until it can be', async () => {
    const manifest = await own().manifest([{ path: stolenFile }])
    const snapshot = await snapshotOf([manifest])
    const path = fileURLToPath(manifest.path)
    const bytes = await Bun.file(path).bytes()
    await rm(path)
    expect((await commit(lake.env, snapshot)).status).toBe(200)
    await audit()
    expect(await pending()).toMatchObject({ checks: 1, check_problem: 'a file is not there' })
    expect(await quarantineOf(snapshot)).toBeUndefined()
    await Bun.write(path, bytes)
    await lake.store.tenantQuery(lake.tenant, 'update svc.manifest_check set due_at = now()')
    await audit()
    expect(await pending()).toMatchObject({ checks: 0 })
    expect(await quarantineOf(snapshot)).toMatchObject({ cause: 'outside' })
  })

  /** Quarantines a snapshot as a check does that finds a file outside. */
  const quarantineBy = ({ id }: Snapshot) =>
    lake.store.tenantQuery(
      lake.tenant,
      `insert into svc.snapshot_quarantine (tenant_id, commit_id, credential_id, catalog, table_id, namespace, table_name,
         snapshot_id, cause, detail)
       select tenant_id, commit_id, credential_id, catalog, table_id, namespace, table_name, $1::bigint, cause, detail
       from svc.snapshot_quarantine limit 1`,
      [id],
    )

  test('an open cursor on the snapshot ends when it is quarantined', async () => {
    const { manifestList } = await open.append([{ rows }, { rows }])
    const snapshot = { id: ++lastId, list: manifestList }
    expect((await commit(lake.env, snapshot)).status).toBe(200)
    await setMain(snapshot)
    const login = { user: 'ann', database: lake.catalog, password: lake.env.PGPASSWORD }
    const client = await WireClient.logIn({ port: Number(lake.env.PGPORT) }, login)
    for (const text of ['BEGIN', 'DECLARE c CURSOR FOR SELECT id FROM open.t', 'FETCH 1 FROM c'])
      expect((await client.ask(frames.query(text))).join()).not.toMatch(/(^|,)E /)
    await quarantineBy(snapshot)
    const answer = (await client.ask(frames.query('FETCH 1 FROM c'))).join()
    expect(answer).toContain(`E 55000 Snapshot ${snapshot.id} of table open.t is quarantined`)
    client.close()
    await setMain({ id: honest })
  })

  test('a rename takes the quarantine along', async () => {
    const body = (source: string, destination: string) =>
      JSON.stringify({
        source: { namespace: ['open'], name: source },
        destination: { namespace: ['open'], name: destination },
      })
    const before = await quarantine()
    expect((await send('v1/tables/rename', lake.env, body('t', 'u'))).status).toBe(204)
    expect((await quarantine()).map(({ table }) => table)).toEqual(
      before.map(() => ({ namespace: ['open'], name: 'u' })),
    )
    expect((await send('v1/tables/rename', lake.env, body('u', 't'))).status).toBe(204)
  })

  test('a steward releases it with a reason, which the administration log keeps', async () => {
    const { id } = (await quarantineOf(bad)) as { id: string }
    const release = (by: string, reason: string) =>
      askTerritory('POST', `/quarantine/${id}/release`, by, { reason })
    expect((await askTerritory('GET', `/quarantine/${id}`, steward)).body).toMatchObject({
      id,
      cause: 'outside',
    })
    expect((await release(lake.env.PGPASSWORD, 'mine')).status).toBe(403)
    expect((await release(steward, ' ')).status).toBe(400)
    const released = await release(steward, 'The import was agreed.')
    expect([released.status, released.body]).toEqual([
      200,
      expect.objectContaining({
        id,
        release: expect.objectContaining({ reason: 'The import was agreed.' }),
      }),
    ])
    expect((await release(steward, 'again')).status).toBe(404)
    const [entry] = await lake.store.tenantQuery<{ entry: { action: string } }>(
      lake.tenant,
      `select to_jsonb(l) as entry from svc.administration_log l order by l.at desc limit 1`,
    )
    expect(JSON.stringify(entry)).toContain('release-snapshot')
    // Ring 3 still refuses the file.
    await setMain(bad)
    expect(await readAs(lake.env, 'SELECT id FROM open.t')).toEqual([expect.stringMatching(/^E 42501 /)])
    await setMain({ id: honest })
  })

  test('another tenant neither sees nor releases it', async () => {
    const { id } = (await quarantine())[0] as { id: string }
    expect(await quarantine(outsider)).toEqual([])
    expect((await askTerritory('GET', `/quarantine/${id}`, outsider)).status).toBe(404)
    expect((await askTerritory('POST', `/quarantine/${id}/release`, outsider, { reason: 'x' })).status).toBe(
      404,
    )
  })
})

test('a check that one process left is made by the next', async () => {
  const snapshot = await ofFiles()
  expect((await commit(lake.env, snapshot)).status).toBe(200)
  await lake.app.stop()
  const loopback = '127.0.0.1:0'
  const app = await startApp({
    store: lake.store,
    metrics: createMetrics(),
    log: createLogger({ level: 'silent' }),
    catalogDirectory: testCatalogDirectory,
    config: parseConfig({
      SVC_LISTEN_ADDR: loopback,
      SVC_METRICS_ADDR: loopback,
      UV_THREADPOOL_SIZE: '16',
      SVC_UPSTREAM_ALLOW: '127.0.0.0/8',
    }),
  })
  try {
    await app.jobs.run('audit-manifests')
    const rows = await lake.store.tenantQuery(
      lake.tenant,
      'select from svc.snapshot_quarantine where tenant_id = $1 and snapshot_id = $2::bigint',
      [lake.tenant, snapshot.id],
    )
    expect(rows).toHaveLength(1)
  } finally {
    await app.stop()
  }
})
