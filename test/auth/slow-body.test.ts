/** Routes with a body outside the gateway refuse a session that ends while the body arrives slowly. */

import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sessionScopes } from '../../src/core/session.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { createServiceSession, revokeServiceSession } from '../../src/store/session/sessions.ts'
import { findTenantByOrganization } from '../../src/store/tenant/tenants.ts'
import { call, type IdentityService, internalOrg, startIdentityService } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'
import { lineageEvent } from '../support/lineage.ts'
import { beginSlowly } from '../support/slow-body.ts'

setDefaultTimeout(300_000)

let service: IdentityService
let internal: TenantId
let found = Promise.withResolvers<void>()
beforeAll(async () => {
  service = await startIdentityService({
    env: { SVC_LICENSE: licenseForAll() },
    wrapStore: (store) => ({
      ...store,
      adminCall: async (name, params) => {
        const rows = await store.adminCall(name, params)
        if (name === 'find_service_session') found.resolve()
        return rows as never
      },
    }),
  })
  internal = (await findTenantByOrganization(service.store, internalOrg))?.id as TenantId
})
afterAll(() => service[Symbol.asyncDispose]())
beforeEach(() => {
  found = Promise.withResolvers()
})

const table = '/api/v1/contracts/tables/sales/orders'
const statement = 'select 1'
const event = lineageEvent({ runId: crypto.randomUUID(), inputs: [], outputs: [] })
const routes = [
  ['POST', '/admin/tenants', { name: 'late' }, 403],
  ['POST', '/admin/tenants/{tenant}/sessions', { name: 'late', scopes: ['admin'] }, 403],
  ['PUT', '/admin/tenants/{tenant}/catalogs/late', { catalog_kind: 'alpha' }, 403],
  ['PATCH', '/admin/tenants/{tenant}/catalogs/main', { config: { warehouse: 'x' } }, 403],
  ['POST', '/api/v1/sessions', { name: 'late', scopes: ['admin'] }, 401],
  ['PUT', '/api/v1/contracts/settings', { uncontracted: 'readable' }, 401],
  ['PUT', table, { id: 'late', version: 1 }, 401],
  ['PUT', `${table}/row-filters/late`, { expression: 'true' }, 401],
  ['PUT', '/api/v1/contracts/tags/late/masks/m', { action: 'replace-with-null' }, 401],
  ['POST', `${table}/pin`, { catalog: 'main', snapshot_id: '1' }, 401],
  ['POST', '/api/v1/query/explain', { statement, dialect: 'duckdb' }, 401],
  ['POST', '/api/v1/detection/rescans', { namespace: ['sales'], table: 'orders' }, 401],
  [
    'POST',
    '/api/v1/detection/findings/00000000-0000-4000-8000-000000000000/decisions',
    { decision: 'confirm' },
    401,
  ],
  ['POST', '/v1/lineage', event, 401],
] as const

/** A new session that may do all of this, where it may be done. */
async function newSession(path: string) {
  const tenant = path.startsWith('/admin') ? internal : service.owner.tenant
  const principal = { sub: 'slow', roles: ['steward', 'administrator'] }
  const made = await createServiceSession(service.store, tenant, {
    name: 'slow',
    principal,
    scopes: sessionScopes,
  })
  return { ...made, revoke: () => revokeServiceSession(service.store, tenant, made.id) }
}

async function begin(
  method: string,
  template: string,
  body: object | string,
  length: 'declared' | 'chunked',
) {
  const path = template.replace('{tenant}', service.owner.tenant)
  const { secret, revoke } = await newSession(path)
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const begun = beginSlowly(service.app.url, { method, path, secret, text, length })
  await found.promise
  return { begun, revoke }
}

describe.each(routes)('%s %s', (method, path, body, refusal) => {
  test.each(['declared', 'chunked'] as const)(
    'refuses a session revoked meanwhile: %s length',
    async (length) => {
      const { begun, revoke } = await begin(method, path, body, length)
      await revoke()
      expect(await begun.end()).toStartWith(`HTTP/1.1 ${refusal}`)
    },
  )
})

test('nothing of it was done, and a session that still holds does it', async () => {
  const { secret } = await newSession('')
  const listed = async (path: string, as: string) =>
    await (await call(service, 'GET', path, { secret: as })).text()
  expect(await listed('/admin/tenants', service.operator)).not.toContain('late')
  expect(await listed('/api/v1/sessions', secret)).not.toContain('late')
  expect(await listed('/api/v1/contracts/changes', secret)).toBe('{"items":[]}')
  const { begun } = await begin('PUT', table, { id: 'late', version: 1 }, 'chunked')
  expect(await begun.end()).toStartWith('HTTP/1.1 204')
  expect(await listed('/api/v1/contracts/changes', secret)).toContain('put-contract')
})
