/** Who made a session, through several: a person and the sessions that come of theirs are one in decisions of two. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { TenantId } from '../../src/core/tenant.ts'
import { findTenantByOrganization } from '../../src/store/tenant/tenants.ts'
import {
  call,
  type IdentityService,
  internalOrg,
  session,
  startIdentityService,
} from '../support/identity.ts'
import { makeTenant } from '../support/spare-tenants.ts'

setDefaultTimeout(120_000)

let service: IdentityService
let internal: TenantId
beforeAll(async () => {
  service = await startIdentityService()
  internal = (await findTenantByOrganization(service.store, internalOrg))?.id as TenantId
})
afterAll(() => service?.[Symbol.asyncDispose]())

/** A session that the session of `as` makes. */
async function made(as: string, name: string): Promise<string> {
  const body = { name, scopes: ['read', 'admin'], roles: ['administrator'] }
  const response = await call(service, 'POST', '/api/v1/sessions', { secret: as, body })
  expect(response.status).toBe(201)
  return ((await response.json()) as { readonly secret: string }).secret
}

const createdBy = async (secret: string) =>
  (
    (await (await call(service, 'GET', '/api/v1/session', { secret })).json()) as {
      session_created_by?: string
    }
  ).session_created_by

test('the sessions that come of one person’s, at any distance, confirm nothing that one of them asked for', async () => {
  const ada = await session(service, internal, ['read', 'admin'], ['administrator'], 'ada')
  const first = await made(ada, 'first')
  const second = await made(first, 'second')
  const third = await made(second, 'third')
  for (const secret of [first, second, third]) expect(await createdBy(secret)).toBe('ada')
  const { id } = await makeTenant(service.store, { name: 'goes' })
  const path = `/admin/tenants/${id}/removal`
  const chain = [ada, first, second, third]
  for (const asks of chain) {
    expect((await call(service, 'POST', path, { secret: asks, body: {} })).status).toBeLessThan(300)
    for (const confirms of chain)
      expect((await call(service, 'POST', `${path}/confirm`, { secret: confirms })).status).toBe(403)
    expect((await call(service, 'POST', `${path}/withdraw`, { secret: asks })).status).toBeLessThan(300)
  }
  const grace = await session(service, internal, ['read', 'admin'], ['administrator'], 'grace')
  await call(service, 'POST', path, { secret: third, body: {} })
  expect((await call(service, 'POST', `${path}/confirm`, { secret: grace })).status).toBeLessThan(300)
})

test('a service that the operator made stands for itself, and for those that come of it', async () => {
  const robot = await session(service, internal, ['read', 'admin'], ['administrator'], 'service:robot')
  expect(await createdBy(robot)).toBe('operator')
  const first = await made(robot, 'made-first')
  const second = await made(first, 'made-second')
  expect([await createdBy(first), await createdBy(second)]).toEqual(['service:robot', 'service:robot'])
})
