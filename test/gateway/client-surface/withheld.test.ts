/** What a loaded table hides from principals with a filter or mask, and tables that the upstream restricts. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { SessionScope } from '../../../src/core/session.ts'
import { answerClient } from '../../../src/gateway/client-surface/client-surface.ts'
import { findServiceSession } from '../../../src/store/session/sessions.ts'
import { startUpstream, type TestUpstream } from '../../catalog/upstream.ts'
import { session } from '../../support/identity.ts'
import {
  addTenant,
  openUncontracted,
  prefix,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../support/service.ts'
import { messageOf } from '../../support/surface.ts'

setDefaultTimeout(300_000)

/** Stands in every number that says something of rows, and in nothing else. */
const secret = 777_123
const summary = {
  operation: 'append',
  'added-records': `${secret}`,
  'total-records': `${secret}`,
  'total-files-size': `${secret}`,
  'changed-partition-count': `${secret}`,
  'partitions.region=secret-777123': `added-records=${secret}`,
  'an-engine’s-own': `${secret}`,
}
const schema = { 'schema-id': 0, type: 'struct', fields: [] }
const rowMembers = {
  'next-row-id': secret,
  statistics: [
    {
      'snapshot-id': 9007199254740993n,
      'statistics-path': 's3://lake/t/metadata/777123.stats',
      'file-size-in-bytes': secret,
      'blob-metadata': [
        { type: 'apache-datasketches-theta-v1', fields: [1], properties: { ndv: `${secret}` } },
      ],
    },
  ],
  'partition-statistics': [{ 'snapshot-id': 1, 'statistics-path': 'x', 'file-size-in-bytes': secret }],
  'a-member-of-tomorrow': secret,
}
const plainMembers = {
  'format-version': 3,
  'table-uuid': '9c12d441-03fe-4693-9a96-a0705ddf69c1',
  location: 's3://lake/t',
  'last-sequence-number': 2,
  'last-updated-ms': 1_700_000_000_000,
  'last-column-id': 0,
  schemas: [schema],
  'current-schema-id': 0,
  'partition-specs': [{ 'spec-id': 0, fields: [] }],
  'default-spec-id': 0,
  'sort-orders': [{ 'order-id': 0, fields: [] }],
  'default-sort-order-id': 0,
  'current-snapshot-id': '9007199254740993',
  'snapshot-log': [{ 'snapshot-id': 1, 'timestamp-ms': 1 }],
  'metadata-log': [],
  refs: { main: { 'snapshot-id': 1, type: 'branch' }, v1: { 'snapshot-id': 1, type: 'tag' } },
}
const properties = {
  'write.format.default': 'parquet',
  'commit.retry.num-retries': '4',
  'schema.name-mapping.default': '[]',
  numRows: `${secret}`,
  'spark.sql.statistics.numRows': `${secret}`,
  'spark.sql.statistics.colStats.age.max': `${secret}`,
  owner: 'secret-777123',
}
const snapshot = {
  'snapshot-id': '9007199254740993',
  'parent-snapshot-id': 1,
  'sequence-number': 2,
  'timestamp-ms': 1_700_000_000_000,
  'manifest-list': 's3://lake/t/metadata/snap.avro',
  'schema-id': 0,
}
const snapshots = [
  { ...snapshot, 'first-row-id': secret, 'added-rows': secret, summary },
  {
    'snapshot-id': 1,
    'timestamp-ms': 1,
    'manifest-list': 's3://lake/t/metadata/1.avro',
    summary: { a: 'b' },
  },
  { 'snapshot-id': 2, 'timestamp-ms': 2, manifests: ['s3://lake/t/metadata/2.avro'] },
]
/** Ids that doubles cannot hold are written as they are. */
const big = (text: string) => text.replaceAll('"9007199254740993"', '9007199254740993')
const metadata = big(
  JSON.stringify({ ...plainMembers, ...rowMembers, properties, snapshots }, (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  ),
)
const credentials = [
  { prefix: 's3://lake/t', config: { 's3.access-key-id': 'AK', 's3.session-token': 'ST' } },
]
const config = { 'client.region': 'eu-1', 's3.access-key-id': 'AK' }

let service: TestService
let upstream: TestUpstream
let tenant: TestTenant
let reader: string
/** The text of the upstream's `read-restrictions`; undefined where it sends none. */
let restrictions: string | undefined

beforeAll(async () => {
  service = await startTestService()
  upstream = startUpstream(async (request, path) => {
    if (path.endsWith('/oauth/tokens')) return Response.json({ access_token: 'upstream-token' })
    if (path.endsWith('/credentials')) return Response.json({ 'storage-credentials': credentials })
    if (path.endsWith('/plan')) return Response.json({ status: 'completed', 'plan-id': 'p' })
    if (request.headers.get('if-none-match') === '"e1"') return new Response(null, { status: 304 })
    const rest = JSON.stringify({ config, 'storage-credentials': credentials }).slice(1, -1)
    const restricted = restrictions === undefined ? '' : `,"read-restrictions":${restrictions}`
    return new Response(
      `{"metadata-location":"s3://lake/t/metadata/1.json","metadata":${metadata},${rest}${restricted}}`,
      { headers: { etag: '"e1"' } },
    )
  })
  tenant = await addTenant(service.store, 'counted', upstream.url.replace(/\/$/, ''), {
    storage_roots: ['s3://lake'],
  })
  await openUncontracted(service.store, tenant)
  reader = await session(service, tenant.tenant, ['read'] satisfies SessionScope[])
})
afterAll(async () => {
  await upstream.stop()
  await service[Symbol.asyncDispose]()
})

const table = '/namespaces/n/tables/t'
const delegated = { 'x-iceberg-access-delegation': 'vended-credentials' }

interface Asked {
  readonly method?: string
  readonly body?: unknown
  readonly masked?: boolean
  readonly secret?: string
  readonly headers?: Readonly<Record<string, string>>
}

async function ask(path: string, asked: Asked = {}): Promise<Response> {
  const { method = 'GET', body, masked = false, headers } = asked
  const request = new Request(new URL(`/v1/iceberg/${prefix}/v1${path}`, service.app.url).href, {
    method,
    headers: { 'x-svc-session': asked.secret ?? reader, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return await answerClient(
    { ...service.app.gateway, sightFor: async () => ({ masked, uncontracted: undefined }) },
    request,
    {
      findSession: (value) => findServiceSession(service.store, value),
      identify: async () => ({ principal: { sub: 'ada', roles: [] }, source: 'session', verified: true }),
    },
  )
}

async function textOf(path: string, asked: Asked): Promise<string> {
  const response = await ask(path, asked)
  const text = await response.text()
  expect({ status: response.status, text: response.status === 200 ? '' : text }).toEqual({
    status: 200,
    text: '',
  })
  return text
}

const name = { name: 't' }
const created = { ...name, schema: { type: 'struct', fields: [] } }
const registered = { ...name, 'metadata-location': 's3://lake/t/metadata/1.json' }

describe('where a filter or mask applies', () => {
  test.each([
    ['a loaded table', 'GET', table, undefined],
    ['a table loaded with all snapshots', 'GET', `${table}?snapshots=all`, undefined],
    ['a table loaded with the snapshots of refs', 'GET', `${table}?snapshots=refs`, undefined],
    ['a created table', 'POST', '/namespaces/n/tables', created],
    ['a registered table', 'POST', '/namespaces/n/register', registered],
    ['an unregistered table', 'POST', `${table}/unregister`, {}],
  ])('%s says nothing of its rows', async (_, method, path, body) => {
    const options = { method, body, masked: true, secret: method === 'GET' ? reader : tenant.secret }
    const text = await textOf(path, options)
    const nextRowId = /"next-row-id":(\d+)/.exec(text)?.[1]
    expect(nextRowId).toBe(method === 'GET' ? '0' : `${secret}`)
    expect(text.replace(`"next-row-id":${nextRowId}`, '')).not.toContain(`${secret}`)
    const found = JSON.parse(text).metadata
    expect(found).not.toContainAnyKeys(['statistics', 'partition-statistics', 'a-member-of-tomorrow'])
  })

  test('its metadata keeps what clients need, ids of snapshots digit for digit', async () => {
    const text = await textOf(table, { masked: true })
    expect(text).toContain('"snapshot-id":9007199254740993,')
    expect(text).toContain('"current-snapshot-id":9007199254740993,')
    const { properties: shown, snapshots: shots, 'next-row-id': _, ...rest } = JSON.parse(text).metadata
    expect(rest).toEqual(JSON.parse(big(JSON.stringify(plainMembers))))
    expect(shown).toEqual({
      'write.format.default': 'parquet',
      'commit.retry.num-retries': '4',
      'schema.name-mapping.default': '[]',
    })
    const withheld = { 'covenant.withheld': 'counts' }
    expect(shots).toEqual([
      {
        ...JSON.parse(big(JSON.stringify(snapshot))),
        'first-row-id': 0,
        'added-rows': 0,
        summary: { operation: 'append', ...withheld },
      },
      {
        'snapshot-id': 1,
        'timestamp-ms': 1,
        'manifest-list': 's3://lake/t/metadata/1.avro',
        summary: withheld,
      },
      { 'snapshot-id': 2, 'timestamp-ms': 2, manifests: ['s3://lake/t/metadata/2.avro'] },
    ])
  })

  test('who may commit is told the next row id, without which no row could be added', async () => {
    const text = await textOf(table, { masked: true, secret: tenant.secret })
    expect(JSON.parse(text).metadata['next-row-id']).toBe(secret)
  })

  test('a client that had the counts before is given the whole table, not 304', async () => {
    const headers = { 'if-none-match': '"e1"' }
    const response = await ask(table, { masked: true, headers })
    expect([response.status, response.headers.has('etag')]).toEqual([200, false])
    expect((await ask(table, { headers })).status).toBe(304)
  })

  test('the answer to a commit is the upstream’s, as it is', async () => {
    const body = { requirements: [], updates: [{ action: 'set-properties', updates: { a: 'b' } }] }
    const text = await textOf(table, { method: 'POST', body, masked: true, secret: tenant.secret })
    expect(text).toContain(`"metadata":${metadata}`)
  })
})

test('where none applies the metadata passes byte for byte', async () => {
  expect(await textOf(table, {})).toContain(`"metadata":${metadata}`)
})

describe('a table that the upstream restricts', () => {
  const restricting = [
    '{"required-row-filter":{"type":"eq","left":{"type":"reference","id":3},"right":{"type":"literal","value":"eu"}}}',
    '{"required-column-projections":[{"field-id":5,"action":"mask-alphanum"}]}',
    '{"required-row-filter":null}',
    '{"a-rule-of-tomorrow":{}}',
    '{"required-column-projections":{}}',
    '{"a":01}',
    '[]',
    'null',
    'false',
    '""',
  ]
  test.each(restricting)('counts as masked: %s', async (text) => {
    restrictions = text
    const response = await ask(table, { headers: delegated })
    expect([response.status, response.headers.has('etag')]).toEqual([200, false])
    const answer = await response.text()
    expect(answer).not.toContain(`${secret}`)
    expect(answer).not.toMatch(/"AK"|"ST"|eu-1|read-restrictions/)
    for (const [method, path] of [
      ['GET', `${table}/credentials`],
      ['POST', `${table}/plan`],
      ['GET', `${table}/plan/p`],
      ['DELETE', `${table}/plan/p`],
      ['POST', `${table}/tasks`],
    ] as const) {
      const before = upstream.seen.length
      const refused = await ask(path, { method, ...(method === 'POST' && { body: {} }) })
      expect({ method, path, status: refused.status }).toEqual({ method, path, status: 403 })
      expect(await messageOf(refused)).toStartWith(
        'policy denied: the upstream catalog restricts reading n.t',
      )
      // The sweep of the territory index may list and load beside it.
      expect(upstream.seen.slice(before).filter((one) => /credentials|plan|tasks/.test(one))).toEqual([])
    }
  })

  test.each([undefined, '{}', '{ }', '{"required-column-projections":[]}'])(
    'is none where it sends no restriction: %s',
    async (text) => {
      restrictions = text
      const response = await ask(table, { headers: delegated })
      const answer = (await response.json()) as { config: object; 'storage-credentials': unknown }
      expect(answer['storage-credentials']).toEqual(credentials)
      expect(answer.config).toEqual(config)
      expect(response.headers.get('etag')).toBe('"e1"')
      expect(await (await ask(`${table}/credentials`)).json()).toEqual({ 'storage-credentials': credentials })
      expect((await ask(`${table}/plan`, { method: 'POST', body: {} })).status).toBe(200)
    },
  )
})
