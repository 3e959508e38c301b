/** What a refused commit leaves for those who look into it: a log line, a counter, and a record found by request id. */

import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { setProperties } from '../../demo/commits.ts'
import { policyErrorCodes } from '../../src/core/decision.ts'
import { deletePolicy, listPolicies } from '../../src/store/policy/policies.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { runOn } from '../admin/command-line.ts'
import { failingStore } from '../support/failing-store.ts'
import { call, session } from '../support/identity.ts'
import {
  audit,
  commit,
  governOrders,
  metric,
  startTestService,
  type TestService,
} from '../support/service.ts'

setDefaultTimeout(60_000)

let service: TestService
let steward: string
let foreign: string
let failing: RegExp | undefined

beforeAll(async () => {
  service = await startTestService({
    wrapStore: (store) =>
      new Proxy(store, {
        get: (target, name) =>
          Reflect.get(failing === undefined ? target : failingStore(target, failing), name),
      }),
  })
  const { tenant } = service.owner
  steward = await session(service, tenant, ['read'], ['steward'], 'stella')
  const other = (await createTenant(service.store, { name: 'foreign' })).id
  foreign = await session(service, other, ['read'], ['steward'], 'stella')
})
afterAll(() => service[Symbol.asyncDispose]())
beforeEach(async () => {
  failing = undefined
  const { tenant } = service.owner
  for (const { id } of (await listPolicies(service.store, tenant)).items)
    await deletePolicy(service.store, tenant, id)
})

const send = (requestId: string, sub = 'spark') =>
  commit(service, setProperties({ a: '1' }), { sub, headers: { 'x-request-id': requestId } })

async function refusals(query: string, secret = steward) {
  const response = await call(service, 'GET', `/api/v1/refusals${query}`, { secret })
  const body = (await response.json()) as {
    items: readonly Record<string, unknown>[]
    next_page_token?: string
  }
  return { status: response.status, ...body }
}

const logLines = () =>
  service
    .log()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>)

describe('a missing verdict', () => {
  test('is found by request id, with policy, table, principal, reason and what failed', async () => {
    await governOrders(service, {
      id: 'broken',
      name: 'has an owner',
      definitionCel: 'table.properties.owner == "x"',
    })
    const rows = (await audit(service)).length
    const response = await send('find-me-503')
    expect([response.status, await response.text()]).toEqual([503, 'policy-engine-unavailable'])
    const { items } = await refusals('?request_id=find-me-503')
    expect(items).toEqual([
      {
        commit_id: response.headers.get('x-svc-decision-id'),
        request_id: 'find-me-503',
        created_at: expect.any(String),
        outcome: 'policy_engine_unavailable',
        action: 'update-table',
        table: { namespace: ['sales'], name: 'orders' },
        principal: 'spark',
        principal_source: 'auth_header',
        policy: { id: 'broken', name: 'has an owner' },
        reason: 'ErrPolicyEval',
        explanation: expect.stringContaining('owner'),
      },
    ])
    expect((await audit(service)).length).toBe(rows)
  })

  test('is one log line that names the same, without the values', async () => {
    await governOrders(service, { id: 'broken', name: 'has an owner', definitionCel: 'dyn(1)' })
    const response = await send('log-me-503')
    const lines = logLines().filter(({ requestId, level }) => requestId === 'log-me-503' && level === 'error')
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({
      commitId: response.headers.get('x-svc-decision-id'),
      tenant: service.owner.tenant,
      table: 'sales.orders',
      principal: 'spark',
      policyId: 'broken',
      policy: 'has an owner',
      reason: 'ErrPolicyNonBool',
    })
  })

  test('is counted by its error code, and every code has a series from the start', async () => {
    for (const code of policyErrorCodes)
      expect(await metric(service, `svc_policy_unavailable_total{reason="${code}"}`)).toBeGreaterThanOrEqual(
        0,
      )
    const text = await (await fetch(new URL('/metrics', service.app.metricsUrl))).text()
    const labels = [...text.matchAll(/^svc_policy_unavailable_total\{reason="(\w+)"\}/gm)].map(
      ([, code]) => code,
    )
    expect(labels).toEqual([...policyErrorCodes])
    const series = 'svc_policy_unavailable_total{reason="ErrPolicyCompile"}'
    const before = await metric(service, series)
    await governOrders(service, { id: 'broken', definitionCel: 'nobody.knows' })
    await send('count-me')
    expect(await metric(service, series)).toBe(before + 1)
    expect((await refusals('?request_id=count-me')).items[0]?.explanation).toContain("no name 'nobody'")
  })

  test('names no policy where the policies could not be loaded, and says so', async () => {
    failing = /load_policies/
    const response = await send('load-me')
    expect(response.status).toBe(503)
    failing = undefined
    const [found] = (await refusals('?request_id=load-me')).items
    expect([found?.reason, found?.policy]).toEqual(['ErrPolicyLoad', undefined])
    expect(found?.explanation).toContain('the policies could not be loaded')
  })

  test('is 503 all the same where its record cannot be written, and the log says which commit lacks one', async () => {
    await governOrders(service, { id: 'broken', definitionCel: 'dyn(1)' })
    failing = /record_unjudged/
    const response = await send('lost-record')
    expect([response.status, await response.text()]).toEqual([503, 'policy-engine-unavailable'])
    failing = undefined
    expect((await refusals('?request_id=lost-record')).items).toEqual([])
    const warnings = logLines().filter(
      ({ requestId, level }) => requestId === 'lost-record' && level === 'warn',
    )
    expect(warnings.map(({ commitId }) => commitId)).toEqual([response.headers.get('x-svc-decision-id')])
  })
})

describe('a denial', () => {
  test('is found by request id in the same listing, with the policy and what it saw', async () => {
    await governOrders(service, {
      id: 'never',
      name: 'nobody writes',
      message: 'Ask us.',
      definitionCel: 'false',
    })
    const response = await send('find-me-403', 'dana')
    expect(response.status).toBe(403)
    const { items } = await refusals('?request_id=find-me-403')
    expect(items).toMatchObject([
      {
        commit_id: response.headers.get('x-svc-decision-id'),
        request_id: 'find-me-403',
        outcome: 'policy_denied',
        principal: 'dana',
        policy: { id: 'never', name: 'nobody writes' },
        reason: 'nobody writes: Ask us.',
      },
    ])
  })

  test('of one table of a transaction is found by the request id of the transaction', async () => {
    await governOrders(service, { id: 'never', definitionCel: 'false' })
    const change = { identifier: { namespace: ['sales'], name: 'orders' }, requirements: [], updates: [] }
    const path = '/v1/iceberg/main/transactions/commit'
    const body = JSON.stringify({ 'table-changes': [change] })
    const response = await commit(service, body, { path, headers: { 'x-request-id': 'of-a-transaction' } })
    expect(response.status).toBe(403)
    expect((await refusals('?request_id=of-a-transaction')).items).toMatchObject([
      { outcome: 'policy_denied' },
    ])
  })

  test('of another change, on the client surface, is found as well', async () => {
    await governOrders(service, { id: 'never', kind: 'write_acl', definitionCel: 'false' })
    const response = await call(service, 'DELETE', '/v1/iceberg/main/v1/namespaces/sales/tables/orders', {
      secret: service.owner.secret,
      headers: { 'x-request-id': 'drop-it' },
    })
    expect(response.status).toBe(403)
    expect((await refusals('?request_id=drop-it')).items).toMatchObject([{ action: 'drop-table' }])
  })
})

describe('the listing', () => {
  test('goes through both kinds, newest first, page by page', async () => {
    await governOrders(service, { id: 'never', definitionCel: 'false' })
    await send('page-1')
    await governOrders(service, { id: 'a-broken', definitionCel: 'dyn(1)' })
    await send('page-2')
    await deletePolicy(service.store, service.owner.tenant, 'a-broken')
    await send('page-3')
    const seen: unknown[] = []
    let token: string | undefined
    do {
      const page = await refusals(`?limit=1${token === undefined ? '' : `&page_token=${token}`}`)
      seen.push(...page.items.map((item) => item.request_id))
      token = page.next_page_token
    } while (token !== undefined && seen.length < 3)
    expect(seen).toEqual(['page-3', 'page-2', 'page-1'])
  })

  test('is what the administration command shows, by request id or by table', async () => {
    await governOrders(service, { id: 'never', definitionCel: 'false' })
    await send('command-403')
    await governOrders(service, { id: 'a-broken', definitionCel: 'dyn(1)' })
    await send('command-503')
    const list = async (flags: string, tenant: string = service.owner.tenant) => {
      const words = `refusal list --tenant ${tenant} ${flags}`.split(' ')
      const { status, stdout, stderr } = await runOn(service.store, words)
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      return (JSON.parse(stdout) as { items: readonly { request_id: string; outcome: string }[] }).items
    }
    expect(await list('--request command-403')).toMatchObject([{ outcome: 'policy_denied' }])
    expect(await list('--request command-503')).toMatchObject([{ outcome: 'policy_engine_unavailable' }])
    const newest = await list('--table sales.orders --limit 2')
    expect(newest.map(({ request_id }) => request_id)).toEqual(['command-503', 'command-403'])
    const other = (await createTenant(service.store, { name: 'none' })).id
    expect(await list('--request command-503', other)).toEqual([])
  })

  test('is empty for a steward of another tenant, also by request id', async () => {
    await governOrders(service, { id: 'broken', definitionCel: 'dyn(1)' })
    await send('not-yours')
    expect((await refusals('?request_id=not-yours')).items).toHaveLength(1)
    expect((await refusals('?request_id=not-yours', foreign)).items).toEqual([])
    expect((await refusals('', foreign)).items).toEqual([])
  })

  test('refuses a page token that no page gave', async () => {
    expect((await refusals('?page_token=1_x')).status).toBe(400)
  })
})
