/** The beta adapter against a real Nessie, through the gateway's literal path. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { appendSnapshot, firstSnapshotId, setProperties } from '../../demo/commits.ts'
import type { TableRef } from '../../src/core/table-ref.ts'
import { countIntents, intentsOnTable } from '../../src/store/commit/commit-intents.ts'
import { freePort } from '../support/free-port.ts'
import { type Gate, openGate } from './gate.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { createTable, type LoadedTable, loadTable, send, type Target, tablePath } from './iceberg-api.ts'
import { type Issuer, startIssuer } from './issuer.ts'
import { allChecked, probeRequirements } from './requirement-probes.ts'
import { type NessieServer, startNessie } from './servers.ts'

let issuer: Issuer
let nessie: NessieServer
let gate: Gate
let gateway: Gateway
let main: Target
let tables = 0
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  issuer = stack.use(await startIssuer())
  nessie = stack.use(await startNessie(issuer.url))
  gate = stack.use(openGate(nessie.url))
  gateway = stack.use(await startGateway(upstream(), { observe: true }))
  main = await direct()
})
afterAll(() => stack.disposeAsync())

function upstream(config: Readonly<Record<string, unknown>> = {}) {
  const auth = { credential: issuer.credential, 'oauth2-server-uri': issuer.tokenUrl }
  return { kind: 'beta', url: gate.url, config: { warehouse: 'warehouse', ...auth, ...config } } as const
}

async function direct(onBranch = nessie.onMain): Promise<Target> {
  return {
    base: nessie.url + onBranch,
    headers: { authorization: `Bearer ${await issuer.token()}` },
  }
}

async function newTable(): Promise<TableRef> {
  const table = { namespace: ['sales'], name: `orders_${++tables}` }
  await createTable(main, table)
  return table
}

const append = (snapshotId: bigint, sequenceNumber = 1, parentId?: bigint) =>
  appendSnapshot({ snapshotId, parentId, sequenceNumber, timestampMs: Date.now() })

test('nessie: a commit that policies allow is made upstream and audited', async () => {
  const table = await newTable()
  await gateway.govern(table, {
    id: `has-id-${table.name}`,
    definitionCel: 'manifest.has_column(commit.result, "id")',
  })
  const answer = await gateway.commit(table, setProperties({ owner: 'sales' }))
  expect(answer.status).toBe(200)
  expect((await loadTable(main, table)).metadata.properties.owner).toBe('sales')
  expect(await gateway.audit(table)).toMatchObject([{ decision: 'APPROVED', committer: 'spark' }])
})

test('nessie: a ref that must be absent is not checked, so commits are not pinned', async () => {
  expect(await probeRequirements(main, newTable)).toEqual(allChecked)
  const table = await newTable()
  expect((await gateway.commit(table, append(firstSnapshotId))).status).toBe(200)
  const body = JSON.stringify({
    requirements: [{ type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': null }],
    updates: [{ action: 'set-properties', updates: { a: '1' } }],
  })
  expect((await send(main, 'POST', tablePath(table), body)).status).toBe(200)
})

test('nessie: a commit that adds a snapshot keeps its 64-bit id', async () => {
  const table = await newTable()
  const answer = await gateway.commit(table, append(firstSnapshotId))
  expect(answer.status).toBe(200)
  expect(await (await send(main, 'GET', tablePath(table))).text()).toContain(String(firstSnapshotId))
  expect(await gateway.audit(table)).toMatchObject([{ decision: 'APPROVED' }])
})

test('nessie: the audit names the metadata file that a load names, of the very state that the commit made', async () => {
  const table = await newTable()
  const answer = await gateway.commit(table, setProperties({ a: '1' }))
  expect(answer.status).toBe(200)
  const { 'metadata-location': first } = await loadTable(main, table)
  expect(first).toMatch(/^s3:.*\.metadata\.json$/)
  expect(await gateway.audit(table)).toMatchObject([{ metadataLocation: first }])

  // A writer past the gateway commits right behind it.
  gate.afterwards = async (request, path) => {
    if (request.method !== 'POST' || !path.endsWith(`/tables/${table.name}`)) return
    await send(main, 'POST', tablePath(table), setProperties({ a: '3' }))
  }
  expect((await gateway.commit(table, append(firstSnapshotId))).status).toBe(200)
  gate.afterwards = async () => {}
  const { 'metadata-location': third } = await loadTable(main, table)
  const [second] = await gateway.audit(table)
  expect(second?.metadataLocation).toMatch(/^s3:.*\.metadata\.json$/)
  expect([first, third]).not.toContain(second?.metadataLocation ?? '')
})

test('nessie: a client is told the file, and no address of the catalog', async () => {
  const table = await newTable()
  const surface: Target = {
    base: `${gateway.catalogUri()}/v1`,
    headers: { 'x-svc-session': gateway.secret },
  }
  const answer = await send(surface, 'POST', tablePath(table), setProperties({ a: '1' }))
  const text = await answer.text()
  const { 'metadata-location': location } = await loadTable(main, table)
  expect(JSON.parse(text)).toMatchObject({ 'metadata-location': location })
  expect(text).not.toContain(new URL(nessie.url).host)
})

test('nessie: where the file cannot be had the commit is still made, and audited as the catalog named it', async () => {
  const table = await newTable()
  gate.interfere = (request, path) =>
    request.method === 'GET' && path.includes(`/tables/${table.name}%40`)
      ? new Response('', { status: 503 })
      : undefined
  const answer = await gateway.commit(table, setProperties({ a: '1' }))
  gate.interfere = () => undefined
  expect(answer.status).toBe(200)
  const { 'metadata-location': named } = (await answer.json()) as LoadedTable
  expect(await gateway.audit(table)).toMatchObject([{ decision: 'APPROVED', metadataLocation: named }])
})

/** A first snapshot as Iceberg's clients send it: the branch must not exist. */
function firstSnapshot(snapshotId: bigint): string {
  const { updates } = JSON.parse(append(snapshotId)) as { updates: unknown }
  return JSON.stringify({
    requirements: [{ type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': null }],
    updates,
  })
}

// Pins a defect of the server, so that docs/compatibility.md stays true: a version that mends it fails here.
test('nessie: takes a second first snapshot, without the gateway', async () => {
  const table = await newTable()
  for (const id of [1n, 2n])
    expect((await send(main, 'POST', tablePath(table), firstSnapshot(id))).status).toBe(200)
})

test('nessie: a second first snapshot is 409', async () => {
  const table = await newTable()
  expect((await gateway.commit(table, firstSnapshot(1n))).status).toBe(200)
  const late = await gateway.commit(table, firstSnapshot(2n))
  expect(late.status).toBe(409)
  expect(await late.json()).toMatchObject({ error: { type: 'CommitFailedException' } })
  expect((await loadTable(main, table)).metadata.snapshots).toMatchObject([{ 'snapshot-id': 1 }])
  expect(await countIntents(gateway.store)).toMatchObject({ open: 0 })
})

test('nessie: of two writers that race for the first snapshot of 20 tables one each is acknowledged', async () => {
  // Of its own, because it rests on the leases of intents.
  await using gateway = await startGateway(upstream(), { observe: true })
  for (let round = 0; round < 20; round++) {
    const table = await newTable()
    const acknowledged: bigint[] = []
    const statuses = new Set<number>()
    const writer = async (id: bigint) => {
      while (acknowledged.length === 0) {
        const { status } = await gateway.commit(table, firstSnapshot(id))
        statuses.add(status)
        if (status === 200) acknowledged.push(id)
      }
    }
    await Promise.all([writer(1n), writer(2n)])
    expect(statuses.isSubsetOf(new Set([200, 409]))).toBe(true)
    expect(acknowledged).toHaveLength(1)
    const { snapshots = [] } = (await loadTable(main, table)).metadata
    expect(snapshots.map((one) => BigInt(one['snapshot-id']))).toEqual(acknowledged)
  }
})

test('nessie: a denied commit never reaches the catalog', async () => {
  const table = await newTable()
  await gateway.govern(table, {
    id: `writers-${table.name}`,
    kind: 'write_acl',
    definitionCel: 'principal.role(principal, "writer")',
    message: 'only writers may write',
  })
  gate.passed.length = 0
  const answer = await gateway.commit(table, setProperties({ owner: 'sales' }))
  expect(answer.status).toBe(403)
  expect(await answer.text()).toContain('policy denied: ')
  expect(gate.passed.filter(({ method, path }) => method === 'POST' && path.includes('/tables/'))).toEqual([])
  expect((await loadTable(main, table)).metadata.properties.owner).toBeUndefined()
  expect(await gateway.audit(table)).toMatchObject([{ decision: 'REJECTED' }])
})

test('nessie: a requirement that no longer holds is 409', async () => {
  const table = await newTable()
  for (const [id, sequenceNumber, parent] of [
    [1n, 1],
    [2n, 2, 1n],
  ] as const)
    expect((await gateway.commit(table, append(id, sequenceNumber, parent))).status).toBe(200)
  const late = await gateway.commit(table, append(3n, 2, 1n))
  expect(late.status).toBe(409)
  expect(await late.json()).toMatchObject({ error: { type: 'CommitFailedException' } })
  expect(await countIntents(gateway.store)).toMatchObject({ open: 0 })
})

test('nessie: a table, or a namespace, that is not there is 404', async () => {
  const table = await newTable()
  for (const missing of [
    { ...table, name: 'none' },
    { ...table, namespace: ['none'] },
  ])
    expect((await gateway.commit(missing, setProperties({ a: '1' }))).status).toBe(404)
})

test('nessie: a name that would choose another branch is 400', async () => {
  const table = await newTable()
  gate.passed.length = 0
  const sneaky = { ...table, name: `${table.name}@main` }
  expect((await gateway.commit(sneaky, setProperties({ a: '1' }))).status).toBe(400)
  expect(gate.passed).toEqual([])
})

describe('nessie: branches', () => {
  async function makeBranch(name: string): Promise<void> {
    const headers = { ...main.headers, 'content-type': 'application/json' }
    const from = (await (await fetch(`${nessie.nativeUrl}/trees/main`, { headers })).json()) as {
      reference: Record<string, unknown>
    }
    const made = await fetch(`${nessie.nativeUrl}/trees?name=${name}&type=BRANCH`, {
      method: 'POST',
      headers,
      body: JSON.stringify(from.reference),
    })
    if (!made.ok) throw new Error(`Nessie answered ${made.status}: ${await made.text()}`)
  }

  test('nessie: a commit goes to the branch of the credential, and to no other', async () => {
    const table = await newTable()
    await makeBranch('dev')
    await gateway.register('dev', upstream({ branch: 'dev' }))
    expect((await gateway.commit(table, setProperties({ a: 'dev' }), { prefix: 'dev' })).status).toBe(200)
    expect((await loadTable(main, table)).metadata.properties.a).toBeUndefined()
    const dev = await direct('/v1/dev%7Cwarehouse')
    expect((await loadTable(dev, table)).metadata.properties.a).toBe('dev')
  })

  test('nessie: a policy binds the table on every branch', async () => {
    const table = await newTable()
    await makeBranch('dev2')
    await gateway.register('dev2', upstream({ branch: 'dev2' }))
    await gateway.govern(table, { id: `never-${table.name}`, definitionCel: 'false' })
    for (const prefix of ['main', 'dev2'])
      expect((await gateway.commit(table, setProperties({ a: '1' }), { prefix })).status).toBe(403)
  })

  test('nessie: a branch that does not exist has no tables: 404', async () => {
    const table = await newTable()
    await gateway.register('none', upstream({ branch: 'none' }))
    expect((await gateway.commit(table, setProperties({ a: '1' }), { prefix: 'none' })).status).toBe(404)
  })
})

test('nessie: a token that the server stops taking is renewed, and the commit goes through', async () => {
  const table = await newTable()
  issuer.nextEnded = true
  await gateway.register('renewing', upstream())
  const before = issuer.granted()
  const answer = await gateway.commit(table, setProperties({ a: '1' }), { prefix: 'renewing' })
  expect(answer.status).toBe(200)
  expect(gate.passed.some(({ status }) => status === 401)).toBe(true)
  expect(issuer.granted() - before).toBe(2)
})

test('nessie: client credentials that are refused are 401, and are not repeated', async () => {
  const table = await newTable()
  await gateway.register('refused', upstream({ credential: 'gateway:hunter2' }))
  const answer = await gateway.commit(table, setProperties({ a: '1' }), { prefix: 'refused' })
  expect(answer.status).toBe(401)
  const text = await answer.text()
  expect(text).toContain('NotAuthorizedException')
  expect(text).not.toContain('hunter2')
})

test('nessie: an upstream that is down is 502', async () => {
  const table = await newTable()
  const url = `http://127.0.0.1:${freePort()}/iceberg`
  await gateway.register('down', { kind: 'beta', url, config: { warehouse: 'warehouse' } })
  expect((await gateway.commit(table, setProperties({ a: '1' }), { prefix: 'down' })).status).toBe(502)
})

test('nessie: without ETags every commit is judged on a fresh load', async () => {
  const table = await newTable()
  await gateway.govern(table, {
    id: `frozen-${table.name}`,
    definitionCel: '!("frozen" in table.properties)',
  })
  expect((await gateway.commit(table, setProperties({ a: '1' }))).status).toBe(200)
  await send(main, 'POST', tablePath(table), setProperties({ frozen: 'yes' }))
  expect((await gateway.commit(table, setProperties({ a: '2' }))).status).toBe(403)
})

describe('nessie: a commit whose answer is lost', () => {
  /** @param blind whether the table cannot be loaded afterwards either */
  async function loseAnswer(table: TableRef, body: string, blind = false): Promise<Response> {
    let sent = false
    gate.interfere = (request, path) => {
      if (!path.endsWith(`/tables/${table.name}`)) return undefined
      if (request.method !== 'POST') return sent && blind ? new Response('', { status: 503 }) : undefined
      sent = true
      return 'lose'
    }
    try {
      return await gateway.commit(table, body)
    } finally {
      gate.interfere = () => undefined
    }
  }

  test('nessie: a commit whose answer was lost is told as made where its snapshot is the current one', async () => {
    const table = await newTable()
    const answer = await loseAnswer(table, append(7n))
    expect(answer.status).toBe(200)
    const now = await loadTable(main, table)
    expect(await answer.json()).toMatchObject({ 'metadata-location': now['metadata-location'] })
    expect(await gateway.audit(table)).toMatchObject([
      { decision: 'APPROVED', metadataLocation: now['metadata-location'] },
    ])
  })

  test('nessie: a lost answer is 502 where the table cannot be loaded, and recovery completes the audit', async () => {
    const table = await newTable()
    const answer = await loseAnswer(table, append(7n), true)
    expect(answer.status).toBe(502)
    expect(await answer.text()).toContain('CommitStateUnknownException')
    expect(await gateway.audit(table)).toEqual([])
    await gateway.recover()
    expect(await gateway.audit(table)).toMatchObject([{ decision: 'APPROVED' }])
  })

  test('nessie: recovery leaves a lost commit open where the catalog no longer shows its snapshot', async () => {
    const table = await newTable()
    expect((await loseAnswer(table, append(7n), true)).status).toBe(502)
    expect((await send(main, 'POST', tablePath(table), append(8n, 2, 7n))).status).toBe(200)
    expect(await gateway.recover()).toMatchObject({ committed: 0, undecidable: 1 })
    expect(await gateway.audit(table)).toEqual([])
  })

  test('nessie: recovery closes the intent of a commit that never reached the catalog', async () => {
    const table = await newTable()
    gate.interfere = (request, path) =>
      request.method === 'POST' && path.endsWith(`/tables/${table.name}`)
        ? new Response('{}', { status: 503 })
        : undefined
    const answer = await gateway.commit(table, append(8n))
    gate.interfere = () => undefined
    expect(answer.status).toBe(502)
    expect(await gateway.recover()).toMatchObject({ notCommitted: 1 })
    expect(await gateway.audit(table)).toEqual([])
  })
})

test('nessie: a drop and a rename whose answers were lost are told as made, and audited', async () => {
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
  expect((await send(main, 'GET', tablePath(destination))).status).toBe(404)
  expect(await gateway.audit(table)).toMatchObject([{ action: 'rename-table', decision: 'APPROVED' }])
  expect(await gateway.audit(destination)).toMatchObject([{ action: 'drop-table', decision: 'APPROVED' }])
})

describe('commits of several tables', () => {
  const surface = (): Target => ({
    base: `${gateway.catalogUri()}/v1`,
    headers: { 'x-svc-session': gateway.secret },
  })
  const bodyOf = (...changes: unknown[]) => JSON.stringify({ 'table-changes': changes })
  const change = (identifier: TableRef, body: string, requirements: readonly unknown[] = []) => ({
    identifier,
    ...JSON.parse(body),
    requirements,
  })
  const transact = (body: string) => send(surface(), 'POST', '/transactions/commit', body)
  const locationsOf = (both: readonly TableRef[]) =>
    Promise.all(both.map(async (table) => (await loadTable(main, table))['metadata-location']))

  test('nessie: a transaction is listed, made in one Nessie commit, and audited by the files that loads name', async () => {
    const config = await (await send(surface(), 'GET', '/config')).json()
    expect((config as { endpoints: string[] }).endpoints).toContain('POST /v1/{prefix}/transactions/commit')
    const both = [await newTable(), await newTable()] as const
    const appended = change(both[0], append(7n))
    const answer = await transact(bodyOf(appended, change(both[1], setProperties({ owner: 'sales' }))))
    expect(answer.status).toBe(204)
    const locations = await locationsOf(both)
    const made = await Promise.all(
      both.map(async (table) => (await loadTable(main, table)).metadata.properties),
    )
    expect(made[0]?.['nessie.commit.id']).toBe(made[1]?.['nessie.commit.id'] ?? 'none')
    for (const [index, table] of both.entries())
      expect(await gateway.audit(table)).toMatchObject([
        { decision: 'APPROVED', metadataLocation: locations[index] ?? '' },
      ])
    for (const table of both) expect(await intentsOnTable(gateway.store, gateway.tenant, table)).toEqual([])
  })

  test('nessie: a transaction in which one table has moved on is 409, and changes no table', async () => {
    const both = [await newTable(), await newTable()] as const
    const before = await locationsOf(both)
    const moved = [{ type: 'assert-table-uuid', uuid: crypto.randomUUID() }]
    const properties = setProperties({ owner: 'sales' })
    const answer = await transact(bodyOf(change(both[0], properties), change(both[1], properties, moved)))
    expect(answer.status).toBe(409)
    expect(await locationsOf(both)).toEqual(before)
    for (const table of both) expect(await gateway.audit(table)).toEqual([])
    for (const table of both) expect(await intentsOnTable(gateway.store, gateway.tenant, table)).toEqual([])
  })

  test('nessie: of two transactions that race for the same two tables one changes both, or one is refused whole', async () => {
    const both = [await newTable(), await newTable()] as const
    const absent = [{ type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': null }]
    const racing = [11n, 12n].map((id) =>
      transact(bodyOf(...both.map((table) => change(table, append(id), absent)))),
    )
    const statuses = (await Promise.all(racing)).map(({ status }) => status)
    expect(statuses.every((status) => status === 204 || status === 409)).toBe(true)
    const made = statuses.filter((status) => status === 204).length
    expect(made).toBeLessThanOrEqual(1)
    const approved = await Promise.all(both.map((table) => gateway.audit(table)))
    expect(approved.map((rows) => rows.length)).toEqual([made, made])
    const snapshots = await Promise.all(
      both.map(async (table) => (await loadTable(main, table)).metadata.snapshots?.[0]?.['snapshot-id']),
    )
    expect(snapshots[0]).toBe(snapshots[1] as number)
  })
})
