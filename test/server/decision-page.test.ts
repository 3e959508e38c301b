/**
 * The link of a message about a request for access: who opens it signs in, sees what would be revealed, and decides by
 * their own rights. With a foreign tenant that has the same table and people.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { sessionCookie } from '../../src/auth/credentials.ts'
import { decisionPath } from '../../src/contract/access/decision-ticket.ts'
import { sessionScopes } from '../../src/core/session.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { readEvents } from '../../src/store/event/events.ts'
import { createBrowserSession } from '../../src/store/session/browser-sessions.ts'
import { cloudEvent } from '../../src/webhook/cloud-event.ts'
import { call, session } from '../support/identity.ts'
import { type Lake, startLake } from '../support/lake.ts'
import { licenseForAll } from '../support/license.ts'
import { makeTenant } from '../support/spare-tenants.ts'

setDefaultTimeout(300_000)

let nowMs = Date.now()
let lake: Lake
let rita: string
const cookies: Record<string, string> = {}

const document = `apiVersion: v3.1.0
kind: DataContract
id: orders
version: 1.0.0
status: active
schema:
- name: orders
  customProperties:
  - {property: covenant, value: {table: {namespace: [sales], name: orders}}}
  properties:
  - name: email
    logicalType: string
    customProperties: [{property: covenant, value: {masks: [{id: hide, action: mask-alphanum}]}}]
`

beforeAll(async () => {
  lake = await startLake({ env: { SVC_LICENSE: licenseForAll() }, clock: { now: () => nowMs } })
  const { store, tenant } = lake
  const foreign = (await makeTenant(store, { name: 'foreign' })).id
  const signIn = async (name: string, where: TenantId, roles: readonly string[]) => {
    const browser = { principal: { sub: name, roles }, providerSid: undefined, scopes: sessionScopes }
    return `${sessionCookie}=${await createBrowserSession(store, where, browser, undefined)}`
  }
  cookies.rita = await signIn('rita', tenant, ['analyst', 'steward'])
  cookies.stella = await signIn('stella', tenant, ['steward'])
  cookies.rolf = await signIn('rolf', tenant, ['analyst'])
  cookies.mallory = await signIn('mallory', foreign, ['steward', 'administrator'])
  rita = await session(lake, tenant, ['read'], ['analyst'], 'rita')
  const stella = await session(lake, tenant, sessionScopes, ['steward'], 'stella')
  const put = await call(lake, 'PUT', '/api/v1/contracts/documents/orders', {
    ...{ secret: stella, body: document, headers: { 'content-type': 'application/yaml' } },
  })
  expect(put.status).toBe(200)
})
afterAll(() => lake?.[Symbol.asyncDispose]())

/** The id of a new request, and the link that a webhook gets about it. */
async function asked(): Promise<{ id: string; link: URL }> {
  const wanted = {
    namespace: ['sales'],
    table: 'orders',
    columns: ['email'],
    purpose: 'Refund',
    seconds: 600,
  }
  const response = await call(lake, 'POST', '/api/v1/access/requests', { secret: rita, body: wanted })
  const { id } = (await response.json()) as { id: string }
  const events = await readEvents(lake.store, lake.tenant, 0n)
  const event = events.findLast(({ type }) => type === 'access.requested')
  if (event === undefined) throw new Error('no event')
  const { data } = JSON.parse(cloudEvent(lake.tenant, event, new URL(lake.app.url)))
  expect(data.request).toBe(id)
  return { id, link: new URL(data.decision_page) }
}
const open = (link: URL, who?: string) =>
  fetch(link, { redirect: 'manual', headers: who === undefined ? {} : { cookie: cookies[who] ?? '' } })
const decide = (link: URL, who: string, decision = 'approve', site = 'same-origin') =>
  fetch(new URL(link.pathname, link), {
    method: 'POST',
    headers: { cookie: cookies[who] ?? '', 'sec-fetch-site': site },
    body: new URLSearchParams({ ticket: link.searchParams.get('ticket') ?? '', decision, comment: '' }),
  })
const stateOf = async (id: string) =>
  (
    (await (await call(lake, 'GET', `/api/v1/access/requests/${id}`, { secret: rita })).json()) as {
      state: string
    }
  ).state

test('who is not signed in goes to the login first, and comes back to the page', async () => {
  const { link } = await asked()
  const response = await open(link)
  const location = new URL(response.headers.get('location') ?? '', lake.app.url)
  expect([response.status, location.pathname]).toEqual([302, '/login'])
  expect(location.searchParams.get('return_to')).toBe(`${link.pathname}${link.search}`)
  expect(`${link.pathname}${link.search}`.length).toBeLessThan(1_000)
})

test('a steward sees what would be revealed, approves, and a second use of the link decides nothing', async () => {
  const { id, link } = await asked()
  const text = await (await open(link, 'stella')).text()
  expect(text).toContain('Asked by rita for rita, for 600 seconds')
  expect(text).toContain('Reveals the column email (mask-alphanum)')
  expect(text).not.toContain('<script')
  const decided = await decide(link, 'stella')
  expect([decided.status, await stateOf(id)]).toEqual([200, 'granted'])
  expect((await decide(link, 'stella')).status).toBe(409)
  expect(await (await open(link, 'stella')).text()).toContain('The request is granted')
})

test('nobody decides by the link who may not decide without it', async () => {
  const { id, link } = await asked()
  const answers = await Promise.all(['rita', 'rolf', 'mallory'].map((who) => decide(link, who)))
  expect(answers.map(({ status }) => status)).toEqual([403, 404, 404])
  expect((await open(link, 'mallory')).status).toBe(404)
  expect((await open(link, 'rolf')).status).toBe(404)
  expect((await decide(link, 'stella', 'approve', 'cross-site')).status).toBe(403)
  const bySecret = await call(lake, 'POST', link.pathname, {
    ...{ secret: rita, headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    body: new URLSearchParams({
      ticket: link.searchParams.get('ticket') ?? '',
      decision: 'approve',
    }).toString(),
  })
  expect(bySecret.status).toBe(403)
  expect(await stateOf(id)).toBe('waiting')
})

test('a link that was altered, is too old, or is of another sight of the request is not valid', async () => {
  const { id, link } = await asked()
  const altered = new URL(link)
  const ticket = link.searchParams.get('ticket') ?? ''
  altered.searchParams.set('ticket', `${ticket.slice(0, -4)}AAAA`)
  expect((await decide(altered, 'stella')).status).toBe(404)
  const other = new URL(
    decisionPath(lake.store, { tenant: lake.tenant, request: id, sha256: '00', untilMs: nowMs + 1 }),
    link,
  )
  expect((await open(other, 'stella')).status).toBe(404)
  expect((await decide(other, 'stella')).status).toBe(409)
  nowMs += 14 * 86_400_000
  expect((await decide(link, 'stella')).status).toBe(404)
  expect(await stateOf(id)).toBe('waiting')
})
