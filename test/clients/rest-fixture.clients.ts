/** The alpha adapter against Iceberg's own REST server, through the gateway's literal path. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { tmpdir } from 'node:os'
import { pathToFileURL } from 'node:url'
import { appendSnapshot, firstSnapshotId, setProperties } from '../../demo/commits.ts'
import type { TableRef } from '../../src/core/table-ref.ts'
import { freePort } from '../support/free-port.ts'
import { type Gate, openGate } from './gate.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { createTable, loadTable, send, type Target, tablePath } from './iceberg-api.ts'
import { allChecked, probeRequirements } from './requirement-probes.ts'
import { startRestFixture } from './servers.ts'

let gate: Gate
let gateway: Gateway
let direct: Target
let tables = 0
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  const fixture = stack.use(await startRestFixture())
  gate = stack.use(openGate(fixture.url))
  direct = { base: `${fixture.url}/v1` }
  gateway = stack.use(await startGateway(upstream(), { observe: true }))
})
afterAll(() => stack.disposeAsync())

function upstream(config: Readonly<Record<string, unknown>> = {}) {
  // Its tables lie among the temporary files; outside of the roots no access is asked for.
  const own = { warehouse: 'w', credential: 'gateway:s3cret', storage_roots: [pathToFileURL(tmpdir()).href] }
  return { kind: 'alpha', url: gate.url, config: { ...own, ...config } } as const
}

async function newTable(namespace = ['sales']): Promise<TableRef> {
  const table = { namespace, name: `orders_${++tables}` }
  await createTable(direct, table)
  return table
}

const append = (snapshotId: bigint, sequenceNumber = 1, parentId?: bigint) =>
  appendSnapshot({ snapshotId, parentId, sequenceNumber, timestampMs: Date.now() })
const commitsOn = (table: TableRef) =>
  gate.passed.filter(({ method, path }) => method === 'POST' && path.endsWith(`/tables/${table.name}`))

test('fixture: a commit that policies allow is made upstream, audited, and echoed byte for byte', async () => {
  const table = await newTable()
  await gateway.govern(table, {
    id: `has-id-${table.name}`,
    definitionCel: 'manifest.has_column(commit.result, "id")',
  })
  const answer = await gateway.commit(table, append(firstSnapshotId))
  expect(answer.status).toBe(200)
  expect(await answer.text()).toContain(`"current-snapshot-id":${firstSnapshotId}`)
  const { 'metadata-location': location } = await loadTable(direct, table)
  expect(await gateway.audit(table)).toMatchObject([{ decision: 'APPROVED', metadataLocation: location }])
})

test('fixture: a denied commit never reaches the catalog', async () => {
  const table = await newTable()
  await gateway.govern(table, { id: `never-${table.name}`, definitionCel: 'false', message: 'frozen' })
  const answer = await gateway.commit(table, setProperties({ a: '1' }))
  expect(answer.status).toBe(403)
  expect(await answer.text()).toContain('policy denied: ')
  expect(commitsOn(table)).toEqual([])
  expect(await gateway.audit(table)).toMatchObject([{ decision: 'REJECTED' }])
})

test('fixture: a requirement that no longer holds is 409, in the words of the catalog', async () => {
  const table = await newTable()
  expect((await gateway.commit(table, append(1n))).status).toBe(200)
  const late = await gateway.commit(table, append(2n))
  expect(late.status).toBe(409)
  expect(await late.text()).toContain('Requirement failed')
})

test('fixture: a commit of which one requirement does not hold is refused, whatever its type, so commits can be pinned', async () => {
  expect(await probeRequirements(direct, newTable)).toEqual(allChecked)
})

test('fixture: a ref that must be absent is refused where it is there', async () => {
  const table = await newTable()
  expect((await gateway.commit(table, append(1n))).status).toBe(200)
  const body = JSON.stringify({
    requirements: [{ type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': null }],
    updates: [{ action: 'set-properties', updates: { a: '1' } }],
  })
  expect((await send(direct, 'POST', tablePath(table), body)).status).toBe(409)
})

test('fixture: a table, or a namespace, that is not there is 404', async () => {
  const table = await newTable()
  for (const missing of [
    { ...table, name: 'none' },
    { ...table, namespace: ['none'] },
  ])
    expect((await gateway.commit(missing, setProperties({ a: '1' }))).status).toBe(404)
})

test('fixture: a token that the server stops taking is renewed, and the commit goes through', async () => {
  const table = await newTable()
  await gateway.commit(table, setProperties({ a: '1' }))
  gate.passed.length = 0
  let refusals = 1
  gate.interfere = (_, path) =>
    path.endsWith(`/tables/${table.name}`) && refusals-- > 0 ? new Response('{}', { status: 401 }) : undefined
  const answer = await gateway.commit(table, setProperties({ a: '2' }))
  gate.interfere = () => undefined
  expect(answer.status).toBe(200)
  expect(gate.passed.filter(({ path }) => path.endsWith('/oauth/tokens'))).toHaveLength(1)
})

test('fixture: a token that is refused twice is 401', async () => {
  const table = await newTable()
  gate.interfere = (_, path) =>
    path.endsWith(`/tables/${table.name}`) ? new Response('{}', { status: 401 }) : undefined
  const answer = await gateway.commit(table, setProperties({ a: '2' }))
  gate.interfere = () => undefined
  expect(answer.status).toBe(401)
  expect(await answer.text()).toContain('NotAuthorizedException')
})

test('fixture: an upstream that is down is 502', async () => {
  const table = await newTable()
  const url = `http://127.0.0.1:${freePort()}`
  await gateway.register('down', { kind: 'alpha', url, config: { warehouse: 'w' } })
  expect((await gateway.commit(table, setProperties({ a: '1' }), { prefix: 'down' })).status).toBe(502)
})

test('fixture: a load is conditional, and metadata that was loaded before is not sent again', async () => {
  const table = await newTable()
  await gateway.govern(table, { id: `never-${table.name}`, definitionCel: 'false' })
  gate.passed.length = 0
  for (const a of ['1', '2']) expect((await gateway.commit(table, setProperties({ a }))).status).toBe(403)
  const loads = gate.passed.filter(({ method, path }) => method === 'GET' && path.includes(table.name))
  expect(loads.map(({ status }) => status)).toEqual([200, 304])
})

test('fixture: the gateway never asks for credentials on its own load', async () => {
  const table = await newTable()
  const vending = { 'x-iceberg-access-delegation': 'vended-credentials' }
  gate.passed.length = 0
  await gateway.commit(table, setProperties({ a: '1' }), { headers: vending })
  const loads = gate.passed.filter(({ method }) => method === 'GET')
  expect(loads.length).toBeGreaterThan(0)
  for (const { headers } of loads) expect(headers.get('x-iceberg-access-delegation')).toBeNull()
})

test('fixture: a client’s request for vended credentials reaches an alpha catalog when it loads a table', async () => {
  const table = await newTable()
  gate.passed.length = 0
  const answer = await fetch(`${gateway.catalogUri()}/v1${tablePath(table)}`, {
    headers: { 'x-svc-session': gateway.secret, 'x-iceberg-access-delegation': 'vended-credentials' },
  })
  expect(answer.status).toBe(200)
  const [load] = gate.passed.filter(({ method, path }) => method === 'GET' && path.includes(table.name))
  expect(load?.headers.get('x-iceberg-access-delegation')).toBe('vended-credentials')
})

test.each(['lose', 'fail'] as const)(
  'fixture: a commit whose answer was lost is told as made, with the table, and audited: %s',
  async (effect) => {
    const table = await newTable()
    gate.interfere = (request, path) =>
      request.method === 'POST' && path.endsWith(`/tables/${table.name}`) ? effect : undefined
    const answer = await gateway.commit(table, setProperties({ lost: 'yes' }))
    gate.interfere = () => undefined
    expect(answer.status).toBe(200)
    const { 'metadata-location': location } = await loadTable(direct, table)
    expect(await answer.json()).toMatchObject({ 'metadata-location': location })
    expect(await gateway.audit(table)).toMatchObject([{ decision: 'APPROVED', metadataLocation: location }])
  },
)

test('fixture: recovery completes the audit of a commit whose answer was lost while the table could not be loaded', async () => {
  const table = await newTable()
  let sent = false
  gate.interfere = (request, path) => {
    if (!path.includes(`/tables/${table.name}`)) return undefined
    if (request.method !== 'POST') return sent ? new Response('', { status: 503 }) : undefined
    sent = true
    return 'lose'
  }
  const answer = await gateway.commit(table, setProperties({ lost: 'yes' }))
  gate.interfere = () => undefined
  expect(answer.status).toBe(502)
  await gateway.recover()
  const { 'metadata-location': location } = await loadTable(direct, table)
  expect(await gateway.audit(table)).toMatchObject([{ decision: 'APPROVED', metadataLocation: location }])
})

test('fixture: namespaces of two levels are reached with the separator that the catalog names', async () => {
  const surface: Target = {
    base: `${gateway.catalogUri()}/v1`,
    headers: { 'x-svc-session': gateway.secret },
  }
  await send(surface, 'POST', '/namespaces', JSON.stringify({ namespace: ['eu'] }))
  const table = { namespace: ['eu', 'sales'], name: 'orders' }
  await createTable(surface, table)
  expect((await loadTable(surface, table)).metadata['table-uuid']).toBeString()
  const listed = await send(surface, 'GET', '/namespaces?parent=eu')
  expect(await listed.json()).toMatchObject({ namespaces: [['eu', 'sales']] })
})

test('fixture: two writers race for 200 commits: each acknowledged one is in the history once, each loser saw 409', async () => {
  const table = await newTable()
  const acknowledged: number[] = []
  const statuses = new Set<number>()
  let tried = 0
  const writer = async () => {
    while (tried < 200) {
      const snapshotId = ++tried
      const { snapshots = [] } = (await loadTable(direct, table)).metadata
      const parent = snapshots.at(-1)?.['snapshot-id']
      const body = append(
        BigInt(snapshotId),
        snapshots.length + 1,
        parent === undefined ? undefined : BigInt(parent),
      )
      const answer = await gateway.commit(table, body)
      await answer.bytes()
      statuses.add(answer.status)
      if (answer.status === 200) acknowledged.push(snapshotId)
    }
  }
  await Promise.all([writer(), writer()])
  const { snapshots = [] } = (await loadTable(direct, table)).metadata
  expect(snapshots.map((snapshot) => snapshot['snapshot-id']).sort()).toEqual(acknowledged.sort())
  expect([...statuses].sort()).toEqual([200, 409])
  const approved = (await gateway.audit(table)).filter((entry) => entry.decision === 'APPROVED')
  expect(new Set(approved.map((entry) => entry.metadataLocation)).size).toBe(acknowledged.length)
  expect(approved).toHaveLength(acknowledged.length)
}, 120_000)

test('fixture: a drop and a rename whose answers were lost are told as made, and audited', async () => {
  const surface: Target = {
    base: `${gateway.catalogUri()}/v1`,
    headers: { 'x-svc-session': gateway.secret },
  }
  const table = await newTable()
  const destination = { ...table, name: `${table.name}_new` }
  gate.interfere = (request) => (['POST', 'DELETE'].includes(request.method) ? 'fail' : undefined)
  try {
    const moved = await send(
      surface,
      'POST',
      '/tables/rename',
      JSON.stringify({ source: table, destination }),
    )
    expect(moved.status).toBe(204)
    expect((await send(surface, 'DELETE', tablePath(destination))).status).toBe(204)
  } finally {
    gate.interfere = () => undefined
  }
  expect((await send(direct, 'GET', tablePath(destination))).status).toBe(404)
  expect(await gateway.audit(table)).toMatchObject([{ action: 'rename-table', decision: 'APPROVED' }])
  expect(await gateway.audit(destination)).toMatchObject([{ action: 'drop-table', decision: 'APPROVED' }])
})
