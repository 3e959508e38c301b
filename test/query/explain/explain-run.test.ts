/** EXPLAIN, over HTTP and over the PostgreSQL wire, describes the run of a statement in a catalog. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { tableInFolder } from '../../../demo/lake/iceberg-writer.ts'
import { putContract } from '../../../src/contract/put-contract.ts'
import { putMask } from '../../../src/contract/put-mask.ts'
import { putRowFilter } from '../../../src/contract/put-row-filter.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { putCatalogCredential } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { pinTable, unpinTable } from '../../../src/store/contract/pins.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { startUpstream, type TestUpstream } from '../../catalog/upstream.ts'
import { actorOf } from '../../support/actor.ts'
import { commitColumns } from '../../support/governed.ts'
import { call, session } from '../../support/identity.ts'
import { startTestService, type TestService } from '../../support/service.ts'

setDefaultTimeout(300_000)

const people = { namespace: ['hr'], name: 'people' }
/** Without a schema: only a search path finds it. */
const statement = 'SELECT * FROM people'
const before = ['id int8', 'email text']
const after = ['id int8', 'mail text', 'phone text']
const engines = [
  ['lake', 'duckdb'],
  ['by-trino', 'trino'],
] as const

const stack = new AsyncDisposableStack()
let service: TestService
let upstream: TestUpstream
let steward: string
let reader: string
let foreign: string
let snapshots: readonly [bigint, bigint]

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'explain-run-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const id = { id: 1, name: 'id', type: 'long' } as const
  const writer = tableInFolder(folder, 'people', {
    fields: [id, { id: 2, name: 'email', type: 'string' }],
  })
  const first = await writer.append([{ rows: [{ id: 1n, email: 'a@x.eu' }] }])
  await writer.evolve([id, { id: 2, name: 'mail', type: 'string' }, { id: 3, name: 'phone', type: 'string' }])
  const second = await writer.append([{ rows: [{ id: 2n, mail: 'b@x.eu', phone: '1' }] }])
  snapshots = [first.snapshotId, second.snapshotId]
  upstream = startUpstream(async (_, path) => {
    if (path.endsWith('/oauth/tokens')) return Response.json({ access_token: 'x' })
    const location = writer.metadataLocation ?? ''
    const metadata = await Bun.file(new URL(location)).text()
    return new Response(`{"metadata-location":${JSON.stringify(location)},"metadata":${metadata}}`)
  })
  stack.defer(() => upstream.stop())
  service = stack.use(await startTestService())
  const { store, owner } = service
  const endpoint = upstream.url.replace(/\/$/, '')
  for (const [nickname, engine] of engines)
    await putCatalogCredential(store, owner.tenant, {
      ...{ nickname, kind: 'alpha', endpoint },
      config: { warehouse: 'dev', credential: 'a:b', read_engine: engine },
    })
  await putCatalogCredential(store, owner.tenant, {
    ...{ nickname: 'down', kind: 'alpha', endpoint: 'http://127.0.0.1:1' },
    config: { warehouse: 'dev', credential: 'a:b' },
  })
  await commitColumns(store, owner.tenant, people, { id: 'long', email: 'string' })
  const now = { id: 'long', mail: 'string', phone: 'string' }
  await commitColumns(store, owner.tenant, people, now, 1_700_000_001_000)
  const on = { store, tenant: owner.tenant, actor: actorOf('stella'), checkPolicies }
  const schema = { description: 'People, and how to reach them' }
  await putContract(on, people, { id: 'people', version: 1, schema })
  await putMask(
    on,
    { table: people, column: 'mail' },
    { id: 'hide', action: 'mask-alphanum', exemptRoles: [] },
  )
  steward = await session(service, owner.tenant, ['read'], ['steward'], 'stella')
  reader = await session(service, owner.tenant, ['read'], [], 'ada')
  const other = (await createTenant(store, { name: 'foreign' })).id
  const config = { warehouse: 'dev', credential: 'a:b' }
  await putCatalogCredential(store, other, { nickname: 'lake', kind: 'alpha', endpoint, config })
  foreign = await session(service, other, ['read'], ['steward'], 'fay')
})
afterAll(() => stack.disposeAsync())

interface Explained {
  readonly dialect: string
  readonly sql: string
  readonly columns: readonly { readonly name: string; readonly type: string }[]
  readonly reads: readonly object[]
  readonly policies: readonly object[]
  readonly error?: { readonly sqlstate?: string }
}

async function explain(body: object, secret = steward): Promise<[number, Explained]> {
  const answer = await call(service, 'POST', '/api/v1/query/explain', {
    secret,
    body: { statement, ...body },
  })
  return [answer.status, (await answer.json()) as Explained]
}

const listed = ({ columns }: Pick<Explained, 'columns'>) => columns.map(({ name, type }) => `${name} ${type}`)

/** The columns that a run in the same place reports. */
async function prepared(catalog: string) {
  const { tenant } = service.owner
  const principal = { sub: 'stella', roles: ['steward'] }
  const reader = { stillValid: async () => true }
  const place = { principalSource: 'session', reader, surface: 'rest', catalog, searchPath: ['hr'] } as const
  return listed(await service.app.queries.prepare({ tenant, principal, ...place }, statement))
}

/** Runs `work` while the table is pinned to its first snapshot. */
async function whilePinned(work: () => Promise<void>): Promise<void> {
  const { store, owner } = service
  const change = { table: people, actor: actorOf('stella'), atMs: 0 }
  const [snapshotId] = snapshots
  await pinTable(store, owner.tenant, change, { snapshotId, schemaId: 0n, catalog: 'lake' })
  await work().finally(() => unpinTable(store, owner.tenant, change))
}

async function explainOverWire(
  database: string,
  text: string,
  password = steward,
  user = 'stella',
): Promise<string[]> {
  const client = new pg.Client({
    ...{ host: '127.0.0.1', port: service.app.pgwirePort ?? 0, user, password, database },
  })
  await client.connect()
  try {
    await client.query('SET search_path TO hr')
    return (await client.query(`EXPLAIN ${text}`)).rows.map((row) => row['QUERY PLAN'])
  } finally {
    await client.end()
  }
}

test.each(engines)(
  'in %s a statement is explained for %s, at the current snapshot',
  async (catalog, dialect) => {
    const [status, answer] = await explain({ catalog, search_path: ['hr'] })
    expect({ status, ...answer }).toMatchObject({
      status: 200,
      dialect,
      reads: [{ table: people, snapshot: { id: String(snapshots[1]), pinned: false } }],
      policies: [{ id: 'hide', column: 'mail' }],
    })
    expect(listed(answer)).toEqual(after)
    expect(await prepared(catalog)).toEqual(after)
  },
)

test.each(engines)(
  'in %s a pinned table is explained for %s with the columns of its pin',
  (catalog, dialect) =>
    whilePinned(async () => {
      const [status, answer] = await explain({ catalog, search_path: ['hr'] })
      expect({ status, ...answer }).toMatchObject({
        status: 200,
        dialect,
        reads: [{ table: people, snapshot: { id: String(snapshots[0]), pinned: true } }],
        policies: [{ id: 'hide', column: 'email' }],
      })
      expect(listed(answer)).toEqual(before)
      expect(await prepared(catalog)).toEqual(before)
      const [later, { error }] = await explain({ catalog, statement: 'SELECT mail FROM hr.people' })
      expect([later, error?.sqlstate]).toEqual([400, '42703'])
    }),
)

test('without a catalog a pinned table is not explained: its columns are the pin’s', () =>
  whilePinned(async () => {
    const [status, { error }] = await explain({ dialect: 'duckdb', search_path: ['hr'] })
    expect([status, error?.sqlstate]).toEqual([409, '55000'])
  }))

test('what only one engine can do is refused where the other reads', async () => {
  const median = 'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY id) FROM hr.people'
  expect((await explain({ catalog: 'lake', statement: median }))[0]).toBe(200)
  const [status, { error }] = await explain({ catalog: 'by-trino', statement: median })
  expect([status, error?.sqlstate]).toEqual([400, '0A000'])
})

test.each([
  ['an unknown catalog', { catalog: 'none' }, 404, '3D000'],
  ['a catalog that does not answer', { catalog: 'down', search_path: ['hr'] }, 502, undefined],
  ['a name outside the search path', { catalog: 'lake' }, 400, '42P01'],
  ['a catalog and an engine at once', { catalog: 'lake', dialect: 'trino' }, 400, undefined],
  ['neither a catalog nor an engine', {}, 400, undefined],
])('%s is an error', async (_, body, expected, sqlstate) => {
  const [status, { error }] = await explain(body)
  expect([status, error?.sqlstate]).toEqual([expected, sqlstate])
})

test('a foreign tenant has no such catalog', async () => {
  const foreign = (await createTenant(service.store, { name: 'foreign' })).id
  const secret = await session(service, foreign, ['read'], ['steward'])
  const [status, { error }] = await explain({ catalog: 'lake', search_path: ['hr'] }, secret)
  expect([status, error?.sqlstate]).toEqual([404, '3D000'])
})

test('over the wire EXPLAIN follows the database’s engine and the session’s search path', async () => {
  for (const [database, dialect] of engines) {
    const lines = await explainOverWire(database, statement)
    expect(lines.slice(1, 7)).toEqual([
      `  Columns: ${after.join(', ')}`,
      `  Engine: ${dialect}`,
      `  Reads: hr.people at snapshot ${snapshots[1]}: id, mail, phone`,
      '  Contract: people, version 1: People, and how to reach them',
      '  Column Mask: mask-alphanum on hr.people.mail (hide)',
      '  Access: covenant access request hr.people --columns mail',
    ])
    expect(lines[7]).toStartWith('  Remote SQL: SELECT')
  }
})

test('over the wire EXPLAIN shows a reader the filters and masks that apply to them, and not what they compare with', async () => {
  const filter = { id: 'eu', expression: "mail LIKE '%.eu'", exemptRoles: ['steward'] }
  const { store, owner } = service
  const on = { store, tenant: owner.tenant, actor: actorOf('stella'), checkPolicies }
  await putRowFilter(on, { table: people }, filter)
  const lines = await explainOverWire('lake', statement, reader, 'ada')
  expect(lines).toEqual([
    expect.stringMatching(/^Foreign Scan {2}\(cost=[\d.]+\.\.[\d.]+ rows=1000 width=72\)$/),
    `  Columns: ${after.join(', ')}`,
    '  Engine: duckdb',
    `  Reads: hr.people at snapshot ${snapshots[1]}: id, mail, phone`,
    '  Contract: people, version 1: People, and how to reach them',
    '  Row Filter: on hr.people (eu)',
    '  Column Mask: mask-alphanum on hr.people.mail (hide)',
    '  Access: covenant access request hr.people',
  ])
  const told = await explainOverWire('lake', `(FORMAT JSON, VERBOSE) ${statement}`, reader, 'ada')
  expect(JSON.stringify(told)).not.toContain('LIKE')
  expect(await explainOverWire('lake', statement)).not.toContain('  Row Filter: on hr.people (eu)')
})

test('over the wire EXPLAIN shows which columns an outer join fills with NULL', async () => {
  const text =
    '(FORMAT JSON, VERBOSE) SELECT a.id, b.id AS other, b.phone FROM people a LEFT JOIN people b USING (id)'
  const [answer] = (await explainOverWire('lake', text, reader, 'ada')) as unknown as [[{ Plan: object }]]
  expect(answer[0].Plan).toMatchObject({
    'Join Type': 'Left',
    Output: ['id', 'other', 'phone'],
    Plans: [
      { 'Parent Relationship': 'Outer', Output: ['id'] },
      { 'Parent Relationship': 'Inner', Output: ['other', 'phone'] },
    ],
  })
})

test('over the wire EXPLAIN of another tenant’s table, or without its contract, is refused as a run is', async () => {
  const code = async (text: string, secret: string, sub: string) =>
    await explainOverWire('lake', text, secret, sub).catch((error: pg.DatabaseError) => error.code)
  expect(await code('SELECT * FROM nothing', reader, 'ada')).toBe('42P01')
  expect(await code(statement, foreign, 'fay')).toBe('42P01')
})

test('over the wire EXPLAIN has the columns of the pin', () =>
  whilePinned(async () => {
    expect((await explainOverWire('lake', statement)).slice(1, 4)).toEqual([
      `  Columns: ${before.join(', ')}`,
      '  Engine: duckdb',
      `  Reads: hr.people at its pin, snapshot ${snapshots[0]}: id, email`,
    ])
  }))

test('over the wire EXPLAIN in a catalog that does not answer is 58000', async () => {
  const code = await explainOverWire('down', statement).catch((error: pg.DatabaseError) => error.code)
  expect(code).toBe('58000')
})
