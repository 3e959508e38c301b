/** Nobody acts as somebody else: what an administrator may mint, under which name, and whom a decision names. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TenantId } from '../../src/core/tenant.ts'
import { call, type IdentityService, session, startIdentityService } from '../support/identity.ts'
import { addTenant, type TestTenant } from '../support/service.ts'

let service: IdentityService
let tenant: TenantId
let foreign: TestTenant
/** Sessions of the tenant: an administrator who is no steward, and an owner. */
let administrator: string
let owner: string

const person = 'someone@example.com'
const contract = '/api/v1/contracts/tables/sales/orders'

beforeAll(async () => {
  service = await startIdentityService()
  tenant = service.owner.tenant
  foreign = await addTenant(service.store, 'foreign', service.catalog.url)
  administrator = await session(service, tenant, ['read', 'admin'], ['administrator'], 'adam')
  owner = await session(service, tenant, ['read', 'admin'], ['owner'], 'olga')
}, 60_000)
afterAll(() => service[Symbol.asyncDispose]())

type Json = Readonly<Record<string, unknown>>
const json = async (response: Response) => (await response.json()) as Json
const mint = (secret: string, body: object) => call(service, 'POST', '/api/v1/sessions', { secret, body })
const decide = (secret: string) =>
  call(service, 'PUT', contract, { secret, body: { id: 'orders', version: 1 } })
const whoami = async (secret: string) => await json(await call(service, 'GET', '/api/v1/session', { secret }))
async function items(secret: string, path: string): Promise<readonly Json[]> {
  const response = await call(service, 'GET', path, { secret })
  expect(response.status).toBe(200)
  return (await json(response)).items as readonly Json[]
}
const sessions = () => items(administrator, '/api/v1/sessions?limit=1000')

describe('an administrator who is no steward', () => {
  test('cannot mint a steward in another person’s name and decide as that person', async () => {
    const before = await sessions()
    const minted = await mint(administrator, {
      name: 'attack',
      sub: person,
      roles: ['steward'],
      scopes: ['read', 'admin'],
    })
    expect(minted.status).toBe(403)
    expect(await minted.text()).toContain('`steward`')
    expect(await sessions()).toEqual(before)
    expect((await decide(administrator)).status).toBe(403)
  })

  test.each([[['owner']], [['administrator', 'etl']], [['etl']]])(
    'cannot mint the roles %j',
    async (roles) => {
      expect((await mint(administrator, { name: 'x', roles, scopes: ['read'] })).status).toBe(403)
    },
  )

  test('mints a role that it holds, in the name of a service and not of a person', async () => {
    for (const [body, sub] of [
      [{ name: 'spark', sub: person }, `service:${person}`],
      [{ name: 'spark', sub: `service:${person}` }, `service:${person}`],
      [{ name: 'spark' }, 'service:spark'],
    ] as const) {
      const minted = await mint(administrator, { ...body, roles: ['administrator'], scopes: ['read'] })
      expect(minted.status).toBe(201)
      const { id, secret, sub: answered } = await json(minted)
      expect(answered).toBe(sub)
      expect(await whoami(String(secret))).toMatchObject({
        principal: { sub, roles: ['administrator'] },
        session_kind: 'service',
        session_created_by: 'adam',
      })
      const listed = (await sessions()).find((one) => one.id === id)
      expect(listed).toMatchObject({
        principal: { sub },
        created_by: { sub: 'adam', session_kind: 'service' },
      })
    }
  })

  test('gives a service no e-mail address, because policies know persons by it', async () => {
    expect((await mint(administrator, { name: 'x', email: person, scopes: ['read'] })).status).toBe(400)
  })

  test('cannot claim a role by an unverified token', async () => {
    const claims = btoa(JSON.stringify({ sub: 'adam', roles: ['owner', 'steward'] }))
    const token = `${btoa('{"alg":"none"}')}.${claims}.`.replaceAll('=', '')
    const response = await call(service, 'POST', '/api/v1/sessions', {
      secret: administrator,
      headers: { authorization: `Bearer ${token}` },
      body: { name: 'x', roles: ['steward'], scopes: ['read'] },
    })
    expect(response.status).toBe(403)
  })
})

describe('an owner of the tenant', () => {
  test('mints any role, and a decision of that session names the service, its kind and its creator', async () => {
    const minted = await json(
      await mint(owner, { name: 'bot', sub: person, roles: ['steward'], scopes: ['read', 'admin'] }),
    )
    expect((await decide(String(minted.secret))).status).toBe(204)
    const [change] = await items(owner, '/api/v1/administration?action=put-contract')
    expect(change).toMatchObject({
      action: 'put-contract',
      actor: {
        sub: `service:${person}`,
        source: 'session',
        session_id: minted.id,
        session_kind: 'service',
        session_created_by: 'olga',
      },
    })
    const [seen] = await items(String(minted.secret), '/api/v1/contracts/changes')
    expect(seen).toMatchObject({
      actor: `service:${person}`,
      session_kind: 'service',
      session_created_by: 'olga',
    })
  })

  test('is one of its own tenant only', async () => {
    const other = await session(service, foreign.tenant, ['read', 'admin'], ['owner'], 'otto')
    await mint(other, { name: 'foreign-bot', roles: ['steward'], scopes: ['read'] })
    expect(JSON.stringify(await sessions())).not.toContain('foreign-bot')
    expect(JSON.stringify(await items(owner, '/api/v1/administration?limit=1000'))).not.toContain('otto')
    expect(JSON.stringify(await items(other, '/api/v1/administration?limit=1000'))).not.toContain('olga')
  })
})
