/** Login against a real OpenID Connect provider, and every way in which a login must fail. */

import { afterAll, beforeAll, describe, expect, setSystemTime, test } from 'bun:test'
import { KeyObject, randomBytes, sign } from 'node:crypto'
import { loginOperations } from '../../src/auth/login/operations.ts'
import { limits } from '../../src/limits.ts'
import { suspendTenant } from '../../src/store/tenant/tenants.ts'
import { call, type IdentityService, internalOrg, startIdentityService } from '../support/identity.ts'
import {
  Browser,
  clientId,
  clientSecret,
  startProvider,
  type TestProvider,
} from '../support/oidc-provider.ts'
import { serveOperations } from '../support/operations.ts'
import { makeTenant } from '../support/spare-tenants.ts'

let provider: TestProvider
let service: IdentityService
const clock = { ms: Date.now() }

beforeAll(async () => {
  provider = await startProvider()
  service = await startIdentityService({
    clock: { now: () => clock.ms },
    env: { IDP_ISSUER_URL: provider.issuer, IDP_CLIENT_ID: clientId, IDP_API_KEY: clientSecret },
  })
  provider.start(new URL('/callback', service.app.url).href)
  await makeTenant(service.store, { name: 'acme', organizationId: 'org_acme' })
  await makeTenant(service.store, { name: 'other', organizationId: 'org_other' })
  const account = (sub: string, claims: object) => provider.accounts.set(sub, { claims: { ...claims } })
  account('ada', { org_id: 'org_acme', email: 'ada@acme.example', roles: 'steward writer' })
  account('adam', { org_id: 'org_acme', roles: ['administrator'] })
  account('olga', { org_id: 'org_acme', roles: ['owner'] })
  account('bob', { org_id: 'org_other', groups: ['administrator'] })
  account('eve', { org_id: 'org_unknown' })
  account('mal', { org_id: ['org_acme', 'org_other'] })
  account('lin', { org_id: ['org_acme'] })
  account('max', { org_id: 'org_acme', hasgroups: true })
  account('root', { org_id: internalOrg })
}, 300_000)
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await provider[Symbol.asyncDispose]()
})

const cookieName = '__Host-svc_session'
/** The library's code for why the last login failed: each refusal below has to be for its own reason. */
const lastCause = () => [...service.log().matchAll(/"code":"(OAUTH_\w+)"/g)].at(-1)?.[1]
const cookies = (browser: Browser) => browser.cookies.get(service.app.url.host) ?? new Map<string, string>()
const whoami = (browser: Browser) => browser.request(new URL('/api/v1/session', service.app.url))
async function loggedIn(sub: string): Promise<Browser> {
  const browser = new Browser()
  expect((await browser.logIn(service.app.url, sub)).status).toBe(302)
  return browser
}

describe('a login', () => {
  test('gives the organization’s tenant, the provider’s roles and a cookie that scripts and other sites cannot use', async () => {
    const browser = new Browser()
    const answer = await browser.logIn(service.app.url, 'ada', '/login?return_to=/api/v1/session%3Fa%3D1')
    expect(answer.status).toBe(302)
    expect(answer.headers.get('location')).toBe('/api/v1/session?a=1')
    const cookie = answer.headers.getSetCookie().find((line) => line.startsWith(cookieName)) ?? ''
    for (const attribute of ['HttpOnly', 'Secure', 'SameSite=Lax', 'Path=/'])
      expect(cookie).toContain(attribute)
    expect(cookie).not.toContain('Domain')
    expect(await (await whoami(browser)).json()).toMatchObject({
      organization_id: 'org_acme',
      scopes: ['read'],
      principal: { sub: 'ada', email: 'ada@acme.example', roles: ['steward', 'writer'] },
    })
  })

  test('of an administrator has the scope admin, and /admin is for the internal organization alone', async () => {
    const [bob, root] = [await loggedIn('bob'), await loggedIn('root')]
    const get = async (browser: Browser, path: string) =>
      (await browser.request(new URL(path, service.app.url))).status
    expect(await get(bob, '/api/v1/sessions')).toBe(200)
    expect(await get(bob, '/admin/tenants')).toBe(403)
    expect(await get(root, '/admin/tenants')).toBe(200)
    expect(await get(root, '/api/v1/sessions')).toBe(403)
  })

  test('makes a new session each time and ends the one that the browser had', async () => {
    const browser = await loggedIn('ada')
    const before = cookies(browser).get(cookieName) ?? ''
    expect((await browser.logIn(service.app.url, 'ada')).status).toBe(302)
    expect(cookies(browser).get(cookieName)).not.toBe(before)
    const old = await call(service, 'GET', '/api/v1/session', {
      headers: { cookie: `${cookieName}=${before}` },
    })
    expect(old.status).toBe(401)
  })

  test.each([
    '//evil.example',
    '/\\evil.example',
    'https://evil.example/',
    '',
    '/\t/evil.example',
    '/.//evil.example',
    '/x/..//evil.example',
    '/%2e/\\evil.example',
  ])('does not return to %p', async (target) => {
    const browser = new Browser()
    const answer = await browser.logIn(
      service.app.url,
      'ada',
      `/login?return_to=${encodeURIComponent(target)}`,
    )
    expect(answer.headers.get('location')).toBe('/api/v1/session')
  })

  test('returns to a path of 1000 characters as it is sent, and to no longer one: a cookie holds it', async () => {
    const target = `/${'é'.repeat(166)}`
    for (const [path, location] of [
      [`${target}...`, `/${'%C3%A9'.repeat(166)}...`],
      [`${target}....`, '/api/v1/session'],
    ]) {
      const answer = await new Browser().logIn(service.app.url, 'ada', `/login?return_to=${path}`)
      expect(answer.headers.get('location')).toBe(String(location))
    }
  })

  test('of an unknown, malformed or suspended organization is 403 and leaves no session', async () => {
    const { id } = await makeTenant(service.store, { name: 'gone', organizationId: 'org_gone' })
    await suspendTenant(service.store, id)
    provider.accounts.set('ghost', { claims: { org_id: 'org_gone' } })
    provider.accounts.set('none', { claims: {} })
    for (const sub of ['eve', 'mal', 'ghost', 'none']) {
      const browser = new Browser()
      expect((await browser.logIn(service.app.url, sub)).status).toBe(403)
      expect(cookies(browser).has(cookieName)).toBe(false)
    }
  })

  test('without one organization is 403 and names the claim that the provider has to send', async () => {
    for (const [sub, said] of [
      ['none', 'The identity provider sent no claim `org_id`'],
      ['mal', 'The claim `org_id` of the identity provider does not name one organization'],
    ] as const) {
      const answer = await new Browser().logIn(service.app.url, sub)
      expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining(said)])
    }
    await loggedIn('lin')
  })

  test('whose groups the provider left out is 401 and says what to configure', async () => {
    const answer = await new Browser().logIn(service.app.url, 'max')
    expect([answer.status, await answer.text()]).toEqual([401, expect.stringContaining('app roles')])
  })
})

test('a login whose subject is that of a service or the operator is 401 and leaves no session', async () => {
  for (const sub of ['service:spark', 'operator']) {
    provider.accounts.set(sub, { claims: { org_id: 'org_acme', roles: 'steward' } })
    const browser = new Browser()
    expect((await browser.logIn(service.app.url, sub)).status).toBe(401)
    expect(cookies(browser).has(cookieName)).toBe(false)
  }
})

test('a session of a login names the person as its creator, with the request that completed the login', async () => {
  const browser = await loggedIn('ada')
  const { session_id: id, ...shown } = (await (await whoami(browser)).json()) as Record<string, string>
  expect(shown).toMatchObject({ session_kind: 'browser', session_created_by: 'ada' })
  const admin = await loggedIn('adam')
  const listed = await admin.request(new URL('/api/v1/sessions?kind=browser&limit=1000', service.app.url))
  const { items } = (await listed.json()) as { items: readonly Record<string, unknown>[] }
  expect(items.find((one) => one.id === id)).toMatchObject({
    kind: 'browser',
    created_by: { sub: 'ada', source: 'login', request_id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
  })
})

test('a login with the role owner has the scope admin', async () => {
  const browser = await loggedIn('olga')
  const listed = await browser.request(new URL('/api/v1/sessions', service.app.url))
  expect(listed.status).toBe(200)
})

test('a login has the e-mail address that its provider does not call unverified', async () => {
  for (const [sub, verified, email] of [
    ['vera', { email_verified: true }, 'v@acme.example'],
    ['una', { email_verified: false }, undefined],
    ['ulf', { email_verified: 'false' }, undefined],
  ] as const) {
    const claims = { org_id: 'org_acme', email: 'v@acme.example', ...verified }
    provider.accounts.set(sub, { claims })
    const { principal } = (await (await whoami(await loggedIn(sub))).json()) as {
      principal: { sub: string; email?: string }
    }
    expect([principal.sub, principal.email]).toEqual([sub, email])
  }
})

test('a login whose subject is longer than a session keeps is 400 and leaves none', async () => {
  const sub = randomBytes(2_000).toString('hex')
  provider.accounts.set(sub, { claims: { org_id: 'org_acme' } })
  const browser = new Browser()
  expect((await browser.logIn(service.app.url, sub)).status).toBe(400)
  expect(cookies(browser).has(cookieName)).toBe(false)
})

describe('a callback', () => {
  test('with a state that was used is refused, with all its cookies', async () => {
    const browser = new Browser()
    const callback = await browser.logInUntilCallback(service.app.url, 'ada')
    const replay = new Map(cookies(browser))
    expect((await browser.request(callback)).status).toBe(302)
    browser.cookies.set(service.app.url.host, replay)
    const answer = await browser.request(callback)
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('already complete')
  })

  test('in another browser, or with another state, is refused', async () => {
    const callback = await new Browser().logInUntilCallback(service.app.url, 'ada')
    expect((await new Browser().request(callback)).status).toBe(400)
    const victim = new Browser()
    await victim.request(new URL('/login', service.app.url))
    expect((await victim.request(callback)).status).toBe(400)
    const browser = new Browser()
    const own = await browser.logInUntilCallback(service.app.url, 'ada')
    own.searchParams.set('state', 'x')
    expect((await browser.request(own)).status).toBe(400)
    own.searchParams.delete('state')
    expect((await browser.request(own)).status).toBe(400)
  })

  test('with a code of another login is refused: the nonce and the verifier are not its own', async () => {
    const stranger = await new Browser().logInUntilCallback(service.app.url, 'bob')
    const browser = new Browser()
    const own = await browser.logInUntilCallback(service.app.url, 'ada')
    own.searchParams.set('code', stranger.searchParams.get('code') ?? '')
    expect((await browser.request(own)).status).toBe(401)
    expect(cookies(browser).has(cookieName)).toBe(false)
  })

  test('with an ID token of the wrong nonce is refused', async () => {
    const browser = new Browser()
    const login = await browser.request(new URL('/login', service.app.url))
    const authorize = new URL(login.headers.get('location') ?? '')
    authorize.searchParams.set('nonce', 'another-nonce')
    const walker = Object.assign(new Browser(), { cookies: browser.cookies })
    const first = walker.request.bind(walker)
    walker.request = (url, init) =>
      new URL(url).pathname === '/login'
        ? Promise.resolve(Response.redirect(authorize.href, 302))
        : first(url, init)
    const callback = await walker.logInUntilCallback(service.app.url, 'ada')
    expect((await browser.request(callback)).status).toBe(401)
    expect(lastCause()).toBe('OAUTH_JWT_CLAIM_COMPARISON_FAILED')
  })

  test('with an ID token whose signature does not hold is refused', async () => {
    const browser = new Browser()
    const callback = await browser.logInUntilCallback(service.app.url, 'ada')
    provider.tamper = (path, body) =>
      path.startsWith('/token') ? body.replace(/("id_token":"[^."]+\.[^."]+\.)./, '$1_') : body
    try {
      expect((await browser.request(callback)).status).toBe(401)
      expect(lastCause()).toBe('OAUTH_INVALID_RESPONSE')
    } finally {
      provider.tamper = undefined
    }
  })

  test('with an ID token that was issued for another client is refused, whatever its audiences', async () => {
    const loginWith = async (claims: object) => {
      const browser = new Browser()
      const callback = await browser.logInUntilCallback(service.app.url, 'ada')
      provider.tamper = (path, body) =>
        path.startsWith('/token')
          ? body.replace(/"id_token":"([^.]+)\.([^.]+)\.[^"]+"/, (_, head: string, payload: string) => {
              const sent = JSON.parse(Buffer.from(payload, 'base64url').toString())
              const text = `${head}.${Buffer.from(JSON.stringify({ ...sent, ...claims })).toString('base64url')}`
              const key = KeyObject.from(provider.privateKey)
              return `"id_token":"${text}.${sign('RSA-SHA256', Buffer.from(text), key).toString('base64url')}"`
            })
          : body
      try {
        return (await browser.request(callback)).status
      } finally {
        provider.tamper = undefined
      }
    }
    expect(await loginWith({})).toBe(302)
    expect(await loginWith({ azp: clientId })).toBe(302)
    expect(await loginWith({ aud: [clientId, 'another'], azp: clientId })).toBe(302)
    expect(await loginWith({ azp: 'another' })).toBe(401)
    expect(await loginWith({ aud: [clientId, 'another'], azp: 'another' })).toBe(401)
    expect(await loginWith({ aud: [clientId, 'another'] })).toBe(401)
  })

  test('with a code that was used is refused', async () => {
    const browser = new Browser()
    const callback = await browser.logInUntilCallback(service.app.url, 'ada')
    const used = callback.searchParams.get('code') ?? ''
    expect((await browser.request(callback)).status).toBe(302)
    const again = await browser.logInUntilCallback(service.app.url, 'ada')
    again.searchParams.set('code', used)
    expect((await browser.request(again)).status).toBe(401)
  })

  test('with a code that has expired at the provider is refused', async () => {
    const browser = new Browser()
    const callback = await browser.logInUntilCallback(service.app.url, 'ada')
    setSystemTime(Date.now() + 90_000)
    try {
      expect((await browser.request(callback)).status).toBe(401)
      expect(lastCause()).toBe('OAUTH_RESPONSE_BODY_ERROR')
      expect(cookies(browser).has(cookieName)).toBe(false)
    } finally {
      setSystemTime()
    }
  })

  test('later than the login may take is refused', async () => {
    const browser = new Browser()
    const callback = await browser.logInUntilCallback(service.app.url, 'ada')
    clock.ms += limits.loginMs + 1
    try {
      expect((await browser.request(callback)).status).toBe(400)
    } finally {
      clock.ms -= limits.loginMs + 1
    }
  })

  test('while the provider does not answer is 503: nobody’s login was refused', async () => {
    const browser = new Browser()
    const callback = await browser.logInUntilCallback(service.app.url, 'ada')
    provider.isDown = true
    try {
      const answer = await browser.request(callback)
      expect(answer.status).toBe(503)
      expect(answer.headers.get('retry-after')).toBe('1')
      expect(cookies(browser).has(cookieName)).toBe(false)
      expect(service.log()).toContain('"message":"status 503"')
    } finally {
      provider.isDown = false
    }
  })

  test('with an error of the provider is 401 and names no detail of it', async () => {
    const browser = new Browser()
    const callback = await browser.logInUntilCallback(service.app.url, 'ada')
    callback.searchParams.delete('code')
    callback.searchParams.set('error', 'access_denied')
    callback.searchParams.set('error_description', '<script>')
    const answer = await browser.request(callback)
    expect(answer.status).toBe(401)
    expect(await answer.text()).not.toContain('script')
  })
})

describe('a session cookie', () => {
  const logout = new Map([
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': 'none' }, 403],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{}, 403],
    [{ 'sec-fetch-site': 'cross-site', origin: 'own' }, 403],
    [{ origin: 'own' }, 204],
    [{ 'sec-fetch-site': 'same-origin' }, 204],
  ] as [Record<string, string>, number][])

  test.each([...logout])('of a changing request with %j answers %d', async (given, status) => {
    const own = service.app.url.origin
    const headers = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, value === 'own' ? own : value]),
    )
    const bob = await loggedIn('bob')
    const mint = await bob.request(new URL('/api/v1/sessions', service.app.url), {
      method: 'POST',
      headers,
      body: JSON.stringify({ name: 'x', scopes: ['read'] }),
    })
    expect(mint.status).toBe(status === 204 ? 201 : 403)
    const answer = await bob.request(new URL('/logout', service.app.url), { method: 'POST', headers })
    expect(answer.status).toBe(status)
    expect((await whoami(bob)).status).toBe(status === 204 ? 401 : 200)
  })

  test('is dead after the logout where a copy of it was kept', async () => {
    const browser = await loggedIn('ada')
    const copy = new Map(cookies(browser))
    const headers = { 'sec-fetch-site': 'same-origin' }
    await browser.request(new URL('/logout', service.app.url), { method: 'POST', headers })
    browser.cookies.set(service.app.url.host, copy)
    expect((await whoami(browser)).status).toBe(401)
  })

  test('of another tenant opens nothing of this one', async () => {
    const [ada, bob] = [await loggedIn('ada'), await loggedIn('bob')]
    const { session_id: sessionId, tenant } = (await (await whoami(ada)).json()) as Record<string, string>
    const theirs = (await (await whoami(bob)).json()) as Record<string, string>
    expect(theirs.tenant).not.toBe(tenant)
    const end = await bob.request(new URL(`/api/v1/sessions/${sessionId}`, service.app.url), {
      method: 'DELETE',
      headers: { 'sec-fetch-site': 'same-origin' },
    })
    expect(end.status).toBe(404)
    expect((await whoami(ada)).status).toBe(200)
    const listed = await bob.request(new URL('/api/v1/sessions?kind=browser&limit=1000', service.app.url))
    expect(await listed.text()).not.toContain(String(sessionId))
  })

  test('sent twice, as another host of the domain may do, counts for nothing', async () => {
    const [ada, bob] = [await loggedIn('ada'), await loggedIn('bob')]
    const both = [ada, bob].map((one) => `${cookieName}=${cookies(one).get(cookieName)}`).join('; ')
    expect((await call(service, 'GET', '/api/v1/session', { headers: { cookie: both } })).status).toBe(401)
  })

  test('ends when it is idle for too long, and when it is open for too long', async () => {
    const [idle, old, fresh] = [await loggedIn('ada'), await loggedIn('ada'), await loggedIn('ada')]
    const idOf = async (browser: Browser) =>
      String(((await (await whoami(browser)).json()) as Record<string, string>).session_id)
    const shift = async (browser: Browser, column: string, ms: number) => {
      const [tenant, id] = [await tenantOf(browser), await idOf(browser)]
      await service.store.ownerTransaction(tenant as never, (tx) =>
        tx.query(
          `update svc.browser_session set ${column} = ${column} - $2::float8 * interval '1 ms' where session_id = $1`,
          [id, ms],
        ),
      )
    }
    const tenantOf = async (browser: Browser) =>
      ((await (await whoami(browser)).json()) as Record<string, string>).tenant
    await shift(fresh, 'seen_at', limits.browserSessionIdleMs - 60_000)
    expect((await whoami(fresh)).status).toBe(200)
    // Being used has moved it: another step of that size does not end it.
    await shift(fresh, 'seen_at', limits.browserSessionIdleMs - 60_000)
    expect((await whoami(fresh)).status).toBe(200)
    await shift(idle, 'seen_at', limits.browserSessionIdleMs)
    expect((await whoami(idle)).status).toBe(401)
    await shift(old, 'expires_at', limits.browserSessionMs)
    expect((await whoami(old)).status).toBe(401)
  })

  test('is refused in the header X-Svc-Session, where no origin is checked', async () => {
    const browser = await loggedIn('ada')
    const secret = cookies(browser).get(cookieName) ?? ''
    expect((await call(service, 'POST', '/api/v1/sessions', { secret, body: {} })).status).toBe(401)
  })
})

test('without an identity provider /login says so', async () => {
  const serve = serveOperations(loginOperations, {
    ...service.app.gateway,
    provider: undefined,
    publicUrl: () => service.app.url,
    internalAdminOrgId: undefined,
    onRefused: () => {},
    findClient: () => Promise.reject(new Error('not reached')),
  })
  for (const path of ['/login', '/callback?state=x&code=y'])
    expect((await serve(new Request(`http://svc.example${path}`))).status).toBe(404)
})

test('a login succeeds after the provider has replaced its key under the same id, once the last is some seconds old', async () => {
  await loggedIn('ada')
  provider.rotate(service.app.url, 'idp')
  setSystemTime(Date.now() + 6_000)
  try {
    expect((await new Browser().logIn(service.app.url, 'ada')).status).toBe(302)
  } finally {
    setSystemTime()
  }
})
