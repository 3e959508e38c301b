/** The page to which refusals lead: it tells what a link says, and asks in the name of who is signed in by a browser. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sessionCookie } from '../../src/auth/credentials.ts'
import { listAccessRequests } from '../../src/store/contract/access-requests.ts'
import { createBrowserSession } from '../../src/store/session/browser-sessions.ts'
import { session } from '../support/identity.ts'
import { type Lake, startLake } from '../support/lake.ts'
import { licenseForAll } from '../support/license.ts'
import { makeTenant } from '../support/spare-tenants.ts'

setDefaultTimeout(300_000)

let lake: Lake
let cookie: string
let strange: string
let service: string

beforeAll(async () => {
  lake = await startLake({ env: { SVC_LICENSE: licenseForAll() } })
  const browser = {
    ...{ principal: { sub: 'rita', roles: ['analyst'] }, providerSid: undefined },
    scopes: ['read'] as const,
  }
  const foreign = (await makeTenant(lake.store, { name: 'foreign' })).id
  const opened = async (tenant: Lake['tenant']) =>
    `${sessionCookie}=${await createBrowserSession(lake.store, tenant, browser, undefined)}`
  cookie = await opened(lake.tenant)
  strange = await opened(foreign)
  service = await session(lake, lake.tenant, ['read'], ['analyst'], 'rolf')
})
afterAll(() => lake?.[Symbol.asyncDispose]())

const at = (query: string) => new URL(`/console/request${query}`, lake.app.url)

describe('the page', () => {
  test('says what a link asks for, with the command and the call, to who is not signed in', async () => {
    const response = await fetch(at('?table=sales.orders&columns=email%2Ccard'))
    const text = await response.text()
    expect(response.status).toBe(200)
    expect(text).toContain('covenant access request sales.orders --columns email,card --purpose')
    expect(text).toContain('&quot;columns&quot;')
    expect(text).not.toContain('<form')
    expect(text).not.toContain('<script')
    expect(response.headers.get('content-security-policy')).toBe(
      "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    )
  })

  test('is the same for a table that is not there', async () => {
    const [there, absent] = await Promise.all(
      ['orders', 'absent'].map(async (name) => (await fetch(at(`?table=sales.${name}`))).text()),
    )
    expect(absent?.replaceAll('absent', 'orders')).toBe(there ?? '')
  })

  test.each([
    '',
    '?table=orders',
    '?table=sales.%3Cscript%3E',
    '?table=sales.orders&columns=%3Cb%3E',
    '?table=sales.orders&table=sales.other',
    '?table=sales.orders&next=https://other.example',
    `?table=sales.orders&columns=${Array.from({ length: 101 }, () => 'a').join()}`,
  ])('refuses %s, and repeats nothing of it', async (query) => {
    const response = await fetch(at(query))
    const text = await response.text()
    expect(response.status).toBe(400)
    expect(text).not.toMatch(/script|other\.example|<b>/)
  })
})

describe('its form', () => {
  const fields = { table: 'sales.orders', columns: 'email', purpose: 'Refund of order 4711', seconds: '3600' }
  const post = (headers: Readonly<Record<string, string>>, more: Readonly<Record<string, string>> = {}) =>
    fetch(at(''), {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams({ ...fields, ...more }).toString(),
    })
  const own = { 'sec-fetch-site': 'same-origin' }
  const waiting = async () =>
    (
      await listAccessRequests(
        lake.store,
        lake.tenant,
        { sub: undefined, state: 'waiting', table: undefined },
        {},
      )
    ).items

  test('is shown to who is signed in, and asks in their name', async () => {
    const text = await (await fetch(at('?table=sales.orders&columns=email'), { headers: { cookie } })).text()
    expect(text).toContain('<form method="post" action="/console/request">')
    const response = await post({ cookie, ...own })
    expect([response.status, await response.text()]).toEqual([
      200,
      expect.stringContaining('The request waits for a decision'),
    ])
    expect(await waiting()).toEqual([
      expect.objectContaining({
        ...{ grantee: { sub: 'rita' }, purpose: 'Refund of order 4711', seconds: 3_600 },
        wanted: { columns: ['email'] },
      }),
    ])
  })

  test('takes nothing from another site, from no session, from a service session, or of another tenant', async () => {
    const before = (await waiting()).length
    const answers = [
      await post({ cookie, 'sec-fetch-site': 'cross-site' }),
      await post({ cookie, origin: 'https://other.example' }),
      await post(own),
      await post({ 'x-svc-session': service, ...own }),
      await post({ cookie: strange, ...own }),
      await post({ cookie, ...own }, { seconds: 'many' }),
      await post({ cookie, ...own }, { purpose: '' }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 401, 403, 404, 400, 400])
    expect(await waiting()).toHaveLength(before)
  })
})
