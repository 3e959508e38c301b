import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import {
  appendSnapshot,
  createTable,
  firstSnapshotId,
  orderFields,
  removeSnapshots,
  replaceSchema,
  setProperties,
} from '../../demo/commits.ts'
import type { PolicyKind } from '../../src/core/policy.ts'
import { warningHeader } from '../../src/gateway/base/faults.ts'
import { limits } from '../../src/limits.ts'
import { deletePolicy, listPolicies, putPolicy } from '../../src/store/policy/policies.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { recordingProxy } from '../support/recording-proxy.ts'
import {
  addTenant,
  audit,
  commit,
  commitEdges,
  governOrders,
  metric,
  startTestService,
  type TestService,
} from '../support/service.ts'

const deny = 'commit_rejected_total{reason="policy_denied"}'
const unavailable = 'commit_rejected_total{reason="policy_engine_unavailable"}'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service[Symbol.asyncDispose]())

async function ungovern(): Promise<void> {
  const { items } = await listPolicies(service.store, service.owner.tenant)
  for (const { id } of items) await deletePolicy(service.store, service.owner.tenant, id)
}

describe('a commit that every policy allows', () => {
  beforeAll(async () => {
    await governOrders(service, { id: 'keep-id', definitionCel: 'manifest.has_column(commit.result, "id")' })
  })
  afterAll(ungovern)

  test('is answered with the upstream response, byte for byte', async () => {
    await using proxy = await recordingProxy(service.catalog.url)
    const { secret } = await addTenant(service.store, 'via-proxy', proxy.url)
    const response = await commit(service, setProperties({ a: '1' }), { secret })
    expect(response.status).toBe(200)
    const echoed = new Bun.CryptoHasher('sha256').update(await response.bytes()).digest('hex')
    const sent = proxy.exchanges.filter((one) => one.method === 'POST' && one.path.endsWith('/tables/orders'))
    expect(sent.map((one) => one.responseSha256)).toEqual([echoed])
  })

  test('is forwarded byte for byte', async () => {
    await using proxy = await recordingProxy(service.catalog.url)
    const { secret } = await addTenant(service.store, 'via-proxy-2', proxy.url)
    const body = `{ "updates" : [ {"action":"set-properties", "updates":{"n":"1e2"}} ],"requirements":[] }`
    expect((await commit(service, body, { secret })).status).toBe(200)
    const sent = proxy.exchanges.find((one) => one.method === 'POST' && one.path.endsWith('/tables/orders'))
    expect(sent?.requestSha256).toBe(new Bun.CryptoHasher('sha256').update(body).digest('hex'))
  })

  test('leaves a WriteEvent with its fields, and names its decision', async () => {
    const response = await commit(service, setProperties({ b: '1' }), { sub: 'ada' })
    const [row] = await audit(service)
    expect(row).toMatchObject({
      commitId: response.headers.get('x-svc-decision-id'),
      committer: 'ada',
      decision: 'APPROVED',
      reason: '',
      principalSource: 'auth_header',
    })
  })

  test('leaves INTENDED_WRITE and ACTUAL_WRITE edges whose id is the commit id', async () => {
    const response = await commit(service, setProperties({ c: '1' }), { sub: 'grace' })
    const id = response.headers.get('x-svc-decision-id') ?? ''
    expect(await commitEdges(service, id)).toEqual(['ACTUAL_WRITE', 'INTENDED_WRITE'])
  })

  test('keeps snapshot ids above 2^53 exact from client to upstream, policy and graph', async () => {
    await governOrders(service, {
      id: 'exact',
      definitionCel: `!commit.updates.exists(u, u.action == 'add-snapshot') || commit.updates[0].snapshot['snapshot-id'] == ${firstSnapshotId}`,
    })
    const append = appendSnapshot({ snapshotId: firstSnapshotId, sequenceNumber: 1, timestampMs: Date.now() })
    const response = await commit(service, append)
    expect(await response.text()).toContain(`"current-snapshot-id":${firstSnapshotId}`)
    expect(response.status).toBe(200)

    const off = appendSnapshot({
      snapshotId: firstSnapshotId + 1n,
      parentId: firstSnapshotId,
      sequenceNumber: 2,
      timestampMs: Date.now(),
    })
    expect((await commit(service, off)).status).toBe(403)
  })
})

describe('a commit that a policy denies', () => {
  afterEach(ungovern)

  test('is 403 in text, is not forwarded, and leaves a REJECTED WriteEvent with an INTENDED_WRITE edge only', async () => {
    await governOrders(service, {
      id: 'keep-id',
      name: 'orders keep their id',
      message: 'do not drop the column id',
      definitionCel: 'manifest.has_column(commit.result, "id")',
    })
    const commits = service.catalog.faults.counts.commit
    const [before, denied] = [await audit(service), await metric(service, deny)]
    const response = await commit(service, replaceSchema(orderFields.slice(1)))
    expect(response.status).toBe(403)
    expect(response.headers.get('content-type')).toStartWith('text/plain')
    expect(await response.text()).toBe('policy denied: orders keep their id: do not drop the column id')
    expect(service.catalog.faults.counts.commit).toBe(commits)
    const after = await audit(service)
    expect(after).toHaveLength(before.length + 1)
    expect(after.slice(0, 1)).toMatchObject([
      { decision: 'REJECTED', reason: 'orders keep their id: do not drop the column id', committer: 'spark' },
    ])
    expect(await commitEdges(service, response.headers.get('x-svc-decision-id') ?? '')).toEqual([
      'INTENDED_WRITE',
    ])
    expect(await metric(service, deny)).toBe(denied + 1)
    expect(await metric(service, unavailable)).toBe(0)
  })

  test('is decided by the first false in id order', async () => {
    for (const id of ['b', 'a', 'c']) await governOrders(service, { id, definitionCel: 'false' })
    expect(await (await commit(service, setProperties({ a: '1' }))).text()).toBe('policy denied: a')
  })

  test('may be a write ACL that asks for a role', async () => {
    await governOrders(service, {
      id: 'writers',
      kind: 'write_acl',
      definitionCel: 'principal.role(principal, "writer")',
    })
    expect((await commit(service, setProperties({ a: '1' }), { roles: ['reader'] })).status).toBe(403)
    expect((await commit(service, setProperties({ a: '1' }), { roles: ['writer'] })).status).toBe(200)
  })

  test('may be one that asks for an address', async () => {
    await governOrders(service, { id: 'ada', definitionCel: 'principal.email == "ada@acme.io"' })
    const body = setProperties({ a: '1' })
    expect((await commit(service, body, { email: 'bob@acme.io' })).status).toBe(403)
    expect((await commit(service, body, { email: 'ada@acme.io' })).status).toBe(200)
    // A caller that has none is not taken for anybody.
    expect((await commit(service, body)).status).toBe(503)
  })

  test('may be a retention policy, which speaks only of snapshot expiry', async () => {
    const day = 86_400_000
    const now = Date.now()
    await using service = await startTestService({ clock: { now: () => now } })
    await governOrders(service, {
      id: 'a-week',
      kind: 'retention',
      definitionCel: `commit.updates.all(u, u.action != 'remove-snapshots' || table.snapshots.all(s,
        !(s.snapshot_id in u['snapshot-ids']) || commit.received_at - s.timestamp_ms >= ${7 * day}))`,
    })
    const old = appendSnapshot({ snapshotId: 1n, sequenceNumber: 1, timestampMs: now - 8 * day })
    const young = appendSnapshot({ snapshotId: 2n, parentId: 1n, sequenceNumber: 2, timestampMs: now - day })
    expect((await commit(service, old)).status).toBe(200)
    expect((await commit(service, young)).status).toBe(200)
    expect((await commit(service, removeSnapshots([2n]))).status).toBe(403)
    expect((await commit(service, removeSnapshots([1n]))).status).toBe(200)
  })
})

describe('modes', () => {
  afterEach(ungovern)

  test('warn and shadow policies never alter the verdict; a warning is in the header and the record', async () => {
    await governOrders(service, { id: 'w', mode: 'warn', name: 'be careful', definitionCel: 'false' })
    await governOrders(service, { id: 's', mode: 'shadow', definitionCel: 'table.nothing' })
    const response = await commit(service, setProperties({ a: '1' }))
    expect(response.status).toBe(200)
    expect(response.headers.get('x-svc-policy-warning')).toBe('be%20careful')
    const [row] = await audit(service)
    expect(row?.outcomes).toMatchObject([
      { policyId: 's', mode: 'shadow', error: 'ErrPolicyEval' },
      { policyId: 'w', mode: 'warn', value: false },
    ])
  })
})

test('the header of warnings names each policy once and stays so short that no client refuses an accepted commit', () => {
  const outcome = (name: string) => ({ policyId: name, name, mode: 'warn' as const, value: false })
  expect(warningHeader([outcome('a'), outcome('b'), outcome('a')])).toEqual({
    'x-svc-policy-warning': 'a, b',
  })
  const many = Array.from({ length: 100 }, (_, i) => outcome(`${i} ${'é'.repeat(100)}`))
  const header = warningHeader(many)['x-svc-policy-warning'] ?? ''
  expect(header).toStartWith('0%20%C3%A9')
  expect(header.length).toBeLessThanOrEqual(limits.warningHeaderCharsMax)
  expect(header.split(', ').map((name) => decodeURIComponent(name))).toEqual(
    many.slice(0, header.split(', ').length).map(({ name }) => name),
  )
})

describe('a table that the commit creates', () => {
  test('is judged as what it would become, and a governed name needs a write policy that allows it', async () => {
    await using service = await startTestService()
    const path = '/v1/iceberg/main/namespaces/sales/tables/fresh'
    const govern = (id: string, kind: PolicyKind, definitionCel: string) =>
      putPolicy(
        service.store,
        service.owner.tenant,
        { namespace: ['sales'], name: 'fresh' },
        { id, kind, mode: 'enforce', name: id, message: '', definitionCel },
      )
    await govern('has-id', 'schema', 'manifest.has_column(table, "id")')
    const creation = (fields: typeof orderFields) =>
      JSON.stringify({
        requirements: [{ type: 'assert-create' }],
        updates: [
          { action: 'assign-uuid', uuid: crypto.randomUUID() },
          { action: 'upgrade-format-version', 'format-version': 2 },
          { action: 'add-schema', schema: JSON.parse(createTable('x', fields)).schema, 'last-column-id': 4 },
          { action: 'set-current-schema', 'schema-id': -1 },
          { action: 'add-spec', spec: { 'spec-id': 0, fields: [] } },
          { action: 'set-default-spec', 'spec-id': -1 },
          { action: 'add-sort-order', 'sort-order': { 'order-id': 0, fields: [] } },
          { action: 'set-default-sort-order', 'sort-order-id': -1 },
          { action: 'set-location', location: 'file:///demo/fresh' },
        ],
      })
    expect(await (await commit(service, creation(orderFields), { path })).text()).toBe(
      'policy denied: no write policy of sales.fresh allows create-table',
    )
    await govern('writers', 'write_acl', 'true')
    expect((await commit(service, creation(orderFields.slice(1)), { path })).status).toBe(403)
    expect((await commit(service, creation(orderFields), { path })).status).toBe(200)
  })
})

describe('two tenants with the same nickname and table names', () => {
  test('see neither each other’s policies nor audit rows, and a foreign prefix is 404', async () => {
    await using service = await startTestService()
    await governOrders(service, { id: 'never', definitionCel: 'false' })
    const other = await addTenant(service.store, 'globex', service.catalog.url)
    expect((await commit(service, setProperties({ a: '1' }))).status).toBe(403)
    expect((await commit(service, setProperties({ a: '1' }), { secret: other.secret })).status).toBe(200)
    expect((await audit(service)).map((row) => row.decision)).toEqual(['REJECTED'])
    expect((await audit(service, other.tenant)).map((row) => row.decision)).toEqual(['APPROVED'])
    const { id: tenant } = await createTenant(service.store, { name: 'empty' })
    const { secret } = await createServiceSession(service.store, tenant, {
      name: 'x',
      principal: { sub: 'x', roles: [] },
      scopes: ['commit'],
    })
    expect((await commit(service, setProperties({ a: '1' }), { secret })).status).toBe(404)
  })
})
