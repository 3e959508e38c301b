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
      pinnable: true,
    })
    const { pinnable: _, ...listed } = put.body
    const denied = await append()
    expect([denied.status, await denied.text()]).toEqual([403, 'policy denied: closed: closed'])
    expect((await ask('GET', '/api/v1/policies', administrator)).body).toEqual({ items: [listed] })
    expect((await ask('DELETE', '/api/v1/policies/closed', administrator)).status).toBe(204)
    expect((await ask('GET', '/api/v1/policies', administrator)).body).toEqual({ items: [] })
  })

  test('says whether what it reads can be pinned, and what keeps it from that', async () => {
    const said = async (definition_cel: string) => {
      const checked = await ask('POST', '/api/v1/policies/check', administrator, { definition_cel })
      const put = await ask('PUT', '/api/v1/policies/told', administrator, { ...policy, definition_cel })
      return [checked, put].map(({ body: { pinnable, unpinnable } }) => [pinnable, unpinnable])
    }
    const schema = [true, undefined]
    expect(await said('manifest.has_column(commit.result, "id")')).toEqual([schema, schema])
    const properties = [false, 'table.properties']
    expect(await said('table.properties.size() >= 0')).toEqual([properties, properties])
    await ask('DELETE', '/api/v1/policies/told', administrator)
    const broken = await ask('POST', '/api/v1/policies/check', administrator, { definition_cel: 'table.' })
    expect(broken.body).not.toHaveProperty('pinnable')
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

describe('a policy as a resource', () => {
  const text = { kind: 'schema', definition_cel: 'true' }

  test('is bound to tables, namespaces and tags, and shown with all of them', async () => {
    for (const scope of [{ table }, { namespace: ['sales'] }, { tag: 'pii' }, { namespace: [] }])
      expect((await ask('PUT', '/api/v1/policies/wide', administrator, { ...text, ...scope })).status).toBe(
        200,
      )
    const shown = await ask('GET', '/api/v1/policies/wide', administrator)
    expect(shown.body).toMatchObject({ id: 'wide', ...text, mode: 'enforce' })
    expect(shown.body.scopes).toHaveLength(4)
    for (const scope of [{ table }, { namespace: ['sales'] }, { tag: 'pii' }, { namespace: [] }])
      expect(shown.body.scopes).toContainEqual(scope)
    expect((await ask('GET', admin('/policies/wide'), service.operator)).text).toBe(shown.text)
    expect((await ask('GET', '/api/v1/policies/wide', outsider)).status).toBe(404)
    expect((await ask('GET', admin('/policies/wide', foreign.tenant), service.operator)).status).toBe(404)
  })

  test('is listed for each table that it governs, with the scope through which it does', async () => {
    const of = '/api/v1/policies?namespace=sales%1Feu&table=none'
    expect((await ask('GET', of, administrator)).body).toMatchObject({
      items: [{ id: 'wide', scope: { namespace: ['sales'] } }],
    })
    expect((await ask('GET', of, outsider)).body).toEqual({ items: [] })
    expect((await ask('GET', '/api/v1/policies?table=none', administrator)).status).toBe(400)
  })

  test('is unbound from one of them by an administrator of its tenant, but not from the last', async () => {
    const unbind = (scope: object, as = administrator, at = '/api/v1/policies/wide/unbind') =>
      ask('POST', at, as, scope)
    expect((await unbind({ tag: 'pii' }, outsider)).status).toBe(404)
    const ofForeign = admin('/policies/wide/unbind', foreign.tenant)
    expect((await unbind({ tag: 'pii' }, service.operator, ofForeign)).status).toBe(404)
    for (const scope of [{}, { table, tag: 'pii' }, { namespace: ['a.b'] }])
      expect((await unbind(scope)).status).toBe(400)
    expect((await unbind({ tag: 'pii' })).status).toBe(204)
    expect((await unbind({ tag: 'pii' })).text).toContain('The policy is not bound to this.')
    expect((await unbind({ table }, service.operator, admin('/policies/wide/unbind'))).status).toBe(204)
    expect((await ask('GET', '/api/v1/policies/wide', administrator)).body.scopes).toEqual([
      { namespace: ['sales'] },
      { namespace: [] },
    ])
    expect((await unbind({ namespace: ['sales'] })).status).toBe(204)
    const last = await unbind({ namespace: [] })
    expect([last.status, last.text]).toEqual([409, expect.stringContaining('Delete the policy.')])
  })

  test('keeps who changed it, before and after, also once it is deleted', async () => {
    expect((await ask('DELETE', '/api/v1/policies/wide', administrator)).status).toBe(204)
    const { body } = await ask('GET', '/api/v1/policies/wide/history?limit=2', administrator)
    expect(body).toMatchObject({
      items: [
        { action: 'delete', actor: { sub: 'someone' }, before: { ...text, id: 'wide' } },
        { action: 'unbind', scope: { namespace: ['sales'] }, before: text, after: text },
      ],
    })
    expect(body.next_page_token).toBeString()
    expect((await ask('GET', admin('/policies/wide/history?limit=2'), service.operator)).body).toEqual(body)
    expect((await ask('GET', '/api/v1/policies/wide/history', outsider)).body).toEqual({ items: [] })
  })

  test.each([
    ['nothing', {}, 'exactly one'],
    ['two things', { table, tag: 'pii' }, 'exactly one'],
    ['a namespace that no commit can name', { namespace: ['a.b'] }, '`namespace` '],
    ['a namespace with an empty level', { namespace: ['a', ''] }, 'namespace'],
    ['a tag that nothing can have', { tag: 'a b' }, '`tag` '],
  ])('is refused with 400 where it is bound to %s', async (_, scope, said) => {
    const answered = await ask('PUT', '/api/v1/policies/p', administrator, { ...text, ...scope })
    expect(answered.status).toBe(400)
    expect(answered.text).toContain(said)
  })

  test('is checked without being saved: errors and hints, each with its place', async () => {
    const check = (definition_cel: string) =>
      ask('POST', '/api/v1/policies/check', administrator, { definition_cel })
    expect((await check('true')).body).toEqual({ saveable: true, problems: [], pinnable: true })
    expect((await check('true &&\n  nothing')).body).toMatchObject({
      saveable: false,
      problems: [{ kind: 'error', offset: 10, line: 2, column: 3 }],
    })
    expect((await check('"id" in table.schema.fields')).body).toMatchObject({
      saveable: false,
      problems: [{ kind: 'hint', line: 1 }],
    })
    expect((await ask('GET', '/api/v1/policies', administrator)).body).toEqual({ items: [] })
    expect(
      (await ask('POST', admin('/policies/check'), service.operator, { definition_cel: '1' })).body,
    ).toMatchObject({ saveable: false })
  })

  test('may have the id `check`', async () => {
    const put = await ask('PUT', '/api/v1/policies/check', administrator, policy)
    expect(put.status).toBe(200)
    expect((await ask('GET', '/api/v1/policies/check', administrator)).body).toMatchObject({ id: 'check' })
    expect((await ask('DELETE', '/api/v1/policies/check', administrator)).status).toBe(204)
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
