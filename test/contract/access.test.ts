/**
 * Access that is asked for, decided by somebody else, granted for a time, and ends: over HTTP, by the rows that its
 * grantee reads, and with a foreign tenant that has the same table and subjects.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { endAccess } from '../../src/contract/access/access-job.ts'
import { sessionScopes } from '../../src/core/session.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { readEvents } from '../../src/store/event/events.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { commitColumns } from '../support/governed.ts'
import { call, session } from '../support/identity.ts'
import { type Lake, startLake } from '../support/lake.ts'
import { licenseForAll } from '../support/license.ts'
import { makeTenant } from '../support/spare-tenants.ts'
import { frames, WireClient } from '../support/wire-client.ts'

setDefaultTimeout(300_000)

type Json = Record<string, never>
const path = '/api/v1/access'
const table = { namespace: ['sales'], table: 'orders' }
const wanted = { ...table, columns: ['email'], purpose: 'Refund of order 4711', seconds: 3_600 }

let nowMs = Date.now()
const clock = { now: () => nowMs }
let lake: Lake
let foreign: TenantId
let rita: string
let rolf: string
let stella: string
let sten: string
let adam: string
let auditor: string
let mallory: string
let otherRita: string

const documentOf = (roles = '', action = 'mask-alphanum') => `apiVersion: v3.1.0
kind: DataContract
id: orders
version: 1.0.0
status: active
${roles}schema:
- name: orders
  customProperties:
  - {property: covenant, value: {table: {namespace: [sales], name: orders}, rowFilters: [{id: some, expression: region IN ('east'), exemptRoles: [officer]}]}}
  properties:
  - name: email
    logicalType: string
    customProperties: [{property: covenant, value: {masks: [{id: hide, action: ${action}, exemptRoles: [officer]}]}}]
`

async function ask(method: string, to: string, secret: string, body?: unknown): Promise<[number, Json]> {
  const headers = typeof body === 'string' ? { 'content-type': 'application/yaml' } : {}
  const response = await call(lake, method, to, { secret, headers, body })
  const text = await response.text()
  return [response.status, text === '' ? {} : JSON.parse(text)] as [number, Json]
}

const put = async (secret: string, body: string) =>
  expect((await ask('PUT', '/api/v1/contracts/documents/orders', secret, body))[0]).toBe(200)

beforeAll(async () => {
  lake = await startLake({ env: { SVC_LICENSE: licenseForAll() }, clock })
  const { store, tenant } = lake
  foreign = (await makeTenant(store, { name: 'other' })).id
  await commitColumns(
    store,
    foreign,
    { namespace: ['sales'], name: 'orders' },
    { email: 'string', region: 'string' },
  )
  rita = await session(lake, tenant, ['read'], ['analyst'], 'rita')
  rolf = await session(lake, tenant, ['read'], ['analyst'], 'rolf')
  stella = await session(lake, tenant, sessionScopes, ['steward'], 'stella')
  sten = await session(lake, tenant, sessionScopes, ['steward'], 'sten')
  adam = await session(lake, tenant, sessionScopes, ['administrator'], 'adam')
  auditor = await session(lake, tenant, ['read'], ['auditor'], 'otto')
  mallory = await session(lake, foreign, sessionScopes, ['steward', 'administrator'], 'mallory')
  otherRita = await session(lake, foreign, ['read'], ['analyst'], 'rita')
  await put(stella, documentOf())
  await put(mallory, documentOf())
})
afterAll(() => lake?.[Symbol.asyncDispose]())

/** Rows of a statement, or the code of its error. */
async function rows(user: string, secret: string, text: string): Promise<readonly string[] | string> {
  const login = { user, password: secret, database: lake.catalog }
  const client = await WireClient.logIn({ port: Number(lake.env.PGPORT) }, login)
  try {
    return await client.ask(frames.query(text))
  } finally {
    client.close()
  }
}
const emails = 'select email from sales.orders order by 1'
const isMasked = async (user: string, secret: string) =>
  (await rows(user, secret, emails)).toString().includes('xxx')

async function requested(secret: string, more: object = {}): Promise<{ id: string; sha256: string }> {
  const [status, answer] = await ask('POST', `${path}/requests`, secret, { ...wanted, ...more })
  expect([status, status === 201 ? '' : answer]).toEqual([201, ''])
  return answer as unknown as { id: string; sha256: string }
}
const decide = (secret: string, { id, sha256 }: { id: string; sha256: string }, approves = true) =>
  ask('POST', `${path}/requests/${id}/decisions`, secret, { approves, sha256 })
async function granted(secret: string, more: object = {}): Promise<string> {
  const [status, answer] = await decide(stella, await requested(secret, more))
  expect(status).toBe(200)
  return (answer as unknown as { grant: { id: string } }).grant.id
}
const revoke = (secret: string, id: string) =>
  ask('POST', `${path}/grants/${id}/revocation`, secret, { reason: 'enough' })
/** What was told of a request. */
const eventsOf = async (request: string) =>
  (await readEvents(lake.store, lake.tenant, 0n))
    .filter(({ data }) => data.request === request)
    .map(({ type }) => type)
const messageOf = (answer: Json) => String((answer as { error?: { message?: string } }).error?.message ?? '')
const itemsOf = ([, page]: [number, Json]) => page.items as unknown as Record<string, unknown>[]

describe('a request', () => {
  test('for a column is decided by a steward, and its reader sees the values until it ends', async () => {
    expect(await isMasked('rita', rita)).toBe(true)
    const asked = await requested(rita)
    expect(await isMasked('rita', rita)).toBe(true)
    const [, shown] = await ask('GET', `${path}/requests/${asked.id}`, stella)
    expect(shown).toMatchObject({
      ...{ state: 'waiting', waits_for: ['first'], grantee: { sub: 'rita' }, sha256: asked.sha256 },
      reveals: { columns: [{ name: 'email', tags: [], masks: ['mask-alphanum'] }], filters: [] },
    })
    const [status, answer] = await decide(stella, asked)
    const { grant } = answer as unknown as { grant: { id: string; until: string } }
    expect([status, Date.parse(grant.until)]).toEqual([200, nowMs + 3_600_000])
    expect(await isMasked('rita', rita)).toBe(false)
    expect(await isMasked('rolf', rolf)).toBe(true)
    const before = (await rows('rita', rita, 'select region from sales.orders')).length
    expect(before).toBe((await rows('rolf', rolf, 'select region from sales.orders')).length)
    nowMs += 3_599_999
    expect(await isMasked('rita', rita)).toBe(false)
    nowMs += 1
    expect(await isMasked('rita', rita)).toBe(true)
  })

  test('without columns lifts filters and masks, and a grant is revoked by who has it', async () => {
    const { columns: _, ...all } = wanted
    const few = (await rows('rita', rita, 'select region from sales.orders')).length
    const grant = await granted(rita, { ...all, columns: undefined })
    expect((await rows('rita', rita, 'select region from sales.orders')).length).toBeGreaterThan(few)
    expect(await isMasked('rita', rita)).toBe(false)
    expect((await revoke(rolf, grant))[0]).toBe(404)
    expect((await revoke(rita, grant))[0]).toBe(204)
    expect((await revoke(rita, grant))[0]).toBe(409)
    expect((await rows('rita', rita, 'select region from sales.orders')).length).toBe(few)
    expect(await isMasked('rita', rita)).toBe(true)
  })

  test('for a role lifts for everybody who has it, and is asked for by one of them', async () => {
    const grant = await granted(rita, { role: 'analyst' })
    expect([await isMasked('rita', rita), await isMasked('rolf', rolf)]).toEqual([false, false])
    expect((await revoke(rolf, grant))[0]).toBe(404)
    expect((await revoke(sten, grant))[0]).toBe(204)
    expect([await isMasked('rita', rita), await isMasked('rolf', rolf)]).toEqual([true, true])
  })

  test.each<[string, object, number, string]>([
    ['of a column that is not there', { columns: ['nothing'] }, 422, 'no column nothing'],
    ['of a column that nothing masks', { columns: ['region'] }, 422, 'Nothing masks the column region'],
    ['of a filter that is not there', { columns: undefined, filters: ['none'] }, 422, 'No row filter none'],
    ['of a table that is not there', { table: 'nothing' }, 404, 'no such table'],
    ['for longer than 30 days', { seconds: 2_592_001 }, 400, '2592000'],
    ['for less than a minute', { seconds: 59 }, 400, '60'],
    ['without a purpose', { purpose: '  ' }, 400, 'purpose'],
    ['for a role that the caller lacks', { role: 'officer' }, 403, 'somebody who has it'],
    ['for a privileged role', { role: 'steward' }, 400, 'not granted to the role'],
  ])('%s is refused', async (_, more, status, words) => {
    const [code, answer] = await ask('POST', `${path}/requests`, rita, { ...wanted, ...more })
    expect([code, messageOf(answer)]).toEqual([status, expect.stringContaining(words)])
  })
})

describe('a decision', () => {
  test('is never the requester’s or the grantee’s own', async () => {
    const own = await requested(stella)
    expect((await decide(stella, own))[0]).toBe(403)
    const asked = await requested(rita)
    expect((await decide(rita, asked))[0]).toBe(403)
    const role = await session(lake, lake.tenant, sessionScopes, ['steward', 'analyst'], 'both')
    expect((await decide(role, await requested(rita, { role: 'analyst' })))[0]).toBe(403)
    expect((await decide(adam, asked))[0]).toBe(403)
  })

  test('is about the request that was read, made once, and not about one that ended', async () => {
    const asked = await requested(rita)
    expect((await decide(stella, { ...asked, sha256: 'a'.repeat(64) }))[0]).toBe(409)
    expect((await decide(stella, asked, false))[0]).toBe(200)
    expect(await isMasked('rita', rita)).toBe(true)
    expect((await decide(sten, asked))[0]).toBe(409)
    const withdrawn = await requested(rita)
    expect((await ask('POST', `${path}/requests/${withdrawn.id}/withdrawal`, rolf))[0]).toBe(404)
    expect((await ask('POST', `${path}/requests/${withdrawn.id}/withdrawal`, rita))[0]).toBe(204)
    expect((await decide(stella, withdrawn))[0]).toBe(409)
    expect(await eventsOf(withdrawn.id)).toEqual(['access.requested', 'access.withdrawn'])
  })

  test('by two stewards at once makes one grant', async () => {
    const asked = await requested(rita)
    const both = await Promise.all([decide(stella, asked), decide(sten, asked)])
    expect(both.map(([status]) => status).sort()).toEqual([200, 409])
    const open = itemsOf(await ask('GET', `${path}/grants?open=true`, rita))
    expect(open).toHaveLength(1)
    await revoke(sten, String(open[0]?.id))
  })

  test('about what has changed since is refused', async () => {
    const asked = await requested(rita)
    await put(stella, documentOf('', 'replace-with-null'))
    const [status, answer] = await decide(stella, asked)
    expect([status, messageOf(answer)]).toEqual([409, expect.stringContaining('has changed')])
    await put(stella, documentOf())
  })

  test('takes a steward and an administrator where the contract asks for a second approval', async () => {
    await put(stella, documentOf('roles: [{role: reader, secondLevelApprovers: boss}]\n'))
    const asked = await requested(rita)
    expect((await decide(stella, asked))[1]).toEqual({})
    expect(await isMasked('rita', rita)).toBe(true)
    expect((await decide(sten, asked))[0]).toBe(403)
    const [status, answer] = await decide(adam, asked)
    expect(status).toBe(200)
    expect(await isMasked('rita', rita)).toBe(false)
    await revoke(stella, (answer as unknown as { grant: { id: string } }).grant.id)
    await put(stella, documentOf())
  })
})

describe('a grant', () => {
  test('ends for a column whose mask becomes another one, at once and without a word', async () => {
    const grant = await granted(rita)
    expect(await isMasked('rita', rita)).toBe(false)
    await put(stella, documentOf('', 'replace-with-null'))
    expect((await rows('rita', rita, 'select count(email) from sales.orders')).toString()).toContain('0')
    await put(stella, documentOf())
    expect(await isMasked('rita', rita)).toBe(false)
    await revoke(stella, grant)
  })

  test('ends for a column with one more tag', async () => {
    const grant = await granted(rita)
    const tag = '/api/v1/contracts/tables/sales/orders/columns/email/tags/secret'
    expect((await ask('PUT', tag, stella, {}))[0]).toBe(204)
    expect(await isMasked('rita', rita)).toBe(true)
    expect((await ask('DELETE', tag, stella))[0]).toBe(204)
    await revoke(stella, grant)
  })

  test('is in the usage record of the queries that it made possible, with its purpose', async () => {
    const grant = await granted(rita)
    await rows('rita', rita, emails)
    await rows('rita', rita, 'select region from sales.orders')
    const usage = itemsOf(await ask('GET', '/api/v1/usage?principal=rita&limit=2', stella))
    const grants = usage.map(({ policies }) =>
      (policies as { kind: string; id: string; purpose?: string }[]).filter(({ kind }) => kind === 'grant'),
    )
    expect(grants[0]).toEqual([])
    expect(grants[1]).toMatchObject([{ id: grant, purpose: 'Refund of order 4711' }])
    await revoke(stella, grant)
  })

  test('ends an open cursor of its reader, and nobody else’s', async () => {
    const grant = await granted(rita)
    const open = async (user: string, password: string) => {
      const login = { user, password, database: lake.catalog }
      const client = await WireClient.logIn({ port: Number(lake.env.PGPORT) }, login)
      await client.ask(frames.query('begin'))
      await client.ask(frames.query(`declare c cursor for ${emails}`))
      await client.ask(frames.query('fetch 1 from c'))
      return client
    }
    const hers = await open('rita', rita)
    const his = await open('rolf', rolf)
    nowMs += 3_600_000
    hers.send(frames.query('fetch 1 from c'))
    his.send(frames.query('fetch 1 from c'))
    expect((await hers.until('Z')).map(({ type }) => type)).toContain('E')
    expect((await his.until('Z')).map(({ type }) => type)).not.toContain('E')
    hers.close()
    his.close()
    expect((await revoke(stella, grant))[0]).toBe(409)
  })

  test('is listed to who has it, to stewards and auditors, and told of before and after it ends', async () => {
    const grant = await granted(rita)
    const idsOf = async (secret: string, query = '') =>
      itemsOf(await ask('GET', `${path}/grants?open=true${query}`, secret)).map(({ id }) => id)
    expect(await idsOf(rita)).toEqual([grant])
    expect(await idsOf(rolf)).toEqual([])
    expect((await ask('GET', `${path}/grants?everyone=true`, rolf))[0]).toBe(403)
    expect(await idsOf(stella, '&everyone=true&namespace=sales&table=orders')).toEqual([grant])
    expect(await idsOf(auditor, '&everyone=true')).toEqual([grant])
    const { store, tenant } = lake
    const log = createLogger({ level: 'silent' })
    nowMs += 3_300_000
    await endAccess({ store, clock, log }, AbortSignal.timeout(60_000))
    nowMs += 300_000
    await endAccess({ store, clock, log }, AbortSignal.timeout(60_000))
    const told = (await readEvents(store, tenant, 0n)).filter(({ data }) => data.grant === grant)
    expect(told.map(({ type }) => type)).toEqual(['access.granted', 'access.ends_soon', 'access.ended'])
    expect(await idsOf(rita)).toEqual([])
  })
})

test('another tenant sees and decides nothing, and its person of that name is lifted nothing', async () => {
  const asked = await requested(rita)
  expect((await ask('GET', `${path}/requests/${asked.id}`, mallory))[0]).toBe(404)
  expect((await decide(mallory, asked))[0]).toBe(404)
  expect(itemsOf(await ask('GET', `${path}/requests?everyone=true`, mallory))).toEqual([])
  const grant = await granted(rita)
  expect((await revoke(mallory, grant))[0]).toBe(404)
  expect(itemsOf(await ask('GET', `${path}/grants?everyone=true`, mallory))).toEqual([])
  expect(itemsOf(await ask('GET', `${path}/grants`, otherRita))).toEqual([])
  const page = await ask('GET', '/api/v1/contracts/tables/sales/orders', otherRita)
  expect(JSON.stringify(page[1])).not.toContain(grant)
  await revoke(stella, grant)
})

test('fifty requests of a subject wait at a time, and somebody else still asks', async () => {
  const sub = await session(lake, lake.tenant, ['read'], ['analyst'], 'many')
  for (let index = 0; index < 50; index++) await requested(sub)
  expect((await ask('POST', `${path}/requests`, sub, wanted))[0]).toBe(409)
  await requested(rolf)
})

test('each step is in the log of changes', async () => {
  const changes = itemsOf(await ask('GET', '/api/v1/contracts/changes?limit=200', stella))
  const actions = new Set(changes.map(({ action }) => action))
  for (const action of ['request-access', 'decide-access', 'withdraw-access', 'revoke-access'])
    expect(actions).toContain(action)
})

test('a request that nobody decided within 14 days is not decided any more', async () => {
  const asked = await requested(rita)
  nowMs += 14 * 86_400_000
  expect((await decide(stella, asked))[0]).toBe(409)
  nowMs += 1
  const log = createLogger({ level: 'silent' })
  await endAccess({ store: lake.store, clock, log }, AbortSignal.timeout(60_000))
  const [, shown] = await ask('GET', `${path}/requests/${asked.id}`, rita)
  expect(shown).toMatchObject({ state: 'expired' })
  expect(await eventsOf(asked.id)).toEqual(['access.requested', 'access.expired'])
})
