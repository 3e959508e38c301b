/** Open intents for stewards and operators: what is open, and settling what recovery could not decide. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { setProperties } from '../../demo/commits.ts'
import type { CommitIntent } from '../../src/core/commit.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { recoverIntents } from '../../src/gateway/recovery/recover-intents.ts'
import { countIntents, openIntent } from '../../src/store/commit/commit-intents.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { runOn } from '../admin/command-line.ts'
import { intentOf } from '../support/commits.ts'
import { call, session } from '../support/identity.ts'
import { audit, commitEdges, orders, startTestService, type TestService } from '../support/service.ts'

setDefaultTimeout(60_000)

let service: TestService
let tenant: TenantId
let foreignTenant: TenantId
let steward: string
let foreign: string

beforeAll(async () => {
  service = await startTestService()
  tenant = service.owner.tenant
  foreignTenant = (await createTenant(service.store, { name: 'foreign' })).id
  steward = await session(service, tenant, ['read', 'admin'], ['steward'], 'stella')
  foreign = await session(service, foreignTenant, ['read', 'admin'], ['administrator'], 'mallory')
})
afterAll(() => service[Symbol.asyncDispose]())

const stale = { leaseMs: 0, upstreamMs: 0 }
const body = setProperties({ owner: 'ops' })

/** Opens an intent that recovery cannot decide, because its base is in no table's history. */
async function leave(change: Partial<CommitIntent> = {}, of = tenant, times = stale): Promise<string> {
  const intent = intentOf({
    table: orders,
    baseMetadataLocation: 's3://lake/lost.metadata.json',
    body: Bun.zstdCompressSync(body),
    ...change,
  })
  await openIntent(service.store, of, intent, times)
  return intent.commitId
}

async function ask(method: string, path: string, secret = steward, sent?: unknown) {
  const response = await call(service, method, `/api/v1/intents${path}`, {
    secret,
    ...(sent !== undefined && { body: sent }),
  })
  return { status: response.status, text: await response.text() }
}
const json = (text: string) => JSON.parse(text) as Record<string, unknown>
const settle = (id: string, sent: unknown, secret = steward) => ask('POST', `/${id}/settle`, secret, sent)
const notMade = { outcome: 'not-made', reason: 'The table shows nothing of it.' }

test('open intents are listed for stewards, each tenant’s by itself, and by table', async () => {
  const mine = await leave()
  const other = await leave({ table: { namespace: ['sales'], name: 'other' } })
  const inProgress = await leave({}, tenant, { leaseMs: 60_000, upstreamMs: 60_000 })
  const theirs = await leave({}, foreignTenant)
  const listed = json((await ask('GET', '')).text).items as Record<string, unknown>[]
  expect(listed.map(({ commit_id }) => commit_id)).toEqual([mine, other, inProgress].toSorted())
  expect(listed.find(({ commit_id }) => commit_id === mine)).toMatchObject({
    state: 'stale',
    action: 'update-table',
    table: orders,
    principal: 'writer',
    base_metadata_location: 's3://lake/lost.metadata.json',
  })
  expect(listed.find(({ commit_id }) => commit_id === inProgress)).toMatchObject({ state: 'in-progress' })
  const ofTable = json((await ask('GET', '?namespace=sales&table=other')).text).items as unknown[]
  expect(ofTable).toHaveLength(1)
  expect(json((await ask('GET', '', foreign)).text).items).toMatchObject([{ commit_id: theirs }])
})

test('an intent is shown with its request, and to no other tenant', async () => {
  const id = await leave({ snapshotIds: [9_007_199_254_740_993n] })
  const { status, text } = await ask('GET', `/${id}`)
  expect(status).toBe(200)
  expect(json(text)).toMatchObject({ commit_id: id, request: body, snapshot_ids: ['9007199254740993'] })
  expect((await ask('GET', `/${id}`, foreign)).status).toBe(404)
})

describe('a settlement', () => {
  test('of a commit that was made writes its audit row and edges, and ends the intent', async () => {
    const id = await leave()
    const location = 's3://lake/orders/00007.metadata.json'
    const reason = 'The history shows it.'
    expect((await settle(id, { outcome: 'made', metadata_location: location, reason })).status).toBe(204)
    const row = (await audit(service)).find(({ commitId }) => commitId === id)
    expect(row).toMatchObject({ decision: 'APPROVED', metadataLocation: location, committer: 'writer' })
    expect(await commitEdges(service, id)).toEqual(['ACTUAL_WRITE', 'INTENDED_WRITE'])
    expect((await ask('GET', `/${id}`)).status).toBe(404)
    const logged = await call(service, 'GET', '/api/v1/administration?action=settle-intent&limit=1', {
      secret: steward,
    })
    expect(await logged.json()).toMatchObject({
      items: [
        {
          subject: { commit_id: id },
          value: { outcome: 'made', reason, metadata_location: location },
          actor: { sub: 'stella' },
        },
      ],
    })
  })

  test('leaves the columns that the graph knows of the table', async () => {
    const columns = () => service.store.tenantQuery(tenant, 'select id from "HAS_COLUMN"')
    const { status } = await call(service, 'POST', '/v1/iceberg/main/v1/namespaces/sales/tables/orders', {
      secret: service.owner.secret,
      body: JSON.parse(body),
    })
    expect(status).toBe(200)
    const before = await columns()
    expect(before.length).toBeGreaterThan(0)
    const id = await leave({ receivedAtMs: Date.now() + 60_000 })
    await settle(id, { outcome: 'made', metadata_location: 's3://lake/orders/8.json', reason: 'seen' })
    expect(await columns()).toEqual(before)
  })

  test('of a commit that was not made ends the intent without an audit row, and keeps what it held', async () => {
    const id = await leave()
    expect((await settle(id, notMade)).status).toBe(204)
    expect((await audit(service)).some(({ commitId }) => commitId === id)).toBe(false)
    const kept = await service.store.tenantQuery<{ outcome: string; body: Uint8Array }>(
      tenant,
      'select outcome, body from svc.intent_settlement where commit_id = $1',
      [id],
    )
    expect(
      kept.map((one) => [one.outcome, Bun.zstdDecompressSync(new Uint8Array(one.body)).toString()]),
    ).toEqual([['not-made', body]])
  })

  test('of a drop needs no metadata location, and takes none', async () => {
    const id = await leave({ action: 'drop-table', table: { namespace: ['sales'], name: 'gone' } })
    const made = { outcome: 'made', reason: 'The table is gone.' }
    expect((await settle(id, { ...made, metadata_location: 's3://lake/1.json' })).status).toBe(422)
    expect((await settle(id, made)).status).toBe(204)
    expect((await audit(service)).find(({ commitId }) => commitId === id)).toMatchObject({
      action: 'drop-table',
      decision: 'APPROVED',
    })
  })

  test.each([
    ['without a reason', { outcome: 'not-made', reason: '' }, 400],
    ['with a blank reason', { outcome: 'not-made', reason: ' ' }, 400],
    ['with an unknown outcome', { outcome: 'perhaps', reason: 'x' }, 400],
    ['of a commit that was made without its file', { outcome: 'made', reason: 'x' }, 422],
  ])('%s is refused, and the intent stays', async (_what, sent, status) => {
    const id = await leave()
    expect((await settle(id, sent)).status).toBe(status)
    expect((await ask('GET', `/${id}`)).status).toBe(200)
    expect((await settle(id, notMade)).status).toBe(204)
  })

  test('is refused while a process owns the intent', async () => {
    const id = await leave({}, tenant, { leaseMs: 60_000, upstreamMs: 60_000 })
    expect((await settle(id, notMade)).status).toBe(409)
    expect((await ask('GET', `/${id}`)).status).toBe(200)
  })

  test('is for stewards and administrators of the tenant', async () => {
    const id = await leave()
    const plain = await session(service, tenant, ['read', 'admin'], ['analyst'], 'ann')
    const reader = await session(service, tenant, ['read'], ['steward'], 'rita')
    expect((await settle(id, notMade, plain)).status).toBe(403)
    expect((await settle(id, notMade, reader)).status).toBe(403)
    expect((await settle(id, notMade, foreign)).status).toBe(404)
    expect((await settle(id, notMade)).status).toBe(204)
  })
})

test('operators list, show and settle what recovery left, until none is stale', async () => {
  await recoverIntents(service.app.gateway)
  const run = (text: string) => runOn(service.store, text.split(' '))
  const left = JSON.parse((await run(`intent list --tenant ${tenant}`)).stdout) as {
    commit_id: string
    state: string
  }[]
  const open = left.filter(({ state }) => state === 'stale')
  expect(open.length).toBeGreaterThan(0)
  for (const { commit_id: id } of open) {
    expect((await run(`intent show --tenant ${tenant} --id ${id} --field commit_id`)).stdout).toBe(`${id}\n`)
    expect(
      await run(`intent settle --tenant ${foreignTenant} --id ${id} --outcome not-made --reason x`),
    ).toMatchObject({ status: 1, stderr: 'The tenant has no such open intent.\n' })
    expect(
      (await run(`intent settle --tenant ${tenant} --id ${id} --outcome not-made --reason seen`)).status,
    ).toBe(0)
  }
  for (const { commit_id: id } of JSON.parse((await run(`intent list --tenant ${foreignTenant}`)).stdout))
    await run(`intent settle --tenant ${foreignTenant} --id ${id} --outcome not-made --reason seen`)
  expect((await countIntents(service.store)).stale).toBe(0)
  await recoverIntents(service.app.gateway)
  const text = await (await fetch(new URL('/metrics', service.app.metricsUrl))).text()
  expect(text).toContain('svc_commit_intents 0')
})
