/**
 * A client that sends an append again keeps the id of its snapshot: its requests differ, and one of them was made. What
 * the table shows of the one says nothing of the other, nor of what else was in the other's transaction.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { dirname } from 'node:path'
import { appendSnapshot, createTable, setProperties } from '../../../demo/commits.ts'
import { type JsonObject, type JsonValue, jsonObject } from '../../../src/base/json.ts'
import { decideIntents } from '../../../src/gateway/recovery/decide.ts'
import type { StaleIntent, TableEvidence } from '../../../src/gateway/recovery/evidence.ts'
import { recoverIntents } from '../../../src/gateway/recovery/recover-intents.ts'
import { listCatalogCredentials } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { openIntent } from '../../../src/store/commit/commit-intents.ts'
import { listIntents } from '../../../src/store/commit/intent-settlements.ts'
import {
  manifestListsAdded,
  parseCommitRequest,
  snapshotIdsAdded,
} from '../../../src/wire/iceberg/commit-request.ts'
import { intentOf } from '../../support/commits.ts'
import { wrongFiles } from '../../support/file-truth.ts'
import { passOn } from '../../support/recording-proxy.ts'
import {
  addTenant,
  audit,
  startTestService,
  type TestService,
  type TestTenant,
  upstreamHeaders,
} from '../../support/service.ts'
import { send } from '../../support/surface.ts'

setDefaultTimeout(60_000)

const snapshotOf = (list: string): JsonObject =>
  jsonObject({ 'snapshot-id': 7n, 'sequence-number': 1n, 'timestamp-ms': 1n, 'manifest-list': list })

/** An append of snapshot 7, as it stands in an intent: its body was not read. */
function append(commitId: string, list: string | undefined, change: Partial<StaleIntent> = {}): StaleIntent {
  const intent = intentOf({
    ...{ commitId, snapshotIds: [7n], baseMetadataLocation: 'm1', bodySha256: `body of ${commitId}` },
    ...(list !== undefined && { manifestLists: [list] }),
  })
  return { intent, updates: undefined, ...change }
}

const state = (members: Readonly<Record<string, JsonValue>>): JsonObject =>
  new Map<string, JsonValue>([
    ['format-version', 2n],
    ['location', 's3://t'],
    ['last-column-id', 0n],
    ['current-schema-id', 0n],
    ['schemas', [jsonObject({ type: 'struct', 'schema-id': 0n, fields: [] })]],
    ['properties', jsonObject({})],
    ...Object.entries(members),
  ])

/** The table went from m1 to m2. */
function table(before: JsonObject, after: JsonObject, change: Partial<TableEvidence> = {}): TableEvidence {
  const log = [jsonObject({ 'metadata-file': 'm1', 'timestamp-ms': 0n })]
  return {
    metadataLocation: 'm2',
    metadata: new Map(after).set('metadata-log', log),
    audited: new Map(),
    others: [],
    known: new Map([['m1', before]]),
    ...change,
  }
}

/** Snapshot 7 came with the list of the second request. */
const broughtBySecond = (change: Partial<TableEvidence> = {}) =>
  table(state({}), state({ snapshots: [snapshotOf('second.avro')] }), change)

const decide = (stale: readonly StaleIntent[], evidence: TableEvidence) =>
  Object.fromEntries(decideIntents(stale, evidence))

describe('of two requests with one snapshot id', () => {
  test('the one whose manifest list the table shows was made, and the other was not', () => {
    const outcomes = decide([append('1', 'first.avro'), append('2', 'second.avro')], broughtBySecond())
    expect(outcomes).toEqual({
      1: { kind: 'not-committed' },
      2: { kind: 'committed', metadataLocation: 'm2' },
    })
  })

  test('the other is not told as made while a running process works on the one that was', () => {
    const others = [append('2', 'second.avro', { isLeased: true })]
    const { 1: outcome } = decide([append('1', 'first.avro')], broughtBySecond({ others }))
    expect(outcome?.kind).not.toBe('committed')
    expect(outcome).not.toHaveProperty('isMade')
  })

  test('the other is closed once the one that was made is audited', () => {
    const audited = new Map([['m2', 'body of 2']])
    expect(decide([append('1', 'first.avro')], broughtBySecond({ audited }))).toEqual({
      1: { kind: 'not-committed' },
    })
  })

  test('neither is told as made where it is not known which list they sent', () => {
    const others = [append('2', undefined, { isLeased: true })]
    const { 1: outcome } = decide([append('1', undefined)], broughtBySecond({ others }))
    expect(outcome).not.toHaveProperty('isMade')
  })

  test('one stays open where the table shows a list that nobody known has sent', () => {
    expect(decide([append('1', 'first.avro')], broughtBySecond())[1]?.kind).toBe('undecidable')
  })
})

test('a commit that was surely made is given no file that lacks what it sets', () => {
  const intent = intentOf({ commitId: '1', baseMetadataLocation: 'm1' })
  const updates = [jsonObject({ action: 'set-properties', updates: jsonObject({ mine: 'yes' }) })]
  const after = state({ properties: jsonObject({ theirs: 'yes' }) })
  const outcomes = decide([{ intent, updates, isSurelyMade: true }], table(state({}), after))
  expect(outcomes[1]).toMatchObject({ kind: 'undecidable', isMade: true })
})

describe('through the gateway', () => {
  let service: TestService
  let catalog: Bun.Server<undefined>
  let tenant: TestTenant
  /** What happens between the gateway’s verdict on a transaction and its arrival at the catalog. */
  let meanwhile: (() => Promise<void>) | undefined

  beforeAll(async () => {
    service = await startTestService()
    catalog = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        const body = await request.bytes()
        const first = request.url.endsWith('/transactions/commit') ? meanwhile : undefined
        if (first !== undefined) meanwhile = undefined
        await first?.()
        return (await passOn(request, service.catalog.url, body)).answer
      },
    })
    const loaded = await send(service, 'GET', '/namespaces/sales/tables/orders')
    const { 'metadata-location': file } = (await loaded.json()) as { 'metadata-location': string }
    tenant = await addTenant(service.store, 'appending', catalog.url.href.replace(/\/$/, ''), {
      atomic_transactions: true,
      storage_roots: [dirname(dirname(dirname(dirname(file))))],
    })
    for (const name of ['left', 'right']) {
      const made = await send(service, 'POST', '/namespaces/sales/tables', createTable(name), { tenant })
      expect(made.status).toBe(200)
    }
  })
  afterAll(async () => {
    await catalog.stop(true)
    await service[Symbol.asyncDispose]()
  })

  const changesOf = (property: string, manifestList: string): Readonly<Record<string, string>> => ({
    left: setProperties({ [property]: 'yes' }),
    right: appendSnapshot({ snapshotId: 7n, sequenceNumber: 1, timestampMs: Date.now(), manifestList }),
  })
  const bodyOf = (changes: Readonly<Record<string, string>>) =>
    `{"table-changes":[${Object.entries(changes)
      .map(([name, body]) => `{"identifier":{"namespace":["sales"],"name":"${name}"},${body.slice(1)}`)
      .join(',')}]}`

  /** A transaction that is made while its process dies, which leaves its intents. */
  async function makeAndDie(changes: Readonly<Record<string, string>>): Promise<void> {
    const { items } = await listCatalogCredentials(service.store, tenant.tenant)
    const transaction = Object.keys(changes).map(() => crypto.randomUUID())
    for (const [index, [name, body]] of Object.entries(changes).entries()) {
      const loaded = await send(service, 'GET', `/namespaces/sales/tables/${name}`, undefined, { tenant })
      const { 'metadata-location': base } = (await loaded.json()) as { 'metadata-location': string }
      const request = parseCommitRequest(Buffer.from(body))
      const intent = intentOf({
        commitId: transaction[index] ?? '',
        ...{ transaction, table: { namespace: ['sales'], name }, credentialId: items[0]?.id ?? '' },
        baseMetadataLocation: base,
        body: Bun.zstdCompressSync(body),
        bodySha256: new Bun.CryptoHasher('sha256').update(body).digest('hex'),
        snapshotIds: snapshotIdsAdded(request),
        manifestLists: manifestListsAdded(request) ?? [],
        receivedAtMs: Date.now(),
      })
      await openIntent(service.store, tenant.tenant, intent, { leaseMs: 0, upstreamMs: 0 })
    }
    const headers = await upstreamHeaders(service.catalog)
    const url = `${service.catalog.url}/v1/dev/transactions/commit`
    expect((await fetch(url, { method: 'POST', headers, body: bodyOf(changes) })).status).toBe(204)
  }

  test('a refused transaction is not told as made by the snapshot of one that took its id', async () => {
    meanwhile = () => makeAndDie(changesOf('made', 'file:///demo/made.avro'))
    const body = bodyOf(changesOf('refused', 'file:///demo/refused.avro'))
    const refused = await send(service, 'POST', '/transactions/commit', body, { tenant })
    expect(refused.status).toBe(409)
    await recoverIntents(service.app.gateway)
    const rows = await audit(service, tenant.tenant)
    expect(rows.filter(({ action }) => action === 'update-table')).toHaveLength(2)
    expect(await wrongFiles(service.store, tenant.tenant)).toEqual({ checked: 2, wrong: [] })
    expect((await listIntents(service.store, tenant.tenant)).items).toEqual([])
  })
})
