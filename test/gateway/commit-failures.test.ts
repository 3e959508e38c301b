import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { appendSnapshot, firstSnapshotId, setProperties } from '../../demo/commits.ts'
import type { Session } from '../../src/core/session.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import type { GatewayParts } from '../../src/gateway/base/parts.ts'
import { answerLiteral as answer } from '../../src/gateway/literal-surface/literal-surface.ts'
import { limits } from '../../src/limits.ts'
import type { PolicyEngine } from '../../src/policy/engine.ts'
import { putCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { countIntents } from '../../src/store/commit/commit-intents.ts'
import type { Param } from '../../src/store/database/session.ts'
import { deletePolicy } from '../../src/store/policy/policies.ts'
import {
  createServiceSession,
  findServiceSession,
  revokeServiceSession,
} from '../../src/store/session/sessions.ts'
import type { Store, TenantFunction } from '../../src/store/store.ts'
import { failingStore } from '../support/failing-store.ts'
import {
  addTenant,
  audit,
  commit,
  governOrders,
  metric,
  prefix,
  startTestService,
  type TestService,
} from '../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service[Symbol.asyncDispose]())
afterEach(() => service.catalog.faults.reset())

const path = `/v1/iceberg/${prefix}/namespaces/sales/tables/orders`
const body = setProperties({ a: '1' })

/** All that comes back for bytes that are sent. */
async function exchange(hostname: string, port: number, bytes: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let answer = ''
  const socket = connect(port, hostname, () => socket.write(bytes))
  socket.on('data', (chunk) => {
    answer += chunk.toString('latin1')
  })
  socket.on('error', reject)
  socket.on('close', () => resolve(answer))
  return await promise
}

interface ErrorModel {
  readonly error: { readonly code: number; readonly type: string; readonly message: string }
}

async function errorOf(response: Response): Promise<ErrorModel['error']> {
  expect(response.headers.get('content-type')).toBe('application/json')
  return ((await response.json()) as ErrorModel).error
}

/** A request put to the handler with some of its parts exchanged. */
async function answerWith(parts: Partial<GatewayParts>, session?: Session | undefined): Promise<Response> {
  const found = session ?? (await findServiceSession(service.store, service.owner.secret))
  const request = new Request(new URL(path, service.app.url).href, { method: 'POST', body })
  return await answer({ ...service.app.gateway, ...parts }, request, async () => found, {
    identify: async () => ({ principal: { sub: 'spark', roles: [] }, source: 'session', verified: true }),
  })
}

describe('fail closed', () => {
  async function expectUnavailable(send: () => Promise<Response>): Promise<void> {
    const rows = (await audit(service)).length
    const counted = await metric(service, 'commit_rejected_total{reason="policy_engine_unavailable"}')
    const response = await send()
    expect(response.status).toBe(503)
    expect(await response.text()).toBe('policy-engine-unavailable')
    expect(response.headers.get('content-type')).toStartWith('text/plain')
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(service.catalog.faults.counts.commit).toBe(0)
    expect((await audit(service)).length).toBe(rows)
    expect(await metric(service, 'commit_rejected_total{reason="policy_engine_unavailable"}')).toBe(
      counted + 1,
    )
  }

  test.each([
    ['does not compile', 'table.schema.fields.exists('],
    ['names what does not exist', 'nobody.knows'],
    ['fails to evaluate', 'table.no_such_key == 1'],
    ['gives no bool', 'dyn(1)'],
    [
      'exhausts its budget',
      `${'[1,2,3,4,5,6,7,8,9,10].all(a, '.repeat(7).replace(/a,/g, 'a,')}true${')'.repeat(7)}`,
    ],
  ])('answers 503, forwards nothing and audits nothing where a policy %s', async (_why, definitionCel) => {
    await governOrders(service, { id: 'broken', definitionCel })
    await expectUnavailable(() => commit(service, body))
    await deletePolicy(service.store, service.owner.tenant, 'broken')
  })

  test('does so even where an earlier policy would have allowed, and a later one would have denied', async () => {
    await governOrders(service, { id: 'a', definitionCel: 'true' })
    await governOrders(service, { id: 'b', definitionCel: 'table.no_such_key == 1' })
    await governOrders(service, { id: 'c', definitionCel: 'false' })
    await expectUnavailable(() => commit(service, body))
    for (const id of ['a', 'b', 'c']) await deletePolicy(service.store, service.owner.tenant, id)
  })

  test('does so where the policies cannot be loaded', async () => {
    await expectUnavailable(() => answerWith({ store: failingStore(service.store, /polic/i) }))
  })

  test('does so where the policy engine throws', async () => {
    await governOrders(service, { id: 'fine', definitionCel: 'true' })
    const policies = { judge: () => Promise.reject(new Error('panic')) } as unknown as PolicyEngine
    await expectUnavailable(() => answerWith({ policies }))
    await deletePolicy(service.store, service.owner.tenant, 'fine')
  })

  test('does so where an update action is unknown and the table is governed', async () => {
    await governOrders(service, { id: 'fine', definitionCel: 'true' })
    await expectUnavailable(() =>
      commit(service, '{"requirements":[],"updates":[{"action":"from-the-future"}]}'),
    )
    await deletePolicy(service.store, service.owner.tenant, 'fine')
  })

  test.each(['warn', 'shadow'] as const)(
    'does not where an update action is unknown and every policy is in mode %s: none alters the verdict',
    async (mode) => {
      await governOrders(service, { id: 'aside', mode, definitionCel: 'true' })
      const response = await commit(service, '{"requirements":[],"updates":[{"action":"from-the-future"}]}')
      // The development catalog does not know it either.
      expect([response.status, service.catalog.faults.counts.commit]).toEqual([502, 1])
      await deletePolicy(service.store, service.owner.tenant, 'aside')
    },
  )

  // Iceberg's own servers read actions in any case.
  test.each(['Remove-Snapshots', 'from-the-future'])(
    'does so where the action is %s, which may expire snapshots, and retention alone governs the table',
    async (action) => {
      await governOrders(service, { id: 'keep', kind: 'retention', definitionCel: 'true' })
      const update = { action, 'snapshot-ids': [1] }
      await expectUnavailable(() => commit(service, JSON.stringify({ requirements: [], updates: [update] })))
      await deletePolicy(service.store, service.owner.tenant, 'keep')
    },
  )

  test('forwards nothing where the intent cannot be made durable', async () => {
    const response = await answerWith({ store: failingStore(service.store, /commit_intent|open_intent/i) })
    expect(response.status).toBe(503)
    expect((await errorOf(response)).type).toBe('ServiceUnavailableException')
    expect(service.catalog.faults.counts.commit).toBe(0)
  })
})

describe('where the audit fails', () => {
  const unaudited = () => failingStore(service.store, /record_verdict/)

  test('a denial is 503, not told as one, and forwards nothing', async () => {
    await governOrders(service, { id: 'never', definitionCel: 'false' })
    const rows = (await audit(service)).length
    const response = await answerWith({ store: unaudited() })
    expect(response.status).toBe(503)
    expect((await errorOf(response)).message).toContain('could not be audited')
    expect(service.catalog.faults.counts.commit).toBe(0)
    expect((await audit(service)).length).toBe(rows)
    await deletePolicy(service.store, service.owner.tenant, 'never')
  })

  test('an accepted commit is a success, counted as not audited, whose intent stays', async () => {
    const open = (await countIntents(service.store)).open
    const failures = await metric(service, 'svc_audit_failures_total')
    expect((await answerWith({ store: unaudited() })).status).toBe(200)
    expect(service.catalog.faults.counts.commit).toBe(1)
    expect(await metric(service, 'svc_audit_failures_total')).toBe(failures + 1)
    expect((await countIntents(service.store)).open).toBe(open + 1)
  })

  test('a commit whose snapshot alone could not be ingested is a success, and counted', async () => {
    const failures = await metric(service, 'svc_snapshot_ingest_failures_total')
    const store: Store = {
      ...service.store,
      async tenantCall<Row extends object>(tenant: TenantId, name: TenantFunction, params: readonly Param[]) {
        const rows = await service.store.tenantCall<Row>(tenant, name, params)
        if (name !== 'record_verdict') return rows
        return rows.map((row) => ({ ...row, ingested: false, ingest_error: 'no room' }))
      },
    }
    expect((await answerWith({ store })).status).toBe(200)
    expect(await metric(service, 'svc_snapshot_ingest_failures_total')).toBe(failures + 1)
  })
})

describe('updates that cannot be applied to a governed table', () => {
  const unfit = (requirements: unknown[]) =>
    commit(
      service,
      JSON.stringify({ requirements, updates: [{ action: 'set-current-schema', 'schema-id': 99 }] }),
    )

  test('are 400, and 409 where the writer saw an older table', async () => {
    await governOrders(service, { id: 'fine', definitionCel: 'true' })
    const plain = await unfit([])
    expect([plain.status, (await errorOf(plain)).type]).toEqual([400, 'BadRequestException'])
    const stale = await unfit([{ type: 'assert-current-schema-id', 'current-schema-id': 7 }])
    expect([stale.status, (await errorOf(stale)).type]).toEqual([409, 'CommitFailedException'])
    expect(service.catalog.faults.counts.commit).toBe(0)
    // The table has passed this sequence number.
    const first = { snapshotId: firstSnapshotId, sequenceNumber: 1, timestampMs: Date.now() }
    expect((await commit(service, appendSnapshot(first))).status).toBe(200)
    const again = { ...first, snapshotId: firstSnapshotId + 1n, parentId: firstSnapshotId }
    const late = await commit(service, appendSnapshot(again))
    expect([late.status, (await errorOf(late)).type]).toEqual([409, 'CommitFailedException'])
    expect(service.catalog.faults.counts.commit).toBe(1)
    await deletePolicy(service.store, service.owner.tenant, 'fine')
  })
})

describe('who asks', () => {
  test('answers 401 without a session, with an unknown, a revoked and an expired one', async () => {
    expect((await commit(service, body, { secret: '' })).status).toBe(401)
    expect((await commit(service, body, { secret: `svc_${'A'.repeat(43)}` })).status).toBe(401)
    const { tenant } = service.owner
    const who = { name: 'x', principal: { sub: 'x', roles: [] }, scopes: ['commit'] as const }
    const revoked = await createServiceSession(service.store, tenant, who)
    expect((await commit(service, body, { secret: revoked.secret })).status).toBe(200)
    await revokeServiceSession(service.store, tenant, revoked.id)
    expect((await commit(service, body, { secret: revoked.secret })).status).toBe(401)
    const expired = await createServiceSession(service.store, tenant, {
      ...who,
      expiresAt: new Date(Date.now() - 1),
    })
    const response = await commit(service, body, { secret: expired.secret })
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).not.toBeNull()
  })

  test('answers 403 to a session without the scope `commit`', async () => {
    const { secret } = await createServiceSession(service.store, service.owner.tenant, {
      name: 'reader',
      principal: { sub: 'r', roles: [] },
      scopes: ['read'],
    })
    const response = await commit(service, body, { secret })
    expect(response.status).toBe(403)
    expect((await errorOf(response)).message).toContain('commit')
  })

  test('answers 401 to a bearer with an empty sub', async () => {
    expect((await commit(service, body, { sub: '' })).status).toBe(401)
  })

  test('falls back to the session where the bearer is the literal None', async () => {
    expect((await commit(service, body, { headers: { authorization: 'Bearer None' } })).status).toBe(200)
    const [row] = await audit(service)
    expect(row).toMatchObject({ committer: service.owner.tenant, principalSource: 'session' })
  })

  test('answers 500 where the handler is reached without a tenant', async () => {
    const request = new Request(new URL(path, service.app.url).href, { method: 'POST', body })
    const response = await answer(service.app.gateway, request, async () => undefined, {
      identify: () => Promise.reject(new Error('not reached')),
    })
    expect(response.status).toBe(500)
  })
})

describe('what is asked', () => {
  test.each([
    ['unparseable', '{'],
    ['empty', ''],
    ['an array', '[]'],
    ['a string', '"x"'],
    ['null', 'null'],
    ['without updates', '{"requirements":[]}'],
    ['without requirements', '{"updates":[]}'],
    ['with updates that are no array', '{"requirements":[],"updates":{}}'],
    ['with an update that is no object', '{"requirements":[],"updates":[1]}'],
    ['with a duplicate key', '{"requirements":[],"updates":[],"updates":[]}'],
    ['with a key duplicated by an escape', '{"requirements":[],"updates":[],"upd\\u0061tes":[]}'],
    ['nested 100,000 arrays deep', `{"requirements":[],"updates":${'['.repeat(100_000)}`],
    ['nested 100,000 objects deep', '{"a":'.repeat(100_000)],
    [
      'naming another table',
      '{"identifier":{"namespace":["sales"],"name":"other"},"requirements":[],"updates":[]}',
    ],
    [
      'naming another namespace',
      '{"identifier":{"namespace":["x"],"name":"orders"},"requirements":[],"updates":[]}',
    ],
  ])('answers 400 to a body that is %s, and the process lives', async (_what, text) => {
    const response = await commit(service, text)
    expect(response.status).toBe(400)
    expect((await errorOf(response)).message).not.toBe('')
    expect((await commit(service, body)).status).toBe(200)
  })

  test('answers 400 to invalid UTF-8', async () => {
    const bytes = Buffer.concat([
      Buffer.from('{"requirements":[],"updates":[{"action":"'),
      Buffer.from([0xc3, 0x28]),
    ])
    expect((await commit(service, new Uint8Array(bytes))).status).toBe(400)
  })

  test('answers 413 to 16 MiB and one byte, with a length and without', async () => {
    const size = limits.commitBodyBytesMax + 1
    expect((await commit(service, new Uint8Array(size).fill(32))).status).toBe(413)
    const chunk = new Uint8Array(1 << 20).fill(32)
    let left = size
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(chunk.subarray(0, Math.min(left, chunk.length)))
        left -= chunk.length
        if (left <= 0) controller.close()
      },
    })
    const response = await fetch(new URL(path, service.app.url), {
      method: 'POST',
      body: stream,
      headers: { 'x-svc-session': service.owner.secret },
    })
    expect(response.status).toBe(413)
  })

  test.each(['a%2Fb', '%1F', 'a%1Fb', 'caf%C3%A9', 'x'.repeat(5_000)])(
    'answers 400 to the table %p',
    async (table) => {
      expect(
        (await commit(service, body, { path: `/v1/iceberg/main/namespaces/sales/tables/${table}` })).status,
      ).toBe(400)
    },
  )

  test.each(['GET', 'PUT', 'DELETE', 'PROPFIND', 'TRACE', 'OPTIONS'])(
    'answers 405 to %s before it asks for a session',
    async (method) => {
      // By hand, because fetch sends no TRACE.
      const { hostname, port } = new URL(service.app.url)
      for (const literal of [path, `/v1/iceberg/${prefix}/transactions/commit`]) {
        const head = `${method} ${literal} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: close\r\n\r\n`
        const answer = await exchange(hostname, Number(port), head)
        expect(answer).toStartWith('HTTP/1.1 405 ')
        expect(answer.toLowerCase()).toContain('\r\nallow: post\r\n')
      }
    },
  )

  test('answers 405 with Allow to methods other than POST', async () => {
    const response = await fetch(new URL(path, service.app.url), {
      headers: { 'x-svc-session': service.owner.secret },
    })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('POST')
  })
})

describe('what the upstream does', () => {
  test('answers 404 for a prefix that the tenant does not have, and for a table that does not exist', async () => {
    const noPrefix = await commit(service, body, { path: path.replace('/main/', '/other/') })
    expect(noPrefix.status).toBe(404)
    const noTable = await commit(service, body, { path: path.replace('orders', 'nothing') })
    expect(noTable.status).toBe(404)
    expect((await errorOf(noTable)).type).toBe('NoSuchTableException')
  })

  test('answers 409 to a conflict and leaves no audit row', async () => {
    const rows = (await audit(service)).length
    service.catalog.faults.add({ operation: 'commit', effect: 'conflict' })
    const response = await commit(service, body)
    expect(response.status).toBe(409)
    expect((await errorOf(response)).type).toBe('CommitFailedException')
    expect((await audit(service)).length).toBe(rows)
  })

  test('answers 409 to a requirement that does not hold', async () => {
    const stale =
      '{"requirements":[{"type":"assert-table-uuid","uuid":"00000000-0000-4000-8000-000000000000"}],"updates":[]}'
    expect((await commit(service, stale)).status).toBe(409)
  })

  test('answers 401 where the upstream credentials have expired', async () => {
    const { secret } = await addTenant(service.store, 'expired', service.catalog.url)
    service.catalog.faults.add({ operation: 'token', effect: 'fail', status: 401, times: 10 })
    expect((await commit(service, body, { secret })).status).toBe(401)
  })

  test('renews a token that the upstream no longer takes, unseen by the client', async () => {
    service.catalog.faults.expireTokens()
    expect((await commit(service, body)).status).toBe(200)
  })

  test('answers 502 to an upstream error, naming no address or secret', async () => {
    service.catalog.faults.add({ operation: 'commit', effect: 'fail', status: 500 })
    const response = await commit(service, body)
    expect(response.status).toBe(502)
    expect((await errorOf(response)).message).not.toContain('127.0.0.1')
  })

  test('answers 502 where the upstream is down', async () => {
    const { secret } = await addTenant(service.store, 'down', 'http://127.0.0.1:9')
    expect((await commit(service, body, { secret })).status).toBe(502)
  })

  test('answers 500 where the adapter configuration cannot be decoded', async () => {
    const { tenant, secret } = await addTenant(service.store, 'odd', service.catalog.url)
    await putCatalogCredential(service.store, tenant, {
      nickname: prefix,
      kind: 'alpha',
      endpoint: service.catalog.url,
      config: { endpoint: service.catalog.url, warehouse: 7, credential: 'no-colon' },
    })
    const response = await commit(service, body, { secret })
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('no-colon')
  })
})

test('no secret reaches the log', () => {
  expect(service.log()).toContain('"msg":"request"')
  expect(service.log()).not.toContain(service.owner.secret)
  expect(service.log()).not.toContain('s3cret')
})
