/** Plans of a running service: what a writer gets, who may have it, and what is refused when a rule is saved. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { setProperties } from '../../demo/commits.ts'
import { sessionScopes } from '../../src/core/session.ts'
import { insertGrant } from '../../src/store/contract/access-grants.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { fetchPlan, type PlanRequest } from '../../src/transform/fetch-plan.ts'
import { isProofOf } from '../../src/transform/plan-proof.ts'
import { protectColumns } from '../../src/transform/protect-values.ts'
import { actorOf } from '../support/actor.ts'
import { session } from '../support/identity.ts'
import { licenseFor } from '../support/license.ts'
import {
  addTenant,
  commit,
  commitUpstream,
  startTestService,
  type TestService,
  type TestTenant,
} from '../support/service.ts'

setDefaultTimeout(120_000)

let service: TestService
let steward: string
let foreign: TestTenant
let foreignSteward: string

beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseFor('transform') } })
  const { store, owner, catalog } = service
  foreign = await addTenant(store, 'foreign', catalog.url)
  const session = async (tenant = owner.tenant) =>
    (
      await createServiceSession(store, tenant, {
        name: 'stella',
        principal: { sub: 'stella', roles: ['steward'] },
        scopes: [...sessionScopes],
      })
    ).secret
  steward = await session()
  foreignSteward = await session(foreign.tenant)
  expect((await commit(service, setProperties({ owner: 'sales' }))).status).toBe(200)
})
afterAll(() => service[Symbol.asyncDispose]())

async function call(method: string, path: string, body?: object, secret = steward) {
  const answer = await fetch(new URL(`/api/v1${path}`, service.app.url), {
    method,
    headers: { 'x-svc-session': secret, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text), text }
}
const tagColumn = (column: string, tag: string, secret = steward) =>
  call('PUT', `/contracts/tables/sales/orders/columns/${column}/tags/${tag}`, undefined, secret)
const rule = (column: string, body: object) =>
  call('PUT', `/transform/rules/columns/sales/orders/${column}`, body)
const planOf = (more: Partial<PlanRequest> = {}) =>
  fetchPlan({
    url: service.app.url.origin,
    table: ['sales', 'orders'],
    headers: { 'x-svc-session': service.owner.secret },
    ...more,
  })

describe('a plan', () => {
  test('says the same, for the same time, to who has a grant of access', async () => {
    const { tenant } = service.owner
    const secret = await session(service, tenant, ['read', 'commit'], [], 'rita')
    const said = async () => {
      const { plan } = await planOf({ headers: { 'x-svc-session': secret } })
      const { iat, exp, nonce: _, keys: __, ...rest } = plan
      return { ...rest, seconds: exp - iat }
    }
    const before = await said()
    const table = { namespace: ['sales'], name: 'orders' }
    const [at, until] = [new Date(), new Date(Date.now() + 60_000)]
    await service.store.tenantTransaction(tenant, (tx) =>
      insertGrant(tx, tenant, {
        ...{ id: crypto.randomUUID(), request: crypto.randomUUID(), table, contract: 'c' },
        ...{ grantee: { sub: 'rita' }, lifts: { columns: [], filters: [] }, purpose: 'p', ticket: undefined },
        ...{ grantedAt: at, grantedBy: actorOf('stella'), from: at, until },
      }),
    )
    expect(await said()).toEqual(before)
  })

  test('lists every column, and keeps what no rule names', async () => {
    const { plan } = await planOf()
    expect(plan.columns.map(({ name, action }) => [name, action])).toEqual([
      ['id', 'keep'],
      ['customer', 'keep'],
      ['amount', 'keep'],
      ['placed_at', 'keep'],
    ])
    expect(plan).toMatchObject({
      tenant: service.owner.tenant,
      table: ['sales', 'orders'],
      schema_id: 0,
      complete: true,
    })
    expect(plan.exp - plan.iat).toBe(600)
  })

  test('has the rule of a tag, whose scope is the tag, and a key for this writer alone', async () => {
    expect((await tagColumn('customer', 'sensitive.name')).status).toBe(204)
    const saved = await call('PUT', '/transform/rules/tags/sensitive.name', {
      action: 'tokenize',
      method: 'hmac',
    })
    expect(saved.status).toBe(204)
    const [first, second] = [await planOf(), await planOf()]
    expect(first.plan.columns[1]).toMatchObject({
      name: 'customer',
      action: 'tokenize',
      method: 'hmac',
      scope: 'sensitive.name',
      kid: 'k1',
    })
    const now = first.plan.iat
    const batch = { id: [1n], customer: ['ada'] }
    const tokens = protectColumns(first, batch, now).customer
    expect(String(tokens?.[0])).toMatch(/^tok_[a-z2-7]{26}$/)
    expect(protectColumns(second, batch, now).customer).toEqual(tokens)
    expect(first.plan.keys?.epk).not.toBe(second.plan.keys?.epk)
    expect(first.plan.policy_version).toBe(second.plan.policy_version)
    expect(first.plan.nonce).not.toBe(second.plan.nonce)
  })

  test('of a foreign tenant has neither the rule nor the key', async () => {
    expect(
      (await commit(service, setProperties({ owner: 'others' }), { secret: foreign.secret })).status,
    ).toBe(200)
    const headers = { 'x-svc-session': foreign.secret }
    expect((await planOf({ headers })).plan.columns[1]).toMatchObject({ action: 'keep' })
    expect((await tagColumn('customer', 'sensitive.name', foreignSteward)).status).toBe(204)
    expect((await planOf({ headers })).plan.columns[1]).toMatchObject({ action: 'keep' })
    await call(
      'PUT',
      '/transform/rules/tags/sensitive.name',
      { action: 'tokenize', method: 'hmac' },
      foreignSteward,
    )
    const [own, other] = [await planOf(), await planOf({ headers })]
    const tokenOf = (open: typeof own) =>
      protectColumns(open, { id: [1n], customer: ['ada'] }, open.plan.iat).customer
    expect(tokenOf(own)).not.toEqual(tokenOf(other))
    expect((await call('GET', '/transform/rules', undefined, foreignSteward)).body.items).toHaveLength(1)
  })

  test('has the rule of the column above those of its tags, and the mask of reading where it names none', async () => {
    await call('PUT', '/contracts/tables/sales/orders/columns/customer/masks/m', {
      action: 'show-first-4',
      exempt_roles: ['support'],
    })
    expect((await rule('customer', { action: 'mask' })).status).toBe(204)
    const open = await planOf()
    expect(open.plan.columns[1]).toMatchObject({ action: 'mask', mask: 'show-first-4' })
    expect(protectColumns(open, { id: [1n], customer: ['ada lovelace'] }, open.plan.iat).customer).toEqual([
      'ada xxxxxxxx',
    ])
    expect((await call('GET', '/transform/rules')).body.items).toEqual([
      { tag: 'sensitive.name', action: 'tokenize', method: 'hmac' },
      { table: { namespace: ['sales'], name: 'orders' }, field_id: 2, action: 'mask' },
    ])
    expect((await call('DELETE', '/transform/rules/columns/sales/orders/customer')).status).toBe(204)
    expect((await call('DELETE', '/transform/rules/columns/sales/orders/customer')).status).toBe(404)
    expect((await planOf()).plan.columns[1]).toMatchObject({ action: 'tokenize' })
  })

  test('names another key after the rotation of its scope', async () => {
    const before = await planOf()
    expect((await call('POST', '/transform/scopes/sensitive.name/rotations')).body).toEqual({ kid: 'k2' })
    const after = await planOf()
    expect(after.plan.columns[1]).toMatchObject({ kid: 'k2' })
    expect(after.plan.policy_version).not.toBe(before.plan.policy_version)
    expect(after.plan.keys?.wrapped.map(({ kid }) => kid)).toEqual(['k2'])
    const path = `/tables/sales/orders/transform-plan?all_keys=true&public_key=${'A'.repeat(42)}E`
    const { plan } = (await call('GET', path, undefined, service.owner.secret)).body
    const payload = JSON.parse(Buffer.from(plan.split('.')[1], 'base64url').toString())
    expect(payload.keys.wrapped.map((wrapped: { kid: string }) => wrapped.kid)).toEqual(['k1', 'k2'])
  })

  test('hands out no key of a version from before a tenant key that was lost', async () => {
    await service.store.tenantQuery(
      service.owner.tenant,
      `insert into svc.transform_scope_version (tenant_id, scope, version, begins) values ($1, 'sensitive.name', 3, true)`,
      [service.owner.tenant],
    )
    expect((await call('POST', '/transform/scopes/sensitive.name/rotations')).body).toEqual({ kid: 'k4' })
    const path = `/tables/sales/orders/transform-plan?all_keys=true&public_key=${'A'.repeat(42)}E`
    const { plan } = (await call('GET', path, undefined, service.owner.secret)).body
    const payload = JSON.parse(Buffer.from(plan.split('.')[1], 'base64url').toString())
    expect(payload.keys.wrapped.map((wrapped: { kid: string }) => wrapped.kid)).toEqual(['k3', 'k4'])
  })

  test('has a nonce that proves it for this table and these rules, for a time', async () => {
    const { plan } = await planOf()
    const key = service.store.roots.plans
    const subject = { tenant: plan.tenant, tableUuid: plan.table_uuid, policyVersion: plan.policy_version }
    const proof = `${plan.policy_version}:${plan.nonce}`
    expect(isProofOf(key, subject, proof, plan.exp + 3599)).toBe(true)
    expect(isProofOf(key, subject, proof, plan.exp + 3600)).toBe(false)
    expect(isProofOf(key, { ...subject, tableUuid: 'other' }, proof, plan.iat)).toBe(false)
    expect(isProofOf(key, { ...subject, tenant: foreign.tenant }, proof, plan.iat)).toBe(false)
    expect(isProofOf(key, subject, `${plan.policy_version}:${'A'.repeat(43)}`, plan.iat)).toBe(false)
    expect(isProofOf(key, subject, undefined, plan.iat)).toBe(false)
  })
})

describe('a rule is refused at save', () => {
  const cases: readonly (readonly [string, string, object, number, RegExp])[] = [
    ['a query-local mask', 'customer', { action: 'mask', mask: 'sha-256-query-local' }, 422, /no/],
    ['an expression', 'customer', { action: 'mask', mask: 'apply-expression' }, 422, /SQL/],
    [
      'a mask that is not for the type',
      'amount',
      { action: 'mask', mask: 'show-last-4' },
      422,
      /show-last-4/,
    ],
    ['a token for a decimal', 'amount', { action: 'tokenize', method: 'hmac', scope: 's' }, 422, /decimal/],
    [
      'FF1 for a number',
      'id',
      { action: 'tokenize', method: 'ff1', alphabet: 'digits', scope: 's' },
      422,
      /long/,
    ],
    [
      'FF1 without an alphabet',
      'customer',
      { action: 'tokenize', method: 'ff1', scope: 's' },
      400,
      /alphabet/,
    ],
    ['a column without a scope', 'customer', { action: 'tokenize', method: 'hmac' }, 400, /scope/],
    [
      'a method of another action',
      'customer',
      { action: 'encrypt', method: 'hmac', scope: 's' },
      422,
      /method/,
    ],
    ['NULL for a required column', 'id', { action: 'mask', mask: 'replace-with-null' }, 422, /required/],
    ['the mask of reading where there is none', 'amount', { action: 'mask' }, 422, /no mask of reading/],
    ['an unknown column', 'nothing', { action: 'redact' }, 404, /column/],
  ]
  test.each(cases)('%s', async (_, column, body, status, why) => {
    const answer = await rule(column, body)
    expect([answer.status, answer.text]).toEqual([status, expect.stringMatching(why) as never])
    expect((await call('GET', '/transform/rules')).body.items).toHaveLength(1)
  })

  test('random encryption of a partition column', async () => {
    const spec = { 'spec-id': 1, fields: [{ 'source-id': 2, name: 'customer', transform: 'identity' }] }
    await commitUpstream(
      service.catalog,
      JSON.stringify({
        requirements: [],
        updates: [
          { action: 'add-spec', spec },
          { action: 'set-default-spec', 'spec-id': -1 },
        ],
      }),
    )
    const answer = await rule('customer', { action: 'encrypt', method: 'gcm', scope: 's' })
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('partition') as never])
    expect((await rule('customer', { action: 'encrypt', method: 'siv', scope: 's' })).status).toBe(204)
    expect((await call('DELETE', '/transform/rules/columns/sales/orders/customer')).status).toBe(204)
  })

  test('two tags that say different things', async () => {
    expect((await call('PUT', '/transform/rules/tags/secret', { action: 'redact' })).status).toBe(204)
    expect((await tagColumn('customer', 'secret')).status).toBe(204)
    const refused = await call('GET', '/tables/sales/orders/transform-plan', undefined, service.owner.secret)
    expect([refused.status, refused.text]).toEqual([
      422,
      expect.stringContaining('different things') as never,
    ])
    await expect(planOf()).rejects.toMatchObject({ code: 'no_plan' })
    expect((await call('DELETE', '/transform/rules/tags/secret')).status).toBe(204)
  })
})

describe('nobody else', () => {
  test('gets a plan without a session, without the scope, or without a license', async () => {
    const path = new URL('/api/v1/tables/sales/orders/transform-plan', service.app.url)
    expect((await fetch(path)).status).toBe(401)
    const { secret } = await createServiceSession(service.store, service.owner.tenant, {
      name: 'reader',
      principal: { sub: 'rita', roles: [] },
      scopes: ['read'],
    })
    expect((await fetch(path, { headers: { 'x-svc-session': secret } })).status).toBe(403)
  })

  test('gets a plan of a table, schema or catalog that is not there, or for a key that is none', async () => {
    const get = async (path: string) => (await call('GET', path, undefined, service.owner.secret)).status
    expect(await get('/tables/sales/nothing/transform-plan')).toBe(404)
    expect(await get('/tables/sales/orders/transform-plan?catalog=none')).toBe(404)
    expect(await get('/tables/sales/orders/transform-plan?schema_id=99')).toBe(404)
    expect(await get('/tables/sales/orders/transform-plan?public_key=short')).toBe(400)
  })

  test('finds a key in the log', async () => {
    const open = await planOf()
    const key = open.keyOf(open.plan.columns[1] as never)
    for (const encoding of ['hex', 'base64', 'base64url'] as const)
      expect(service.log()).not.toContain(Buffer.from(key).toString(encoding))
  })
})
