/** Policies, decisions and intents over HTTP: by a tenant's own administrator, and under /admin for any tenant. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { appendSnapshot, firstSnapshotId } from '../../../demo/commits.ts'
import { limits } from '../../../src/limits.ts'
import { call, type IdentityService, session, startIdentityService } from '../../support/identity.ts'
import { addTenant, commit, type TestTenant } from '../../support/service.ts'

setDefaultTimeout(120_000)

let service: IdentityService
let foreign: TestTenant
let administrator: string
let outsider: string

type Json = Readonly<Record<string, unknown>>
const table = { namespace: ['sales'], name: 'orders' }
const policy = { table, kind: 'schema', definition_cel: 'manifest.has_column(commit.result, "id")' }
const append = () =>
  commit(service, appendSnapshot({ snapshotId: firstSnapshotId, sequenceNumber: 1, timestampMs: Date.now() }))

beforeAll(async () => {
  service = await startIdentityService()
  foreign = await addTenant(service.store, 'foreign', service.catalog.url)
  const scopes = ['read', 'admin'] as const
  administrator = await session(service, service.owner.tenant, scopes, ['administrator'])
  outsider = await session(service, foreign.tenant, scopes, ['administrator'])
})
afterAll(() => service[Symbol.asyncDispose]())

async function ask(method: string, path: string, secret: string, body?: unknown) {
  const response = await call(service, method, path, { secret, body })
  const text = await response.text()
  return { status: response.status, text, body: (text === '' ? {} : JSON.parse(text)) as Json }
}
const admin = (path: string, tenant: string = service.owner.tenant) => `/admin/tenants/${tenant}${path}`

describe('a policy that is put over HTTP', () => {
  test('governs the next commit, has the defaults of the command line, and is gone when it is deleted', async () => {
    const denying = { ...policy, definition_cel: 'false', message: 'closed' }
    const put = await ask('PUT', '/api/v1/policies/closed', administrator, denying)
    expect(put.body).toEqual({
      id: 'closed',
      kind: 'schema',
      mode: 'enforce',
      name: 'closed',
      message: 'closed',
      definition_cel: 'false',
    })
    const denied = await append()
    expect([denied.status, await denied.text()]).toEqual([403, 'policy denied: closed: closed'])
    expect((await ask('GET', '/api/v1/policies', administrator)).body).toEqual({ items: [put.body] })
    expect((await ask('DELETE', '/api/v1/policies/closed', administrator)).status).toBe(204)
    expect((await ask('GET', '/api/v1/policies', administrator)).body).toEqual({ items: [] })
  })

  test.each([
    [
      'a text that does not parse',
      { definition_cel: 'table.schema.fields.exists(' },
      '`definition_cel`, at ',
    ],
    ['a text that gives no bool', { definition_cel: '"yes"' }, '`definition_cel`, at '],
    ['a table that no commit can name', { table: { namespace: ['sales.eu'], name: 'orders' } }, '`table` '],
    [
      'a name that is too long',
      { table: { namespace: ['sales'], name: 'x'.repeat(limits.identifierLengthMax + 1) } },
      '`table` ',
    ],
    ['an unknown mode', { mode: 'off' }, '`mode` must be one of'],
  ])('is refused with 400 for %s', async (_, change, said) => {
    const { status, text } = await ask('PUT', '/api/v1/policies/p', administrator, { ...policy, ...change })
    expect(status).toBe(400)
    expect(text).toContain(said)
  })

  test('is one tenant’s: another’s administrator neither sees nor removes it', async () => {
    expect((await ask('PUT', '/api/v1/policies/keep', administrator, policy)).status).toBe(200)
    expect((await ask('GET', '/api/v1/policies', outsider)).body).toEqual({ items: [] })
    expect((await ask('DELETE', '/api/v1/policies/keep', outsider)).status).toBe(404)
    expect((await ask('DELETE', admin('/policies/keep', foreign.tenant), service.operator)).status).toBe(404)
    expect((await ask('GET', admin('/policies'), service.operator)).body).toMatchObject({
      items: [{ id: 'keep' }],
    })
    expect((await ask('DELETE', admin('/policies/keep'), service.operator)).status).toBe(204)
  })
})

describe('decisions and intents over HTTP', () => {
  test('are the same for the tenant and under /admin, and nothing to another tenant', async () => {
    expect((await append()).status).toBe(200)
    const own = await ask('GET', '/api/v1/decisions?decision=APPROVED', administrator)
    const [decision] = own.body.items as { commit_id: string }[]
    expect(decision).toMatchObject({ decision: 'APPROVED', committer: 'spark', table })
    expect((await ask('GET', admin('/decisions?decision=APPROVED'), service.operator)).text).toBe(own.text)
    const one = `/decisions/${decision?.commit_id}`
    const record = await ask('GET', `/api/v1${one}`, administrator)
    expect(record.body).toMatchObject({ ...decision, principal: { sub: 'spark' } })
    expect((await ask('GET', admin(one), service.operator)).text).toBe(record.text)

    expect((await ask('GET', '/api/v1/decisions', outsider)).body).toEqual({ items: [] })
    expect((await ask('GET', `/api/v1${one}`, outsider)).status).toBe(404)
    expect((await ask('GET', admin(one, foreign.tenant), service.operator)).status).toBe(404)
  })

  test('narrow to one table, and take both parts of its name', async () => {
    const named = '/api/v1/decisions?namespace=sales&table=none'
    expect((await ask('GET', named, administrator)).body).toEqual({ items: [] })
    expect((await ask('GET', '/api/v1/decisions?table=orders', administrator)).status).toBe(400)
    expect((await ask('GET', '/api/v1/intents?table=orders', administrator)).status).toBe(400)
    expect((await ask('GET', '/api/v1/intents?namespace=sales&table=orders', administrator)).body).toEqual({
      items: [],
    })
  })
})

test('under /admin a tenant that does not exist is 404', async () => {
  for (const path of ['/policies', '/decisions', '/refusals', '/intents?namespace=a&table=b'])
    expect((await ask('GET', admin(path, crypto.randomUUID()), service.operator)).status).toBe(404)
})
