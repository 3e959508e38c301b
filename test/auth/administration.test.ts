/** /admin and /api/v1/sessions over HTTP: who is admitted, what they can do, and what is never shown. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { BlockList } from 'node:net'
import { adminOperations } from '../../src/auth/administration/admin-operations.ts'
import { principalChain } from '../../src/auth/principal-chain.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { limits } from '../../src/limits.ts'
import { findServiceSession } from '../../src/store/session/sessions.ts'
import { call, type IdentityService, session, startIdentityService } from '../support/identity.ts'
import { serveOperations } from '../support/operations.ts'
import { addTenant, type TestTenant } from '../support/service.ts'
import { messageOf } from '../support/surface.ts'

let service: IdentityService
let foreign: TestTenant

beforeAll(async () => {
  service = await startIdentityService()
  foreign = await addTenant(service.store, 'foreign', service.catalog.url)
}, 300_000)
afterAll(() => service[Symbol.asyncDispose]())

/** In characters that no index entry packs. */
const tooLong = randomBytes(2_000).toString('hex')
const admin = (method: string, path: string, body?: unknown) =>
  call(service, method, `/admin/${path}`, { secret: service.operator, body })
const json = async (response: Response) => (await response.json()) as Record<string, unknown>

describe('/admin', () => {
  test('is 403 for everyone but a session of the internal organization with the scope admin', async () => {
    const narrow = await session(service, (await internalTenant()) as TenantId, ['read'])
    for (const secret of [undefined, 'svc_x', '', service.owner.secret, foreign.secret, narrow])
      for (const path of ['/admin', '/admin/tenants', '/admin/license', '/admin/nothing/here'])
        expect((await call(service, 'GET', path, { secret })).status).toBe(403)
  })

  test('is 403 for the same session where no internal organization is configured', async () => {
    const { gateway, licensed } = service.app
    const serve = serveOperations(
      adminOperations,
      { ...gateway, licensed },
      {
        findSession: (secret) => findServiceSession(service.store, secret),
        identify: principalChain({
          trustedProxies: new BlockList(),
          readBearer: async () => undefined,
          demo: false,
        }),
        internalAdminOrgId: undefined,
      },
    )
    const request = new Request('http://svc.example/admin/tenants', {
      headers: { 'x-svc-session': service.operator },
    })
    expect((await serve(request)).status).toBe(403)
  })

  test('answers 404 to the internal organization where there is nothing', async () => {
    expect((await admin('GET', 'nothing')).status).toBe(404)
    expect((await admin('GET', 'tenants/no-uuid')).status).toBe(404)
    expect((await admin('GET', `tenants/${crypto.randomUUID()}/sessions`)).status).toBe(404)
  })

  test('makes, lists, suspends and resumes tenants', async () => {
    const made = await admin('POST', 'tenants', { name: 'new', organization_id: 'org_new' })
    expect(made.status).toBe(201)
    const { id } = await json(made)
    const again = await admin('POST', 'tenants', { name: 'again', organization_id: 'org_new' })
    expect([again.status, await messageOf(again)]).toEqual([
      409,
      'Another tenant already has this organization.',
    ])
    const listed = (await json(await admin('GET', 'tenants?limit=1000'))) as { items: { id: string }[] }
    expect(listed.items.map((tenant) => tenant.id)).toContain(String(id))

    const secret = await session(service, id as TenantId, ['read'])
    const own = () => call(service, 'GET', '/api/v1/session', { secret })
    expect((await own()).status).toBe(200)
    expect((await json(await admin('POST', `tenants/${id}/suspend`))).state).toBe('suspended')
    expect((await own()).status).toBe(401)
    expect((await json(await admin('POST', `tenants/${id}/resume`))).state).toBe('active')
    expect((await own()).status).toBe(200)
  })

  test.each([
    [{}],
    [{ name: '' }],
    [{ name: 7 }],
    [{ name: 'x', organization_id: 'acme' }],
    [{ name: 'x', organisation_id: 'org_a' }],
    ['not json'],
    ['[]'],
    ['{"name":"a","name":"b"}'],
    [`${'['.repeat(5_000)}`],
  ])('answers 400 to a tenant of %j', async (body) => {
    expect((await admin('POST', 'tenants', body)).status).toBe(400)
  })

  test('answers 400 to what no index entry holds', async () => {
    expect((await admin('POST', 'tenants', { name: 'x', organization_id: `org_${tooLong}` })).status).toBe(
      400,
    )
    const sessions = `tenants/${foreign.tenant}/sessions`
    const mint = async (sub: string) =>
      (await admin('POST', sessions, { name: 'x', sub, scopes: ['read'] })).status
    const bytesMax = limits.subjectBytesMax - 'service:'.length
    expect(await mint(tooLong.slice(0, bytesMax))).toBe(201)
    expect(await mint(tooLong.slice(0, bytesMax + 1))).toBe(400)
    expect(await mint('é'.repeat(bytesMax / 2 + 1))).toBe(400)
  })

  test('answers 413 to a body above the cap', async () => {
    expect((await admin('POST', 'tenants', { name: 'x'.repeat(2 ** 20) })).status).toBe(413)
  })

  test('registers, rotates and removes catalog credentials and never shows a secret', async () => {
    const at = `tenants/${foreign.tenant}/catalogs`
    const credential = {
      catalog_kind: 'alpha',
      endpoint: 'https://catalog.example',
      config_json: { warehouse: 'w', credential: 'id:Zk4canary', webhook_secret: 'Zk4canary' },
    }
    const put = await admin('PUT', `${at}/second`, credential)
    expect(await json(put)).toMatchObject({ version: 1 })
    expect(await json(await admin('PUT', `${at}/second`, credential))).toMatchObject({ version: 2 })
    const rotated = await admin('PATCH', `${at}/second`, { config_json: { webhook_secret: 'Zk4canary2' } })
    expect(await json(rotated)).toEqual({ version: 3 })
    const listed = await (await admin('GET', at)).text()
    expect(listed).toContain('"second"')
    expect(listed).toContain('"w"')
    expect(listed).not.toContain('Zk4canary')
    expect((await admin('DELETE', `${at}/second`)).status).toBe(204)
    expect((await admin('DELETE', `${at}/second`)).status).toBe(404)
    expect((await admin('PATCH', `${at}/second`, { config_json: {} })).status).toBe(404)
  })

  test.each([
    ['a%20b', {}, 400],
    ['n'.repeat(256), {}, 400],
    ['x', { catalog_kind: 'omega' }, 400],
    ['x', { catalog_kind: 'gamma' }, 422],
    ['x', { endpoint: 'https://u:p@catalog.example' }, 400],
    ['x', { config_json: 'none' }, 400],
  ])('refuses a credential of nickname %s with %j', async (nickname, change, status) => {
    const body = { catalog_kind: 'alpha', endpoint: 'https://catalog.example', config_json: {}, ...change }
    const answer = await admin('PUT', `tenants/${foreign.tenant}/catalogs/${nickname}`, body)
    expect(answer.status).toBe(status)
    expect(await answer.text()).not.toContain('u:p')
  })

  test('refuses a credential that no commit could use, put or rotated, and keeps the one that there is', async () => {
    const at = `tenants/${foreign.tenant}/catalogs/usable`
    const endpoint = 'https://catalog.example'
    const config = { warehouse: 'w', credential: 'id:Zk4canary' }
    const put = (change: object) =>
      admin('PUT', at, { catalog_kind: 'alpha', endpoint, config_json: { ...config, ...change } })
    expect((await put({})).status).toBe(200)
    for (const change of [
      { warehous: 'w' },
      { 'header.Cookie': 'Zk4canary' },
      { token: 'Zk4canary' },
      { credential: 'Zk4canary' },
      { endpoint: 'https://other.example' },
      { branch: 'main' },
    ]) {
      for (const answer of [await put(change), await admin('PATCH', at, { config_json: change })]) {
        expect({ change, status: answer.status }).toEqual({ change, status: 400 })
        expect(await answer.text()).not.toContain('Zk4canary')
      }
    }
    expect(await json(await admin('PATCH', at, { config_json: { credential: 'id:new' } }))).toEqual({
      version: 2,
    })
  })

  test('lists a tenant’s sessions without secrets and revokes one with effect on the next request', async () => {
    const at = `tenants/${foreign.tenant}/sessions`
    const whose = { roles: ['writer'] }
    const minted = await json(await admin('POST', at, { name: 'etl', scopes: ['read'], ...whose }))
    const secret = String(minted.secret)
    const found = await json(await call(service, 'GET', '/api/v1/session', { secret }))
    expect(found).toMatchObject({ principal: { sub: 'service:etl', ...whose }, scopes: ['read'] })
    const listed = await (await admin('GET', at)).text()
    expect(listed).toContain(String(minted.id))
    expect(listed).not.toContain(secret)
    // The right id under the wrong tenant ends nothing.
    const wrong = await admin('DELETE', `tenants/${service.owner.tenant}/sessions/${minted.id}`)
    expect(wrong.status).toBe(404)
    expect((await admin('DELETE', `${at}/${minted.id}`)).status).toBe(200)
    expect((await call(service, 'GET', '/api/v1/session', { secret })).status).toBe(401)
  })
})

describe('a tenant’s own administrator', () => {
  test('mints, lists and ends sessions of the own tenant only', async () => {
    const secret = await session(service, foreign.tenant, ['admin'], ['administrator'])
    const own = (method: string, path: string, body?: unknown) =>
      call(service, method, `/api/v1/sessions${path}`, { secret, body })
    const minted = await json(await own('POST', '', { name: 'spark', scopes: ['commit'] }))
    expect(minted.secret).toStartWith('svc_')
    expect(await (await own('GET', '?limit=1000')).text()).toContain(String(minted.id))
    const theirs = await json(
      await admin('POST', `tenants/${service.owner.tenant}/sessions`, { name: 'x', scopes: ['read'] }),
    )
    expect((await own('DELETE', `/${theirs.id}`)).status).toBe(404)
    expect(await (await own('GET', '?limit=1000')).text()).not.toContain(String(theirs.id))
    expect((await own('DELETE', `/${minted.id}`)).status).toBe(200)
    expect((await own('GET', '?kind=browser')).status).toBe(200)
    expect((await own('GET', '?kind=other')).status).toBe(400)
    expect((await own('GET', '?limit=0')).status).toBe(400)
  })

  test('takes the role and the scope, and a mistyped field is not ignored', async () => {
    const mint = (secret: string, body: object) => call(service, 'POST', '/api/v1/sessions', { secret, body })
    const body = { name: 'x', scopes: ['read'] }
    expect((await mint(await session(service, foreign.tenant, ['admin']), body)).status).toBe(403)
    const scopeless = await session(service, foreign.tenant, ['read'], ['administrator'])
    expect((await mint(scopeless, body)).status).toBe(403)
    const both = await session(service, foreign.tenant, ['admin'], ['administrator'])
    for (const wrong of [
      { ...body, expires: '2030-01-01T00:00:00Z' },
      { ...body, expires_at: '2001-01-01T00:00:00Z' },
      { ...body, expires_at: 'tomorrow' },
      { ...body, expires_at: '2999-01-01T00:00:00' },
      { ...body, scopes: ['root'] },
      { ...body, scopes: [] },
      { ...body, roles: 'admin' },
      { ...body, sub: tooLong },
    ])
      expect((await mint(both, wrong)).status).toBe(400)
  })
})

async function internalTenant(): Promise<unknown> {
  const { tenant } = await json(await call(service, 'GET', '/api/v1/session', { secret: service.operator }))
  return tenant
}
