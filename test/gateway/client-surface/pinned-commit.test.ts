/** Commits of engines that are held to a known table by requirements, with another writer between load and forward. */

import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createTable, orderFields, schemaOf } from '../../../demo/commits.ts'
import type { Store } from '../../../src/store/store.ts'
import { parseLoadTableResult } from '../../../src/wire/iceberg/table-metadata.ts'
import { interruptedStore } from '../../support/interrupted-store.ts'
import {
  addTenant,
  audit,
  startTestService,
  type TestService,
  upstreamHeaders,
} from '../../support/service.ts'
import { govern, send } from '../../support/surface.ts'

setDefaultTimeout(300_000)

let service: TestService
let headers: Readonly<Record<string, string>>
/** What another writer does once its client has loaded the table and before the commit arrives. */
let afterLoad: (() => Promise<void>) | undefined
/** What another writer does once, before the next intent is durable: after the client's load, before the forward. */
let meanwhile: (() => Promise<void>) | undefined

const interrupted = (store: Store) =>
  interruptedStore(store, async () => {
    const now = meanwhile
    meanwhile = undefined
    await now?.()
  })

beforeAll(async () => {
  service = await startTestService({ wrapStore: interrupted })
  headers = await upstreamHeaders(service.catalog)
})
afterAll(() => service[Symbol.asyncDispose]())
beforeEach(() => {
  meanwhile = undefined
  afterLoad = undefined
  service.catalog.faults.reset()
})

let tables = 0
let snapshots = 100n

/** Sends to the upstream, past the gateway. */
async function upstream(method: string, path: string, body?: string) {
  const url = `${service.catalog.url}/v1/dev/namespaces/sales/tables${path}`
  const response = await fetch(url, { method, headers, ...(body !== undefined && { body }) })
  if (!response.ok)
    throw new Error(`the development catalog answered ${response.status}: ${await response.text()}`)
  return response
}

async function newTable(): Promise<string> {
  const name = `t${++tables}`
  await upstream('POST', '', createTable(name))
  return name
}

const put = (name: string, ...updates: readonly unknown[]) =>
  upstream('POST', `/${name}`, JSON.stringify({ requirements: [], updates })).then(() => {})

/** What a client sees of the table as it loads it. */
async function load(name: string) {
  const response = await send(service, 'GET', `/namespaces/sales/tables/${name}`)
  return parseLoadTableResult(await response.bytes()).metadata
}

/** Appends to a branch, as an engine does after its load. */
async function append(name: string, branch = 'main', more: Readonly<Record<string, string>> = {}) {
  const metadata = await load(name)
  await afterLoad?.()
  const id = snapshots++
  const refs = metadata.get('refs') as ReadonlyMap<string, ReadonlyMap<string, bigint>> | undefined
  const parent = refs?.get(branch)?.get('snapshot-id')
  const sequence = Number(metadata.get('last-sequence-number') ?? 0n) + 1
  const body = `{"requirements":[{"type":"assert-ref-snapshot-id","ref":"${branch}","snapshot-id":${parent ?? null}}],
    "updates":[{"action":"add-snapshot","snapshot":{"snapshot-id":${id},"sequence-number":${sequence},
    "timestamp-ms":${Date.now()},"manifest-list":"${metadata.get('location')}/metadata/snap-${id}.avro",
    "summary":{"operation":"append"},"schema-id":0}},
    {"action":"set-snapshot-ref","ref-name":"${branch}","type":"branch","snapshot-id":${id}}]}`
  const { counts } = service.catalog.faults
  const before = loads()
  const commits = counts.commit
  const response = await send(service, 'POST', `/namespaces/sales/tables/${name}`, body, { headers: more })
  const text = await response.text()
  const [row] = await audit(service)
  return {
    status: response.status,
    text,
    loads: loads() - before,
    /** Of this commit, and of the other writer. */
    forwards: counts.commit - commits,
    held: row?.table.name === name ? row.baseHeld : undefined,
    decision: row?.table.name === name ? row.decision : undefined,
    outcomes: row?.outcomes.map(({ value, raced }) => ({ value, raced })),
    id,
  }
}

const loads = () => service.catalog.faults.counts.load + service.catalog.faults.counts['conditional-load']

/** A table with a policy, and one commit behind it, so that the next finds all that it needs cached. */
async function governed(definitionCel: string, mode: 'enforce' | 'warn' = 'enforce'): Promise<string> {
  const name = await newTable()
  await govern(service, { namespace: ['sales'], name }, `p-${name}`, 'schema', definitionCel, { mode })
  expect((await append(name)).status).toBe(200)
  expect((await append(name)).status).toBe(200)
  return name
}

async function snapshotIds(name: string): Promise<readonly unknown[]> {
  const list = (await load(name)).get('snapshots') as readonly ReadonlyMap<string, unknown>[] | undefined
  return (list ?? []).map((one) => one.get('snapshot-id'))
}

const keepsAmount = 'manifest.has_column(commit.result, "amount")'
const without = (...names: readonly string[]) => ({
  action: 'add-schema',
  schema: schemaOf(orderFields.filter((field) => !names.includes(field.name))),
})
const makeCurrent = { action: 'set-current-schema', 'schema-id': -1 }

describe('a commit whose policies can be pinned', () => {
  test.each([
    ['true'],
    [keepsAmount],
    ['manifest.has_partition(table, "day") || table.sort_order["order-id"] == 0'],
    ['commit.result.current_snapshot.summary.operation == "append"'],
    ['table.current_snapshot == null || table.current_snapshot.sequence_number > 0'],
    ['!has(table.refs.frozen) && table.uuid != ""'],
  ])('loads nothing with the policy %s', async (text) => {
    const name = await governed(text)
    const { status, loads, forwards, held } = await append(name)
    expect({ status, loads, forwards, held }).toEqual({ status: 200, loads: 0, forwards: 1, held: 'pinned' })
  })

  test('is pinned to the state that its client has just loaded, although the gateway never saw a commit', async () => {
    const name = await newTable()
    await govern(service, { namespace: ['sales'], name }, `p-${name}`, 'schema', keepsAmount)
    const { status, loads, held } = await append(name)
    expect({ status, loads, held }).toEqual({ status: 200, loads: 0, held: 'pinned' })
  })

  test('is pinned though it carries an Idempotency-Key', async () => {
    const name = await governed(keepsAmount)
    const key = { 'idempotency-key': Bun.randomUUIDv7() }
    const { status, loads, held } = await append(name, 'main', key)
    expect({ status, loads, held }).toEqual({ status: 200, loads: 0, held: 'pinned' })
  })

  test('is pinned on a table that no policy governs', async () => {
    const { status, loads, held } = await append(await newTable())
    expect({ status, loads, held }).toEqual({ status: 200, loads: 0, held: 'pinned' })
  })

  test('passes another writer’s change of what nobody reads, and is judged again afterwards', async () => {
    const name = await governed(keepsAmount)
    meanwhile = () => put(name, { action: 'set-properties', updates: { owner: 'ops' } })
    const { status, loads, held, outcomes } = await append(name)
    expect({ status, loads, held }).toEqual({ status: 200, loads: 0, held: 'pinned' })
    expect(outcomes).toEqual([
      { value: true, raced: undefined },
      { value: true, raced: true },
    ])
  })

  test('does not conflict with a writer on a branch that no policy reads', async () => {
    const name = await governed(keepsAmount)
    meanwhile = async () => void (await putSnapshot(name, 'other'))
    const { status, loads, forwards } = await append(name)
    // The load is the other writer's, and so is one of the forwards.
    expect({ status, loads, forwards }).toEqual({ status: 200, loads: 1, forwards: 2 })
  })

  test('is judged by a policy that was changed a moment before', async () => {
    const name = await governed(keepsAmount)
    await govern(service, { namespace: ['sales'], name }, `p-${name}`, 'schema', 'false')
    const { status, decision, held } = await append(name)
    expect({ status, decision, held }).toEqual({ status: 403, decision: 'REJECTED', held: 'loaded' })
    await govern(
      service,
      { namespace: ['sales'], name },
      `p-${name}`,
      'schema',
      'size(table.properties) >= 0',
    )
    expect(await append(name)).toMatchObject({ status: 200, loads: 1, held: 'loaded' })
  })
})

async function putSnapshot(name: string, branch: string) {
  const metadata = parseLoadTableResult(await (await upstream('GET', `/${name}`)).bytes()).metadata
  const id = snapshots++
  const sequence = Number(metadata.get('last-sequence-number') ?? 0n)
  await put(
    name,
    {
      action: 'add-snapshot',
      snapshot: {
        'snapshot-id': Number(id),
        'sequence-number': sequence,
        'timestamp-ms': Date.now(),
        'manifest-list': 'file:///x.avro',
        summary: { operation: 'delete' },
      },
    },
    { action: 'set-snapshot-ref', 'ref-name': branch, type: 'branch', 'snapshot-id': Number(id) },
  )
}

/** What a policy reads, and the change of another writer after which it no longer holds. */
const changes: readonly (readonly [string, string, (name: string) => Promise<void>])[] = [
  ['the schema', keepsAmount, (name) => put(name, without('amount'), makeCurrent)],
  [
    'the partition spec',
    '!manifest.has_partition(table, "customer")',
    (name) =>
      put(
        name,
        {
          action: 'add-spec',
          spec: { fields: [{ 'source-id': 2, 'field-id': 1000, name: 'customer', transform: 'identity' }] },
        },
        { action: 'set-default-spec', 'spec-id': -1 },
      ),
  ],
  [
    'the sort order',
    'commit.result.sort_order["order-id"] == 0',
    (name) =>
      put(
        name,
        {
          action: 'add-sort-order',
          'sort-order': {
            fields: [
              { 'source-id': 1, transform: 'identity', direction: 'asc', 'null-order': 'nulls-first' },
            ],
          },
        },
        { action: 'set-default-sort-order', 'sort-order-id': -1 },
      ),
  ],
  ['a branch', '!has(table.refs.frozen)', (name) => putSnapshot(name, 'frozen')],
  ['a tag of the result', '!("frozen" in commit.result.refs)', (name) => putSnapshot(name, 'frozen')],
]

describe.each(changes)('another writer’s change of %s', (_, policy, change) => {
  test('between load and forward is judged, and refused where the policy does not hold', async () => {
    const name = await governed(policy)
    meanwhile = () => change(name)
    const { status, decision, held, forwards, id } = await append(name)
    expect({ status, decision, held, forwards }).toEqual({
      status: 403,
      decision: 'REJECTED',
      held: 'loaded',
      // The other writer's, and the one that the catalog refused.
      forwards: 2,
    })
    expect(await snapshotIds(name)).not.toContain(id)
  })

  test('between load and forward is judged, and passes where the policy only warns', async () => {
    const name = await governed(policy, 'warn')
    meanwhile = () => change(name)
    const { status, forwards, outcomes, id } = await append(name)
    expect({ status, forwards, outcomes }).toEqual({
      status: 200,
      forwards: 3,
      outcomes: [{ value: false, raced: undefined }],
    })
    expect(await snapshotIds(name)).toContain(id)
  })
})

test('a writer on main overtakes a commit to a branch whose policy reads main: it is judged on the new state', async () => {
  const name = await governed('commit.result.current_snapshot.summary.operation == "append"')
  await append(name, 'audit')
  meanwhile = () => putSnapshot(name, 'main')
  expect(await append(name, 'audit')).toMatchObject({ status: 403, decision: 'REJECTED', held: 'loaded' })
})

test('a table that was dropped and made again is another one: the commit is judged on it', async () => {
  const name = await newTable()
  await govern(service, { namespace: ['sales'], name }, `p-${name}`, 'schema', keepsAmount)
  await load(name)
  meanwhile = async () => {
    await upstream('DELETE', `/${name}`)
    await upstream('POST', '', createTable(name, orderFields.slice(0, 2)))
  }
  expect(await append(name)).toMatchObject({ status: 403, decision: 'REJECTED', held: 'loaded' })
})

test('a conflict of the client’s own requirements is the client’s: nothing is forwarded again', async () => {
  const name = await governed(keepsAmount)
  meanwhile = () => putSnapshot(name, 'main')
  const { status, forwards, text } = await append(name)
  expect({ status, forwards }).toEqual({ status: 409, forwards: 2 })
  expect(text).toContain('ref \\"main\\" has changed')
})

test('a second conflict is the upstream’s answer', async () => {
  const name = await governed(keepsAmount)
  service.catalog.faults.add({ operation: 'commit', effect: 'conflict', times: 2 })
  const { status, forwards, loads } = await append(name)
  // After each conflict the table is looked at, because the upstream may have refused a repeat; one load judges again.
  expect({ status, forwards, loads }).toEqual({ status: 409, forwards: 2, loads: 3 })
  expect(await append(name)).toMatchObject({ status: 200, held: 'pinned' })
})

test('a conflict after which nobody could look is unknown, because the upstream may have refused a repeat', async () => {
  const name = await governed(keepsAmount)
  service.catalog.faults.add({ operation: 'commit', effect: 'conflict' })
  afterLoad = async () => service.catalog.faults.add({ operation: 'load', effect: 'fail', times: 1_000 })
  const { status, text } = await append(name)
  afterLoad = undefined
  service.catalog.faults.reset()
  expect({ status, text }).toEqual({
    status: 502,
    text: expect.stringContaining('CommitStateUnknownException'),
  })
})

describe('a commit loads its table', () => {
  test.each([
    ['properties', 'size(table.properties) >= 0'],
    ['the list of snapshots', 'table.snapshots.size() >= 0'],
    ['all of the table', 'table != null'],
    ['a computed key', 'table[commit.result.name == "x" ? "name" : "uuid"] != ""'],
  ])('if a policy reads %s', async (_, text) => {
    const name = await governed(text)
    const { status, loads, held } = await append(name)
    expect({ status, loads, held }).toEqual({ status: 200, loads: 1, held: 'loaded' })
  })

  test('if its schema is not the one with which the table was made, because such an id may be given out again', async () => {
    const name = await governed(keepsAmount)
    await put(name, without('customer'), makeCurrent)
    expect(await append(name)).toMatchObject({ status: 200, loads: 1, held: 'loaded' })
    // Another writer gives the id 1 to a schema without the column, and no requirement could tell.
    afterLoad = async () => {
      await put(
        name,
        { action: 'set-current-schema', 'schema-id': 0 },
        { action: 'remove-schemas', 'schema-ids': [1] },
      )
      await put(name, without('amount'), makeCurrent)
    }
    const { status, loads } = await append(name)
    expect({ status, loads }).toEqual({ status: 403, loads: 1 })
  })

  test('if it changes the schema, or expires snapshots', async () => {
    const name = await governed('true')
    await load(name)
    for (const updates of [
      [without('customer'), makeCurrent],
      [{ action: 'set-properties', updates: { a: 'b' } }],
      [{ action: 'remove-snapshots', 'snapshot-ids': [1] }],
    ]) {
      const before = loads()
      const body = { requirements: [], updates }
      expect((await send(service, 'POST', `/namespaces/sales/tables/${name}`, body)).status).toBe(200)
      expect(loads() - before).toBe(1)
    }
  })

  test('if its client loaded the table for another tenant', async () => {
    const other = await addTenant(service.store, 'other', service.catalog.url)
    const name = await governed('true')
    const metadata = await load(name)
    const before = loads()
    const body = {
      requirements: [{ type: 'assert-table-uuid', uuid: metadata.get('table-uuid') }],
      updates: [],
    }
    const response = await send(service, 'POST', `/namespaces/sales/tables/${name}`, body, { tenant: other })
    expect([response.status, loads() - before]).toEqual([200, 1])
  })
})
