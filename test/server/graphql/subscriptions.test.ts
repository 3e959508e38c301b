/** Subscriptions: what is sent to whom, how they resume, and when they end. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { putContract } from '../../../src/contract/put-contract.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { graphqlBounds } from '../../../src/server/graphql/bounds.ts'
import { openIntent } from '../../../src/store/commit/commit-intents.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import { pinTable, unpinTable } from '../../../src/store/contract/pins.ts'
import { lastEvent } from '../../../src/store/event/events.ts'
import { revokeServiceSession } from '../../../src/store/session/sessions.ts'
import { actorOf } from '../../support/actor.ts'
import { intentOf, rejectedOf } from '../../support/commits.ts'
import { seedContractVersion } from '../../support/contract-versions.ts'
import { commitColumns } from '../../support/governed.ts'
import { graphql, subscribe } from '../../support/graphql.ts'
import { type IdentityService, openSession, session, startIdentityService } from '../../support/identity.ts'
import { licenseForAll } from '../../support/license.ts'
import { addTenant, type TestTenant } from '../../support/service.ts'

setDefaultTimeout(120_000)

let service: IdentityService
let foreign: TestTenant
let steward: string

beforeAll(async () => {
  service = await startIdentityService({ env: { SVC_LICENSE: licenseForAll() } })
  foreign = await addTenant(service.store, 'foreign', service.catalog.url)
  for (const { tenant } of [service.owner, foreign])
    for (const name of ['orders', 'items', 'hidden']) {
      const ref = { namespace: ['sales'], name }
      await commitColumns(service.store, tenant, ref, { id: 'long' })
      const on = { store: service.store, tenant, actor: actorOf('stella'), checkPolicies }
      if (name !== 'hidden') await putContract(on, ref, { id: name, version: 1 })
    }
  steward = await session(service, service.owner.tenant, ['read'], ['steward'], 'stella')
}, 300_000)
afterAll(() => service?.[Symbol.asyncDispose]())

const pins = `subscription Pins($after: String, $table: String) {
  pinEvents(table: $table, after: $after) { sequence kind snapshotId by table { name } } }`

const at = (name: string) => ({
  ...{ table: { namespace: ['sales'], name }, actor: actorOf('stella'), atMs: 0 },
})

async function pin(tenant: TenantId, name: string, snapshotId: bigint): Promise<void> {
  await pinTable(service.store, tenant, at(name), { snapshotId, schemaId: 0n, catalog: 'main' })
}

test('a pin reaches who may read the table, in order, and nobody of another tenant', async () => {
  const { tenant } = service.owner
  const after = String(await lastEvent(service.store, tenant))
  const theirs = await session(service, foreign.tenant, ['read'])
  await using mine = await subscribe(service, steward, pins, { after })
  await using elsewhere = await subscribe(service, theirs, pins, {
    after: String(await lastEvent(service.store, foreign.tenant)),
  })
  await pin(tenant, 'orders', 1n)
  await pin(tenant, 'hidden', 2n)
  await unpinTable(service.store, tenant, at('orders'))
  await pin(foreign.tenant, 'items', 9n)
  const first = (await mine.next()).data.pinEvents
  expect(first).toMatchObject({ kind: 'pin', snapshotId: '1', by: 'stella', table: { name: 'orders' } })
  // The pin of the table that may not be read is left out.
  const second = (await mine.next()).data.pinEvents
  expect(second).toMatchObject({ kind: 'unpin', snapshotId: null, table: { name: 'orders' } })
  expect(BigInt(second.sequence) - BigInt(first.sequence)).toBe(2n)
  expect((await elsewhere.next()).data.pinEvents).toMatchObject({ snapshotId: '9', table: { name: 'items' } })
})

test('a subscription that connects again with `after` loses nothing and repeats nothing', async () => {
  const { tenant } = service.owner
  let after = String(await lastEvent(service.store, tenant))
  const seen: string[] = []
  for (let round = 0; round < 3; round += 1) {
    // While nobody is connected.
    for (const id of [0n, 1n]) await pin(tenant, 'items', 100n + BigInt(round) * 2n + id)
    await using stream = await subscribe(service, steward, pins, { after, table: 'items' })
    for (let count = 0; count < 2; count += 1) {
      const { sequence, snapshotId } = (await stream.next()).data.pinEvents
      seen.push(snapshotId)
      after = sequence
    }
  }
  expect(seen).toEqual(['100', '101', '102', '103', '104', '105'])
})

test('decisions and the life cycle come as they are written, to overseers only', async () => {
  const { tenant } = service.owner
  const after = String(await lastEvent(service.store, tenant))
  const decisions = 'subscription D($after: String) { decisions(after: $after) { commitId decision reason } }'
  const lifecycle =
    'subscription L($after: String) { lifecycle(contract: "seed", after: $after) { contract move to by } }'
  const reader = await session(service, tenant, ['read'])
  for (const query of [decisions, lifecycle]) {
    await using refused = await subscribe(service, reader, query, { after })
    expect((await refused.next()).errors[0].extensions.code).toBe('FORBIDDEN')
  }
  await using decided = await subscribe(service, steward, decisions, { after })
  await using moved = await subscribe(service, steward, lifecycle, { after })
  const intent = intentOf()
  await openIntent(service.store, tenant, intent)
  await recordVerdict(service.store, tenant, rejectedOf(intent, 'No.'))
  await seedContractVersion(service.store, tenant)
  expect((await decided.next()).data.decisions).toEqual({
    ...{ commitId: intent.commitId, decision: 'REJECTED', reason: 'No.' },
  })
  expect((await moved.next()).data.lifecycle).toMatchObject({ contract: 'seed', move: 'sign_off' })
  expect((await moved.next()).data.lifecycle).toMatchObject({ move: 'import', to: 'active', by: 'stella' })
})

test('nothing is sent to a session that was revoked', async () => {
  const { tenant } = service.owner
  const { id, secret } = await openSession(service, tenant, ['read'])
  const after = String(await lastEvent(service.store, tenant))
  await using stream = await subscribe(service, secret, pins, { after })
  await pin(tenant, 'orders', 7n)
  expect((await stream.next()).data.pinEvents.snapshotId).toBe('7')
  await revokeServiceSession(service.store, tenant, id, actorOf('ada'))
  await pin(tenant, 'orders', 8n)
  const last = await stream.next()
  expect(last?.data ?? null).toBeNull()
  expect(JSON.stringify(last ?? {})).not.toContain('"8"')
})

test('a position that is no number of an event is refused, and so is a place too many', async () => {
  await using wrong = await subscribe(service, steward, pins, { after: '1; drop' })
  expect((await wrong.next()).errors[0].extensions.code).toBe('BAD_USER_INPUT')
  const many = await session(service, service.owner.tenant, ['read'], [], 'many')
  const { tenant } = service.owner
  const after = String(await lastEvent(service.store, tenant))
  await using stack = new AsyncDisposableStack()
  const streams = await Promise.all(
    Array.from({ length: graphqlBounds.subscriptionsMax }, () => subscribe(service, many, pins, { after })),
  )
  for (const stream of streams) stack.use(stream)
  // Each is under way once it has sent something.
  await pin(tenant, 'orders', 11n)
  for (const stream of streams) expect((await stream.next()).data.pinEvents.snapshotId).toBe('11')
  await using more = await subscribe(service, many, pins, { after })
  expect((await more.next()).errors[0]).toMatchObject({ extensions: { code: 'OVERLOADED' } })
})

describe('stored operations', () => {
  const document = '{ tables(first: 1) { edges { node { name } } } }'
  const sha256 = new Bun.CryptoHasher('sha256').update(document).digest('hex')
  const persisted = (hash: string) => ({ extensions: { persistedQuery: { version: 1, sha256Hash: hash } } })

  test('are called by their hash, by their own tenant only', async () => {
    const admin = await session(service, service.owner.tenant, ['read', 'admin'], ['administrator'])
    const store = (body: object) =>
      fetch(new URL('/api/v1/graphql/operations', service.app.url), {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-svc-session': admin },
        body: JSON.stringify(body),
      })
    expect((await store({ document: '{ nothing }' })).status).toBe(422)
    const stored = await store({ document })
    expect([stored.status, await stored.json()]).toEqual([201, { sha256 }])
    const { data } = await graphql(service, steward, '', {}, persisted(sha256))
    expect(data.tables.edges).toHaveLength(1)
    const theirs = await session(service, foreign.tenant, ['read'])
    for (const [secret, hash] of [
      [theirs, sha256],
      [steward, 'f'.repeat(64)],
    ] as const) {
      const { errors } = await graphql(service, secret, '', {}, persisted(hash))
      expect(errors[0]?.message).toBe('PersistedQueryNotFound')
    }
  })

  test('are all that service sessions may send where the tenant says so', async () => {
    const admin = await session(service, service.owner.tenant, ['read', 'admin'], ['administrator'])
    const put = (only: boolean) =>
      fetch(new URL('/api/v1/graphql/settings', service.app.url), {
        method: 'PUT',
        headers: { 'content-type': 'application/json', 'x-svc-session': admin },
        body: JSON.stringify({ stored_operations_only: only }),
      })
    await put(true)
    const { errors } = await graphql(service, steward, document)
    expect(errors[0]?.message).toBe('PersistedQueryOnly')
    expect((await graphql(service, steward, '', {}, persisted(sha256))).errors).toEqual([])
    const theirs = await session(service, foreign.tenant, ['read'])
    expect((await graphql(service, theirs, document)).errors).toEqual([])
    await put(false)
    expect((await graphql(service, steward, document)).errors).toEqual([])
  })
})

test('the end of a process ends its subscriptions', async () => {
  const other = await startIdentityService({ env: { SVC_LICENSE: licenseForAll() } })
  const secret = await session(other, other.owner.tenant, ['read'], ['steward'])
  const stream = await subscribe(other, secret, 'subscription { decisions(after: "0") { commitId } }')
  const ended = stream.next()
  await other[Symbol.asyncDispose]()
  expect(await ended).toBeUndefined()
})
