/** The life cycle over HTTP: what advances by itself, what waits for whom, and what governs reads meanwhile. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { sessionScopes } from '../../../src/core/session.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { recordUsage } from '../../../src/store/query/usage.ts'
import { commitColumns } from '../../support/governed.ts'
import { call, session } from '../../support/identity.ts'
import { licenseForAll } from '../../support/license.ts'
import { addTenant, startTestService, type TestService } from '../../support/service.ts'
import { usageRecord } from '../../support/usage.ts'

setDefaultTimeout(120_000)

const path = '/api/v1/contracts/documents/orders'
const table = '/api/v1/contracts/tables/sales/orders'
let service: TestService
let author: string
let stella: string
let sten: string
let adam: string
let foreign: string
let other: TenantId
type Json = Record<string, never>

beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseForAll() } })
  const { tenant } = service.owner
  const foreignTenant = await addTenant(service.store, 'foreign', service.catalog.url)
  await commitColumns(
    service.store,
    tenant,
    { namespace: ['sales'], name: 'orders' },
    { id: 'long', email: 'string' },
  )
  author = await session(service, tenant, ['admin', 'read'], [], 'ann')
  stella = await session(service, tenant, sessionScopes, ['steward'], 'stella')
  sten = await session(service, tenant, sessionScopes, ['steward'], 'sten')
  adam = await session(service, tenant, sessionScopes, ['administrator'], 'adam')
  other = foreignTenant.tenant
  foreign = await session(
    service,
    foreignTenant.tenant,
    sessionScopes,
    ['steward', 'administrator'],
    'mallory',
  )
})
afterAll(() => service[Symbol.asyncDispose]())

const document = (
  version: string,
  { email = true, mask = true, roles = '', filter = '' } = {},
) => `apiVersion: v3.2.0
kind: DataContract
id: orders
version: ${version}
${roles}schema:
- name: orders
  customProperties:
  - {property: covenant, vendor: covenant, value: {table: {namespace: [sales], name: orders}${filter === '' ? '' : `, rowFilters: [{id: odd, expression: ${filter}}]`}}}
  properties:
  - {name: id, logicalType: integer}
${
  email
    ? `  - name: email
    customProperties:
    - {property: covenant, vendor: covenant, value: {masks: ${mask ? '[{id: m, action: replace-with-null}]' : '[]'}}}
`
    : ''
}`

async function ask(method: string, to: string, secret: string, body?: unknown): Promise<[number, Json]> {
  const headers = typeof body === 'string' ? { 'content-type': 'application/yaml' } : {}
  const response = await call(service, method, to, { secret, headers, body })
  const text = await response.text()
  return [response.status, text === '' ? {} : JSON.parse(text)] as [number, Json]
}

/** Adds a version and proposes it. @returns its number and hash */
async function propose(body: string, secret = author) {
  const [status, added] = await ask('POST', `${path}/versions`, secret, body)
  expect([status, String(added.state)]).toEqual([201, 'draft'])
  const at = `${path}/versions/${added.number}`
  const [proposed, answer] = await ask('POST', `${at}/moves`, secret, { move: 'propose' })
  return { at, sha256: String(added.sha256), status: proposed, answer }
}
const move = (at: string, secret: string, name: string, reason?: string) =>
  ask('POST', `${at}/moves`, secret, { move: name, ...(reason !== undefined && { reason }) })
const sign = (at: string, secret: string, sha256: string) =>
  ask('POST', `${at}/sign-offs`, secret, { sha256 })
const governs = async () =>
  (await ask('GET', table, stella))[1].contract as { document_version: string } | undefined

test('a first version opens its table, so it waits for a steward who is not its author', async () => {
  const { at, sha256, answer } = await propose(document('1.0.0'))
  expect(answer).toMatchObject({
    ...{ state: 'proposed', waits_for: ['first'] },
    verdict: { loosens_access: true, breaking: false },
  })
  expect((await move(at, stella, 'deploy'))[0]).toBe(409)
  expect((await sign(at, author, sha256))[0]).toBe(403)
  expect((await sign(at, stella, '0'.repeat(64)))[0]).toBe(409)
  expect((await sign(at, foreign, sha256))[0]).toBe(404)
  expect(await sign(at, stella, sha256)).toMatchObject([
    200,
    { state: 'approved', waits_for: [], sign_offs: [{ level: 'first', by: 'stella', sha256 }] },
  ])
  expect(await governs()).toBeUndefined()
})

test('a deployment waits for its checks, unless the tenant does without', async () => {
  const at = `${path}/versions/1`
  expect((await move(at, author, 'deploy'))[0]).toBe(403)
  expect(await move(at, stella, 'deploy')).toMatchObject([200, { state: 'deploying' }])
  expect(await governs()).toBeUndefined()
  expect(
    (await ask('PUT', '/api/v1/contracts/life-cycle-settings', author, { deploy_unverified: true }))[0],
  ).toBe(403)
  expect(
    (await ask('PUT', '/api/v1/contracts/life-cycle-settings', stella, { deploy_unverified: true }))[0],
  ).toBe(204)
  expect((await move(at, author, 'deploy'))[0]).toBe(403)
  expect(await move(at, stella, 'deploy')).toMatchObject([200, { state: 'active', unverified: true }])
  expect(await governs()).toMatchObject({ document_version: '1.0.0', version: 1, unverified: true })
})

test('the short ways are closed to a contract with a life cycle', async () => {
  const short = [
    await ask('PUT', path, stella, document('9.0.0')),
    await ask('DELETE', path, stella),
    await ask('PUT', table, stella, { id: 'orders', version: 9 }),
    await ask('DELETE', table, stella),
  ]
  expect(short.map(([status]) => status)).toEqual([409, 409, 409, 409])
})

test('protection is loosened by a version alone, and made stricter by anybody who may', async () => {
  const mask = `${table}/columns/email/masks`
  const filter = `${table}/row-filters/eu`
  const put = (to: string, body: object) => ask('PUT', to, stella, body)
  const refused = await ask('DELETE', `${mask}/m`, stella)
  expect(refused[0]).toBe(409)
  expect(JSON.stringify(refused[1])).toContain('Propose a version of it that loosens the mask m.')
  expect((await put(`${mask}/m`, { action: 'show-last-4' }))[0]).toBe(409)
  expect((await put(`${mask}/m`, { action: 'replace-with-null', exempt_roles: ['boss'] }))[0]).toBe(409)
  expect((await put(`${mask}/m`, { action: 'replace-with-null' }))[0]).toBe(204)
  expect((await put(filter, { expression: 'id > 0', exempt_roles: ['boss'] }))[0]).toBe(204)
  expect((await put(filter, { expression: 'id > 0' }))[0]).toBe(204)
  expect((await put(filter, { expression: 'true' }))[0]).toBe(409)
  expect((await ask('DELETE', filter, stella))[0]).toBe(409)
  expect((await ask('DELETE', `${mask}/none`, stella))[0]).toBe(404)
  // A document knows nothing of tags.
  expect((await put('/api/v1/contracts/tags/pii/masks/t', { action: 'replace-with-null' }))[0]).toBe(204)
  expect((await ask('DELETE', '/api/v1/contracts/tags/pii/masks/t', stella))[0]).toBe(204)
})

test('a change that breaks nobody is approved by itself, and replaces the version in force', async () => {
  const { at, answer } = await propose(document('1.0.1').replace('name: id,', 'name: id, description: key,'))
  expect(answer).toMatchObject({ state: 'approved', sign_offs: [] })
  expect(await move(at, stella, 'deploy')).toMatchObject([200, { state: 'active' }])
  expect(await ask('GET', `${path}/versions`, stella)).toMatchObject([
    200,
    {
      items: [
        { number: 2, state: 'active' },
        { number: 1, state: 'retired' },
      ],
    },
  ])
  expect(await governs()).toMatchObject({ document_version: '1.0.1', version: 2 })
})

test('a version number that takes too small a step is refused with the finding', async () => {
  const small = await propose(document('1.1.0', { email: false }))
  expect([small.status, JSON.stringify(small.answer)]).toEqual([
    422,
    expect.stringContaining('orders.email: The column email is dropped'),
  ])
  const earlier = await propose(document('1.0.1'))
  expect([earlier.status, JSON.stringify(earlier.answer)]).toEqual([
    422,
    expect.stringContaining('not greater than 1.0.1'),
  ])
})

test('a breaking change and one that shows more each wait for sign-off', async () => {
  const breaking = await propose(document('2.0.0', { email: false }))
  expect(breaking.answer).toMatchObject({
    state: 'proposed',
    verdict: { breaking: true },
    waits_for: ['first'],
  })
  expect((await move(breaking.at, stella, 'reject'))[0]).toBe(400)
  expect(await move(breaking.at, stella, 'reject', 'email is read')).toMatchObject([
    200,
    { state: 'rejected' },
  ])
  const looser = await propose(document('1.1.0', { mask: false }), sten)
  expect(looser.answer).toMatchObject({
    state: 'proposed',
    verdict: { breaking: false, loosens_access: true },
  })
  expect((await sign(looser.at, sten, looser.sha256))[0]).toBe(403)
  expect((await move(looser.at, sten, 'withdraw'))[1]).toMatchObject({ state: 'withdrawn' })
})

test('second-level approvers need an administrator besides, who is another person', async () => {
  const roles = 'roles:\n- {role: reader, secondLevelApprovers: board}\n'
  const { at, sha256 } = await propose(document('2.0.0', { mask: false, roles }))
  expect((await sign(at, stella, sha256))[1]).toMatchObject({ state: 'proposed', waits_for: ['second'] })
  expect((await sign(at, stella, sha256))[0]).toBe(409)
  expect((await sign(at, sten, sha256))[0]).toBe(403)
  expect((await sign(at, adam, sha256))[1]).toMatchObject({ state: 'approved' })
})

test('an approval that was made against another version in force is not deployed', async () => {
  const { at } = await propose(document('1.0.2').replace('name: id,', 'name: id, description: other,'))
  expect((await move(at, stella, 'deploy'))[0]).toBe(200)
  // Version 2.0.0 of the test above was compared with 1.0.1.
  const [, { items }] = await ask('GET', `${path}/versions`, stella)
  const approved = (items as unknown as { number: number; state: string }[]).find(
    ({ state }) => state === 'approved',
  )
  const [status, answer] = await move(`${path}/versions/${approved?.number}`, stella, 'deploy')
  expect([status, JSON.stringify(answer)]).toEqual([409, expect.stringContaining('Import it again')])
})

test('break-glass is for an administrator with a reason, and is on record', async () => {
  const { at } = await propose(document('3.0.0', { mask: false }))
  expect((await move(at, stella, 'break_glass', 'night'))[0]).toBe(403)
  expect((await move(at, adam, 'break_glass'))[0]).toBe(400)
  const [, answer] = await move(at, adam, 'break_glass', 'night')
  expect(answer).toMatchObject({ state: 'approved', sign_offs: [] })
  expect(Date.parse(String(answer.break_glass_until)) - Date.now()).toBeGreaterThan(23 * 3_600_000)
  expect((await move(at, stella, 'deploy'))[1]).toMatchObject({ state: 'active' })
  const [, history] = await ask('GET', `${path}/moves?limit=20`, stella)
  expect(history.items as unknown).toContainEqual(
    expect.objectContaining({ move: 'break_glass', by: 'adam', reason: 'night', auto: false }),
  )
})

test('a version is deprecated, still governs, and no longer once it is retired', async () => {
  const [, { items }] = await ask('GET', `${path}/versions`, stella)
  const active = (items as unknown as { number: number; state: string }[]).find(
    ({ state }) => state === 'active',
  )
  const at = `${path}/versions/${active?.number}`
  expect((await move(at, stella, 'deprecate', 'replaced soon'))[1]).toMatchObject({ state: 'deprecated' })
  expect(await governs()).toMatchObject({ document_version: '3.0.0', state: 'deprecated' })
  const retire = (more = {}) =>
    ask('POST', `${at}/moves`, stella, { move: 'retire', reason: 'nobody reads it', ...more })
  const notice = await retire()
  expect([notice[0], JSON.stringify(notice[1])]).toEqual([409, expect.stringContaining('is on notice until')])
  const settings = '/api/v1/contracts/life-cycle-settings'
  const given = { deploy_unverified: true, notice_days: 0, quiet_days: 30 }
  expect((await ask('PUT', settings, stella, given))[0]).toBe(204)
  expect((await ask('GET', settings, stella))[1] as unknown).toEqual(given)
  const startedAtMs = Date.now()
  await recordUsage(service.store, service.owner.tenant, usageRecord({ principal: 'rita', startedAtMs }))
  await recordUsage(service.store, other, usageRecord({ principal: 'mallory', startedAtMs }))
  const read = await retire()
  expect([read[0], JSON.stringify(read[1])]).toEqual([
    409,
    expect.stringContaining('were read by rita. Retire it'),
  ])
  expect((await ask('GET', at, stella))[1]).toMatchObject({ read_by: [{ sub: 'rita', queries: 1 }] })
  expect((await retire({ override: true, reason: undefined }))[0]).toBe(400)
  expect((await retire({ override: true }))[1]).toMatchObject({ state: 'retired' })
  expect(await governs()).toBeUndefined()
})

test('versions belong to their tenant', async () => {
  expect((await ask('GET', `${path}/versions`, foreign))[1]).toEqual({ items: [] } as never)
  expect((await ask('GET', `${path}/moves`, foreign))[1]).toEqual({ items: [] } as never)
  expect((await ask('GET', `${path}/versions/1`, foreign))[0]).toBe(404)
  expect((await ask('GET', `${path}/versions/1/document`, foreign))[0]).toBe(404)
})

test.each([
  ['8.0.0', 'null', 'is NULL'],
  ['9.0.0', '1/0 = 1', 'divides by zero'],
  ['10.0.0', 'random() < 0.5', 'calls random'],
])('each move of version %s towards active warns of the row filter %s', async (version, filter, why) => {
  const { at, sha256, answer } = await propose(document(version, { filter: `"${filter}"` }))
  const warnings = [expect.stringMatching(new RegExp(`^\`odd\`: .*${why}`))]
  expect(answer).toMatchObject({ state: 'proposed', warnings })
  expect(await sign(at, stella, sha256)).toMatchObject([200, { state: 'approved', warnings }])
  expect(await move(at, stella, 'deploy')).toMatchObject([200, { state: 'active', warnings }])
  expect((await ask('GET', at, stella))[1]).toMatchObject({ warnings })
})
