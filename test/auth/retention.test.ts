/** Retention settings and legal holds over HTTP: who may change them, and what another tenant sees. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { call, type IdentityService, session, startIdentityService } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'
import { addTenant, type TestTenant } from '../support/service.ts'

setDefaultTimeout(120_000)

let service: IdentityService
let foreign: TestTenant
let administrator: string
let steward: string
let outsider: string
beforeAll(async () => {
  service = await startIdentityService({ env: { SVC_LICENSE: licenseForAll() } })
  foreign = await addTenant(service.store, 'foreign', service.catalog.url)
  const { tenant } = service.owner
  administrator = await session(service, tenant, ['read', 'admin'], ['administrator'])
  steward = await session(service, tenant, ['read', 'admin'], ['steward'])
  outsider = await session(service, foreign.tenant, ['read', 'admin'], ['administrator', 'steward'])
})
afterAll(() => service[Symbol.asyncDispose]())

const json = async (response: Response) => (await response.json()) as Readonly<Record<string, unknown>>
const items = async (path: string, secret: string) =>
  (await json(await call(service, 'GET', path, { secret }))).items as Readonly<Record<string, unknown>>[]

test('a steward holds and does not set times; an administrator sets times and does not hold', async () => {
  const ask = async (secret: string, method: string, path: string, body: object) =>
    (await call(service, method, path, { secret, body })).status
  expect(await ask(steward, 'PUT', '/api/v1/retention/usage', { keep_days: 400 })).toBe(403)
  expect(await ask(administrator, 'POST', '/api/v1/holds', { reason: 'case' })).toBe(403)
  expect(await ask(administrator, 'PUT', '/api/v1/retention/usage', { keep_days: 400 })).toBe(204)
  expect(await ask(steward, 'POST', '/api/v1/holds', { reason: 'case' })).toBe(201)
  for (const keep_days of [0, 29, 36_501, 1.5])
    expect(await ask(administrator, 'PUT', '/api/v1/retention/usage', { keep_days })).toBe(400)
  expect(await ask(administrator, 'PUT', '/api/v1/retention/none', { keep_days: 400 })).toBe(400)
  expect(await ask(steward, 'POST', '/api/v1/holds', { reason: ' ' })).toBe(400)
})

test('another tenant sees neither setting nor hold, and releases none', async () => {
  const [hold] = await items('/api/v1/holds', steward)
  expect(hold).toMatchObject({ reason: 'case' })
  expect(await items('/api/v1/holds', outsider)).toEqual([])
  const theirs = (await items('/api/v1/retention', outsider)).find(({ kind }) => kind === 'usage')
  expect(theirs).toEqual({ kind: 'usage', source: 'built-in' })
  const release = await call(service, 'POST', `/api/v1/holds/${hold?.id}/release`, {
    secret: outsider,
    body: { reason: 'mine' },
  })
  expect(release.status).toBe(404)
  expect((await items('/api/v1/holds', steward))[0]).not.toHaveProperty('release')
})

test('the operator sets what holds for tenants without a setting, and the setting says who did', async () => {
  const as = { secret: service.operator }
  await call(service, 'PUT', '/admin/retention/lineage-bodies', { ...as, body: { keep_days: 90 } })
  await call(service, 'PUT', '/admin/retention/lineage-bodies', { ...as, body: {} })
  await call(service, 'PUT', '/admin/retention/lineage-bodies', { ...as, body: { keep_days: 120 } })
  expect(await items('/admin/retention', service.operator)).toMatchObject([
    { kind: 'lineage-bodies', keep_days: 120, set_by: { source: expect.any(String) } },
  ])
  const own = (await items('/api/v1/retention', administrator)).find(({ kind }) => kind === 'lineage-bodies')
  expect(own).toMatchObject({ keep_days: 120, source: 'installation' })
})
