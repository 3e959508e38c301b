/**
 * Ring 1: a change that names a location outside of its table's territory is denied, by both surfaces, whether or not a
 * mask exists. The letters are the threats of docs/territory.md.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DevCatalog, startDevCatalog } from '../../../demo/catalog/dev-catalog.ts'
import { appendSnapshot, orderFields, schemaOf } from '../../../demo/commits.ts'
import { putCatalogCredential } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { putPolicy } from '../../../src/store/policy/policies.ts'
import {
  addTenant,
  audit,
  commit,
  metric,
  orders,
  startTestService,
  type TestService,
  type TestTenant,
  upstreamHeaders,
} from '../../support/service.ts'
import { messageOf, send } from '../../support/surface.ts'
import { enforceTerritory } from '../../support/territory.ts'

setDefaultTimeout(300_000)

let service: TestService
let foreign: TestTenant
let second: DevCatalog

const tables = '/namespaces/sales/tables'
const creation = (name: string, location: string | undefined, more: object = {}) => ({
  name,
  schema: schemaOf(orderFields),
  ...(location !== undefined && { location }),
  ...more,
})
const create = (name: string, location: string | undefined, more: object = {}, options: object = {}) =>
  send(service, 'POST', tables, creation(name, location, more), options)

beforeAll(async () => {
  service = await startTestService()
  await enforceTerritory(service.store, service.owner.tenant)
  foreign = await addTenant(service.store, 'foreign', service.catalog.url)
  await enforceTerritory(service.store, foreign.tenant)
  expect((await create('secrets', 's3://lake/wh/secrets')).status).toBe(200)
  expect((await create('attack', 's3://lake/wh/attack')).status).toBe(200)
  // A second catalog over the same bucket, with tables of the same names.
  second = await startDevCatalog({
    folder: await mkdtemp(join(tmpdir(), 'covenant-test-')),
    credential: 'gateway:s3cret',
  })
  await fetch(`${second.url}/v1/dev/namespaces`, {
    method: 'POST',
    headers: await upstreamHeaders(second),
    body: '{"namespace":["sales"]}',
  })
  await putCatalogCredential(service.store, service.owner.tenant, {
    nickname: 'second',
    kind: 'alpha',
    endpoint: second.url,
    config: { endpoint: second.url, warehouse: 'dev', credential: 'gateway:s3cret' },
  })
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await second.stop()
})

const body = (...updates: readonly object[]) => JSON.stringify({ requirements: [], updates })
const properties = (updates: Readonly<Record<string, string>>) => body({ action: 'set-properties', updates })
let snapshotId = 1n
const append = (manifestList: string) =>
  appendSnapshot({ snapshotId: ++snapshotId, sequenceNumber: 1, timestampMs: Date.now(), manifestList })

interface Surface {
  readonly name: string
  readonly commit: (text: string, table?: string) => Promise<Response>
  readonly transact: (tableChanges: readonly object[]) => Promise<Response>
  readonly message: (response: Response) => Promise<string>
}
const surfaces: readonly Surface[] = [
  {
    name: 'the literal paths',
    commit: (text, table = 'attack') =>
      commit(service, text, { path: `/v1/iceberg/main/namespaces/sales/tables/${table}` }),
    transact: (changes) =>
      commit(service, JSON.stringify({ 'table-changes': changes }), {
        path: '/v1/iceberg/main/transactions/commit',
      }),
    message: (response) => response.text(),
  },
  {
    name: 'the client surface',
    commit: (text, table = 'attack') => send(service, 'POST', `${tables}/${table}`, text),
    transact: (changes) => send(service, 'POST', '/transactions/commit', { 'table-changes': changes }),
    message: messageOf,
  },
]

const attacks: Readonly<Record<string, () => string>> = {
  'A: set-location at the other table': () =>
    body({ action: 'set-location', location: 's3://lake/wh/secrets' }),
  'A: set-location above it': () => body({ action: 'set-location', location: 's3://lake/wh' }),
  'A: set-location below it': () => body({ action: 'set-location', location: 's3://lake/wh/secrets/data' }),
  'A: set-location at the bucket': () => body({ action: 'set-location', location: 's3://lake' }),
  'B: write.data.path into it': () => properties({ 'write.data.path': 's3://lake/wh/secrets/data' }),
  'B: write.metadata.path into it': () =>
    properties({ 'write.metadata.path': 's3://lake/wh/secrets/metadata' }),
  'B: write.object-storage.path into it': () =>
    properties({ 'write.object-storage.path': 's3://lake/wh/secrets/data' }),
  'B: write.folder-storage.path into it': () =>
    properties({ 'write.folder-storage.path': 's3://lake/wh/secrets/data' }),
  'B: a data path that several tables could share': () => properties({ 'write.data.path': 's3://lake/data' }),
  'C: its manifest list': () => append('s3://lake/wh/secrets/metadata/snap-1.avro'),
  'C: its manifests, as format version 1 names them': () =>
    body({
      action: 'add-snapshot',
      snapshot: { 'snapshot-id': 99, 'timestamp-ms': 1, manifests: ['s3://lake/wh/secrets/metadata/m.avro'] },
    }),
  'C: a manifest list that is nobody’s': () => append('s3://lake/wh/nobody/snap-1.avro'),
  'G: its statistics': () =>
    body({
      action: 'set-statistics',
      'snapshot-id': 1,
      statistics: { 'snapshot-id': 1, 'statistics-path': 's3://lake/wh/secrets/metadata/s.puffin' },
    }),
  'G: its partition statistics': () =>
    body({
      action: 'set-partition-statistics',
      'partition-statistics': {
        'snapshot-id': 1,
        'statistics-path': 's3://lake/wh/secrets/metadata/p.parquet',
      },
    }),
  'I: s3a': () => append('s3a://lake/wh/secrets/metadata/snap-1.avro'),
  'I: a doubled slash': () => append('s3://lake/wh//secrets/metadata/snap-1.avro'),
  'I: dot segments': () => append('s3://lake/wh/attack/../secrets/metadata/snap-1.avro'),
  'I: a percent escape': () => append('s3://lake/wh/attack/%2e%2e/secrets/metadata/snap-1.avro'),
  'I: a percent escape of the name': () => append('s3://lake/wh/%73ecrets/metadata/snap-1.avro'),
  'I: an access point': () =>
    append('s3://arn:aws:s3:us-east-1:123456789012:accesspoint/lake/wh/secrets/metadata/snap-1.avro'),
  'an update of an unknown action that names its file': () =>
    body({ action: 'set-magic', deep: [{ files: ['s3://lake/wh/secrets/metadata/snap-1.avro'] }] }),
}

for (const { name, commit, transact, message } of surfaces)
  describe(`by ${name}`, () => {
    for (const [attack, text] of Object.entries(attacks))
      test(`denies ${attack}`, async () => {
        const response = await commit(text())
        expect(response.status).toBe(403)
        const said = await message(response)
        expect(said).toStartWith('policy denied: territory: the location ')
        // Whose it is, stewards see.
        if (!text().includes('secrets')) expect(said).not.toContain('secrets')
        expect(said).not.toContain('sales.secrets')
      })

    test('allows what lies in the table’s own territory', async () => {
      const table = `own_${name.length}`
      const own = `s3://lake/wh/${table}`
      expect((await create(table, own)).status).toBe(200)
      for (const text of [
        append(`${own}/metadata/snap-1.avro`),
        properties({ 'write.data.path': `${own}/data`, 'write.metadata.path': `${own}/m` }),
        body({ action: 'set-location', location: `s3a://lake/wh/${table}/` }),
      ]) {
        const response = await commit(text, table)
        expect([response.status, response.status === 200 ? '' : await message(response)]).toEqual([200, ''])
      }
    })

    test('a new location that is nobody’s becomes the table’s, with the files in it', async () => {
      const table = `moved_${name.length}`
      expect((await create(table, `s3://lake/wh/${table}`)).status).toBe(200)
      const moved = `s3://lake/elsewhere/${table}`
      expect((await commit(append(`${moved}/metadata/a.avro`), table)).status).toBe(403)
      expect((await commit(body({ action: 'set-location', location: moved }), table)).status).toBe(200)
      expect((await commit(append(`${moved}/metadata/a.avro`), table)).status).toBe(200)
      expect((await commit(append(`${moved}/metadata/a.avro`), 'attack')).status).toBe(403)
      expect(
        (await commit(properties({ 'write.data.path': `s3://other/${table}/data` }), table)).status,
      ).toBe(200)
      expect((await create(`${table}_2`, `s3://other/${table}/data/x`)).status).toBe(403)
    })

    test('a transaction with one such table is refused whole, and takes nothing', async () => {
      const change = (name: string, ...updates: readonly object[]) => ({
        identifier: { namespace: ['sales'], name },
        requirements: [],
        updates,
      })
      const free = `s3://lake/free/${name.length}`
      const response = await transact([
        change('secrets', { action: 'set-location', location: free }),
        change('attack', { action: 'set-location', location: 's3://lake/wh/secrets' }),
      ])
      expect(response.status).toBe(403)
      expect(await message(response)).toStartWith('policy denied: sales.attack: territory: the location ')
      expect((await create(`free_${name.length}`, free)).status).toBe(200)
    })
  })

test('a denial is in the audit and the metric, and names the owner to stewards only', async () => {
  const series = 'commit_rejected_total{reason="policy_denied"}'
  const before = await metric(service, series)
  const response = await commit(service, append('s3://lake/wh/secrets/metadata/snap-1.avro'), {
    path: '/v1/iceberg/main/namespaces/sales/tables/attack',
  })
  expect(response.status).toBe(403)
  expect(await metric(service, series)).toBe(before + 1)
  const [newest] = await audit(service)
  expect(newest?.decision).toBe('REJECTED')
  expect(newest?.reason).toBe(
    'territory: the location s3://lake/wh/secrets/metadata/snap-1.avro is outside the territory of sales.attack',
  )
  expect(newest?.outcomes).toMatchObject([
    {
      policyId: 'territory',
      name: 'territory',
      value: false,
      explanation: expect.stringContaining('sales.secrets'),
    },
  ])
})

test('no policy may have the name of the denial', async () => {
  const policy = { id: 'p', kind: 'schema', mode: 'enforce', message: '', definitionCel: 'true' } as const
  const named = { ...policy, name: 'territory' }
  const kind = await putPolicy(service.store, service.owner.tenant, orders, named).catch(
    (fault) => fault.kind,
  )
  expect(kind).toBe('bad_request')
})

test('a table that a client only loads is in the index, for this tenant alone', async () => {
  const upstream = `${service.catalog.url}/v1/dev/namespaces/sales/tables`
  const headers = await upstreamHeaders(service.catalog)
  const sent = JSON.stringify(creation('quiet', 's3://lake/wh/quiet'))
  expect((await fetch(upstream, { method: 'POST', headers, body: sent })).status).toBe(200)
  expect((await send(service, 'GET', `${tables}/quiet`)).status).toBe(200)
  expect((await create('loud', 's3://lake/wh/quiet')).status).toBe(403)
  expect((await create('theirs_too', 's3://lake/wh/quiet', {}, { tenant: foreign })).status).toBe(200)
})

describe('a creation', () => {
  for (const staged of [false, true]) {
    const stage = { 'stage-create': staged }
    const kind = staged ? 'staged' : 'plain'
    for (const location of [
      's3://lake/wh/secrets',
      's3://lake/wh',
      's3://lake/wh/secrets/x',
      's3a://lake/wh//secrets',
    ])
      test(`A: ${kind}, at ${location}, is denied`, async () => {
        const response = await create('thief', location, stage)
        expect(response.status).toBe(403)
        expect(await messageOf(response)).toStartWith('policy denied: territory: the location ')
      })
    test(`B: ${kind}, with a write path into another table, is denied`, async () => {
      const response = await create('thief', undefined, {
        ...stage,
        properties: { 'write.data.path': 's3://lake/wh/secrets/data' },
      })
      expect(response.status).toBe(403)
    })
  }

  test('a staged one takes its location, and its commit may name files there', async () => {
    const staged = await create('staged', 's3://lake/wh/staged', { 'stage-create': true })
    expect([staged.status, staged.status === 200 ? '' : await staged.text()]).toEqual([200, ''])
    expect((await create('squatter', 's3://lake/wh/staged')).status).toBe(403)
    const { metadata } = (await staged.json()) as { metadata: Record<string, unknown> }
    const response = await send(service, 'POST', `${tables}/staged`, {
      requirements: [{ type: 'assert-create' }],
      updates: [
        { action: 'assign-uuid', uuid: metadata['table-uuid'] },
        { action: 'upgrade-format-version', 'format-version': 2 },
        { action: 'set-location', location: 's3://lake/wh/staged' },
        { action: 'add-schema', schema: schemaOf(orderFields), 'last-column-id': 4 },
        { action: 'set-current-schema', 'schema-id': -1 },
        { action: 'add-spec', spec: { 'spec-id': 0, fields: [] } },
        { action: 'set-default-spec', 'spec-id': -1 },
        { action: 'add-sort-order', 'sort-order': { 'order-id': 0, fields: [] } },
        { action: 'set-default-sort-order', 'sort-order-id': -1 },
      ],
    })
    expect([response.status, response.status === 200 ? '' : await response.text()]).toEqual([200, ''])
  })

  test('one that the upstream refuses gives its location back', async () => {
    expect((await create('attack', 's3://lake/wh/again')).status).toBe(409)
    expect((await create('again', 's3://lake/wh/again')).status).toBe(200)
  })

  test('a default location that the upstream chooses becomes the table’s', async () => {
    const response = await create('default_place', undefined)
    const { metadata } = (await response.json()) as { metadata: { location: string } }
    expect((await create('on_top', metadata.location)).status).toBe(403)
  })

  test('a default location in another table’s territory leaves the table without one', async () => {
    const probe = await create('probe', undefined, { 'stage-create': true })
    const { metadata } = (await probe.json()) as { metadata: { location: string } }
    const place = metadata.location.replace('/probe', '/doomed')
    expect((await create('holder', `${place}/held`)).status).toBe(200)
    const made = await create('doomed', undefined)
    expect(made.status).toBe(200)
    expect(await made.text()).not.toContain('held')
    expect((await surfaces[0]?.commit(append(`${place}/metadata/a.avro`), 'doomed'))?.status).toBe(403)
    expect((await create('holder_2', `${place}_2/held`)).status).toBe(200)
    const staged = await create('doomed_2', undefined, { 'stage-create': true })
    expect(staged.status).toBe(403)
    expect(await messageOf(staged)).toContain('which the catalog chose')
  })
})

describe('F: a registration', () => {
  test('of another table’s metadata file is denied', async () => {
    const response = await send(service, 'POST', '/namespaces/sales/register', {
      name: 'thief',
      'metadata-location': 's3://lake/wh/secrets/metadata/00000-a.metadata.json',
    })
    expect(response.status).toBe(403)
    expect(await messageOf(response)).toStartWith('policy denied: territory: the location ')
  })
})

describe('H: a dropped table', () => {
  test('keeps its territory from others, and has it back under its name', async () => {
    expect((await create('mortal', 's3://lake/wh/mortal')).status).toBe(200)
    expect((await send(service, 'DELETE', `${tables}/mortal`)).status).toBe(204)
    expect((await create('heir', 's3://lake/wh/mortal')).status).toBe(403)
    expect((await create('mortal', 's3://lake/wh/mortal')).status).toBe(200)
  })

  test('that was renamed before keeps it under its new name', async () => {
    expect((await create('bride', 's3://lake/wh/bride')).status).toBe(200)
    const [source, destination] = ['bride', 'wife'].map((name) => ({ namespace: ['sales'], name }))
    expect((await send(service, 'POST', '/tables/rename', { source, destination })).status).toBe(204)
    expect((await create('bride', 's3://lake/wh/bride')).status).toBe(403)
    const own = await send(service, 'POST', `${tables}/wife`, append('s3://lake/wh/bride/metadata/a.avro'))
    expect(own.status).toBe(200)
  })
})

describe('J: another catalog credential of the tenant', () => {
  const there = async (method: string, path: string, sent?: unknown) =>
    fetch(new URL(`/v1/iceberg/second/v1${path}`, service.app.url), {
      method,
      ...(sent !== undefined && { body: JSON.stringify(sent) }),
      headers: { 'content-type': 'application/json', 'x-svc-session': service.owner.secret },
    })

  test('meets the territory of the first, also under the same name', async () => {
    for (const name of ['thief', 'secrets'])
      expect((await there('POST', tables, creation(name, 's3://lake/wh/secrets'))).status).toBe(403)
    expect((await there('POST', tables, creation('guest', 's3://lake/wh/guest'))).status).toBe(200)
    const response = await there(
      'POST',
      `${tables}/guest`,
      JSON.parse(append('s3://lake/wh/secrets/metadata/snap-1.avro')),
    )
    expect(response.status).toBe(403)
    expect((await create('host', 's3://lake/wh/guest')).status).toBe(403)
  })
})

describe('another tenant', () => {
  test('is neither met nor named', async () => {
    const mine = await create('theirs', 's3://lake/foreign/t', {}, { tenant: foreign })
    expect([mine.status, mine.status === 200 ? '' : await mine.text()]).toEqual([200, ''])
    const ours = await create('ours', 's3://lake/foreign/t')
    expect(ours.status).toBe(200)
    const rows = await service.store.tenantQuery<{ name: string }>(
      foreign.tenant,
      `select table_name as name from svc.territory where prefix = 's3://lake/foreign/t/'`,
    )
    expect(rows.map(({ name }) => name)).toEqual(['theirs'])
  })
})

test('a commit is refused while the index cannot be fed, in each mode: neither folders nor name are known', async () => {
  await using broken = await startTestService({
    wrapStore: (store) => ({
      ...store,
      tenantCall: (tenant, name, params) =>
        name === 'claim_territory'
          ? Promise.reject(new Error('the store is down'))
          : store.tenantCall(tenant, name, params),
    }),
  })
  const text = properties({ a: 'b' })
  expect((await commit(broken, text)).status).toBe(503)
  await enforceTerritory(broken.store, broken.owner.tenant)
  expect((await commit(broken, properties({ a: 'c' }))).status).toBe(503)
})
