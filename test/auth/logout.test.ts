/** How a login ends at a real OpenID Connect provider: by its person on both sides, and by the provider. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, setSystemTime, test } from 'bun:test'
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { IdentityProvider } from '../../src/auth/login/identity-provider.ts'
import { logoutOperations } from '../../src/auth/login/logout.ts'
import { logoutTokenMs } from '../../src/auth/login/logout-token.ts'
import { appendEvent } from '../../src/store/event/events.ts'
import { createBrowserSession } from '../../src/store/session/browser-sessions.ts'
import { call, type IdentityService, session, startIdentityService } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'
import {
  Browser,
  clientId,
  clientSecret,
  startProvider,
  type TestProvider,
} from '../support/oidc-provider.ts'
import { serveOperations } from '../support/operations.ts'
import { metric } from '../support/service.ts'
import { makeTenant } from '../support/spare-tenants.ts'

setDefaultTimeout(60_000)

let provider: TestProvider
let service: IdentityService
/** The service's clock. It runs, because the provider's does, too. */
const clock = {
  aheadMs: 0,
  get ms() {
    return Date.now() + this.aheadMs
  },
}
const tenants = { acme: '', other: '' } as Record<'acme' | 'other', never>

beforeAll(async () => {
  provider = await startProvider()
  service = await startIdentityService({
    clock: { now: () => clock.ms },
    env: {
      ...{ IDP_ISSUER_URL: provider.issuer, IDP_CLIENT_ID: clientId, IDP_API_KEY: clientSecret },
      SVC_LICENSE: licenseForAll(),
    },
  })
  provider.start(new URL('/callback', service.app.url).href)
  for (const name of ['acme', 'other'] as const)
    tenants[name] = (await makeTenant(service.store, { name, organizationId: `org_${name}` })).id as never
  provider.accounts.set('ada', { claims: { org_id: 'org_acme', roles: 'steward administrator' } })
  provider.accounts.set('bob', { claims: { org_id: 'org_other' } })
}, 300_000)
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await provider[Symbol.asyncDispose]()
})

const at = (path: string) => new URL(path, service.app.url)
const sameOrigin = { 'sec-fetch-site': 'same-origin' }
const cookieName = '__Host-svc_session'
const status = async (browser: Browser) => (await browser.request(at('/api/v1/session'))).status
async function loggedIn(sub: string): Promise<Browser> {
  const browser = new Browser()
  expect((await browser.logIn(service.app.url, sub)).status).toBe(302)
  return browser
}
/** The provider's id of a browser's login. */
async function sidOf(browser: Browser): Promise<string> {
  const { session_id: id } = (await (await browser.request(at('/api/v1/session'))).json()) as {
    session_id: string
  }
  const [row] = await service.store.adminQuery<{ readonly provider_sid: string }>(
    'select provider_sid from svc.browser_session where session_id = $1',
    [id],
  )
  return row?.provider_sid ?? ''
}

describe('a logout at the provider', () => {
  test('is asked for with the ID token of the login, which the session no longer opens anything with', async () => {
    const browser = await loggedIn('ada')
    const answer = await browser.request(at('/logout/provider'), { method: 'POST', headers: sameOrigin })
    expect(answer.status).toBe(302)
    const url = new URL(answer.headers.get('location') ?? '')
    expect(url.origin).toBe(provider.issuer)
    expect(Object.fromEntries(url.searchParams)).toEqual({
      id_token_hint: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      post_logout_redirect_uri: at('/logged-out').href,
      client_id: clientId,
    })
    expect(browser.cookies.get(service.app.url.host)?.has(cookieName)).toBe(false)
    expect(await status(browser)).toBe(401)
    expect(await provider.logOut(browser, url)).toBe(at('/logged-out').href)
    expect(await (await fetch(at('/logged-out'))).text()).toContain('You are logged out')
  })

  test('keeps the ID token sealed, so that the store does not show it', async () => {
    const browser = await loggedIn('ada')
    const sid = await sidOf(browser)
    const [row] = await service.store.adminQuery<{ readonly id_token: Uint8Array }>(
      'select id_token from svc.browser_session where provider_sid = $1',
      [sid],
    )
    expect(row?.id_token.length).toBeGreaterThan(100)
    expect(Buffer.from(row?.id_token ?? []).toString('latin1')).not.toContain('eyJ')
  })

  test('from the page of another site is 403 and ends nothing', async () => {
    const browser = await loggedIn('ada')
    const headers = { 'sec-fetch-site': 'cross-site' }
    const answer = await browser.request(at('/logout/provider'), { method: 'POST', headers })
    expect([answer.status, await status(browser)]).toEqual([403, 200])
  })

  test('without a session is 401', async () => {
    expect((await call(service, 'POST', '/logout/provider', { headers: sameOrigin })).status).toBe(401)
  })

  test('ends the sessions of the same login in other browsers, and no other, because the provider says so', async () => {
    const [browser, bob, again] = [await loggedIn('ada'), await loggedIn('bob'), await loggedIn('ada')]
    // A second session of the same login at the provider.
    const second = Object.assign(new Browser(), { cookies: new Map(browser.cookies) })
    second.cookies.delete(service.app.url.host)
    expect((await second.logIn(service.app.url, 'ada')).status).toBe(302)
    expect(await sidOf(second)).toBe(await sidOf(browser))
    const answer = await browser.request(at('/logout/provider'), { method: 'POST', headers: sameOrigin })
    provider.loggedOut()
    await provider.logOut(browser, new URL(answer.headers.get('location') ?? ''))
    expect(provider.loggedOut()).toEqual([200])
    expect(await status(second)).toBe(401)
    expect([await status(bob), await status(again)]).toEqual([200, 200])
  })
})

/** A logout token as the provider would send it, with changes. */
const logoutToken = (
  changes: Readonly<Record<string, unknown>> = {},
  header: { typ?: string; kid?: string } = {},
) => {
  const nowSeconds = Math.floor(clock.ms / 1000)
  const claims: Readonly<Record<string, unknown>> = {
    ...{ iss: provider.issuer, aud: clientId, iat: nowSeconds, exp: nowSeconds + 120 },
    jti: crypto.randomUUID(),
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    ...changes,
  }
  return new SignJWT(Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined)))
    .setProtectedHeader({ alg: 'RS256', kid: 'idp', typ: 'logout+jwt', ...header })
    .sign(provider.privateKey)
}
const sendLogout = async (token: string) =>
  await fetch(at('/logout/back-channel'), {
    method: 'POST',
    body: new URLSearchParams({ logout_token: token }),
  })

describe('a logout token', () => {
  test('ends the login that it names, once, and says who ended it in the administration log', async () => {
    const [ada, other] = [await loggedIn('ada'), await loggedIn('ada')]
    const token = await logoutToken({ sid: await sidOf(ada), sub: 'ada' })
    const answer = await sendLogout(token)
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect([await status(ada), await status(other)]).toEqual([401, 200])
    const log = await other.request(at('/api/v1/administration?action=revoke-session&limit=1'))
    expect((await log.json()) as object).toMatchObject({
      items: [{ actor: { sub: 'identity-provider', source: 'webhook' }, subject: { sub: 'ada' } }],
    })
    const replay = await sendLogout(token)
    expect([replay.status, await replay.text()]).toEqual([400, expect.stringContaining('used before')])
  })

  test('of a person ends all of their logins, and one that comes again ends none of the next', async () => {
    const [one, two, bob] = [await loggedIn('ada'), await loggedIn('ada'), await loggedIn('bob')]
    clock.aheadMs += 1_000
    const token = await logoutToken({ sub: 'ada' })
    expect((await sendLogout(token)).status).toBe(200)
    expect([await status(one), await status(two), await status(bob)]).toEqual([401, 401, 200])
    await makeSession({ providerSid: undefined, issuedAtMs: clock.ms + 1_000 })
    expect((await sendLogout(token)).status).toBe(400)
  })

  test('names the login and another person, and ends nothing', async () => {
    const ada = await loggedInLater('ada')
    expect((await sendLogout(await logoutToken({ sid: await sidOf(ada), sub: 'bob' }))).status).toBe(200)
    expect(await status(ada)).toBe(200)
  })

  test('leaves service sessions alone', async () => {
    const secret = await session(service, tenants.acme, ['read'], [], 'ada')
    expect((await sendLogout(await logoutToken({ sub: 'ada' }))).status).toBe(200)
    expect((await call(service, 'GET', '/api/v1/session', { secret })).status).toBe(200)
  })

  const nowSeconds = () => Math.floor(clock.ms / 1000)
  const wrong: Readonly<Record<string, () => Promise<string> | string>> = {
    'for another client': () => logoutToken({ sub: 'ada', aud: 'another' }),
    'of another issuer': () => logoutToken({ sub: 'ada', iss: 'https://evil.example' }),
    'with a nonce': () => logoutToken({ sub: 'ada', nonce: 'x' }),
    'with an empty nonce': () => logoutToken({ sub: 'ada', nonce: null }),
    'without events': () => logoutToken({ sub: 'ada', events: undefined }),
    'with other events': () => logoutToken({ sub: 'ada', events: { 'http://evil.example': {} } }),
    'whose event is no object': () =>
      logoutToken({ sub: 'ada', events: { 'http://schemas.openid.net/event/backchannel-logout': 1 } }),
    'that names nobody': () => logoutToken(),
    'that names a number': () => logoutToken({ sub: 'ada', sid: 7 }),
    'without an id': () => logoutToken({ sub: 'ada', jti: undefined }),
    'without an end': () => logoutToken({ sub: 'ada', exp: undefined }),
    'without a time': () => logoutToken({ sub: 'ada', iat: undefined }),
    'that has ended': () => logoutToken({ sub: 'ada', iat: nowSeconds() - 200, exp: nowSeconds() - 61 }),
    'that is old and ends late': () =>
      logoutToken({ sub: 'ada', iat: nowSeconds() - logoutTokenMs / 1000 - 61 }),
    'of the future': () => logoutToken({ sub: 'ada', iat: nowSeconds() + 120, exp: nowSeconds() + 240 }),
    'of another type': () => logoutToken({ sub: 'ada' }, { typ: 'at+jwt' }),
    'of an unknown key': () => logoutToken({ sub: 'ada' }, { kid: 'unknown' }),
    'without a signature': () =>
      new UnsecuredJWT({
        ...{ iss: provider.issuer, aud: clientId, sub: 'ada', jti: 'x' },
        events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      })
        .setIssuedAt(nowSeconds())
        .setExpirationTime(nowSeconds() + 120)
        .encode(),
    'signed by the public key as a shared secret': async () =>
      await forged('HS256', new TextEncoder().encode(JSON.stringify(provider.publicJwk))),
    'signed by a stranger’s key under the same name': async () =>
      await forged('RS256', (await generateKeyPair('RS256')).privateKey),
    'signed by a key that it carries itself': async () => {
      const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
      return await forged('RS256', privateKey, { jwk: await exportJWK(publicKey) })
    },
    'that is no token': () => 'x',
    'that is empty': () => '',
  }
  const forged = (alg: string, key: Parameters<SignJWT['sign']>[0], header: object = {}) =>
    new SignJWT({
      ...{ iss: provider.issuer, aud: clientId, sub: 'ada', jti: crypto.randomUUID() },
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    })
      .setProtectedHeader({ alg, kid: 'idp', typ: 'logout+jwt', ...header })
      .setIssuedAt(nowSeconds())
      .setExpirationTime(nowSeconds() + 120)
      .sign(key)

  test.each(Object.keys(wrong))('%s is 400 and ends nothing', async (name) => {
    const ada = await loggedInLater('ada')
    const answer = await sendLogout((await wrong[name]?.()) ?? '')
    expect(answer.status).toBe(400)
    expect(await answer.text()).not.toContain('eyJ')
    expect(await status(ada)).toBe(200)
  })

  test('that is refused is counted', async () => {
    const counted = () => metric(service, 'svc_credentials_refused_total{kind="logout_token"}')
    const before = await counted()
    await sendLogout(await logoutToken({ sub: 'ada', aud: 'another' }))
    expect(await counted()).toBe(before + 1)
  })

  test('twice in one form is 400', async () => {
    const body = new URLSearchParams()
    for (let i = 0; i < 2; i++) body.append('logout_token', await logoutToken({ sub: 'ada' }))
    expect((await fetch(at('/logout/back-channel'), { method: 'POST', body })).status).toBe(400)
  })
})

/** A login after all logouts so far, whose times are whole seconds. */
async function loggedInLater(sub: string): Promise<Browser> {
  const browser = new Browser()
  await service.store.adminQuery('delete from svc.ended_login')
  expect((await browser.logIn(service.app.url, sub)).status).toBe(302)
  return browser
}

const makeSession = (login: { readonly providerSid: string | undefined; readonly issuedAtMs: number }) =>
  createBrowserSession(
    service.store,
    tenants.acme,
    { principal: { sub: 'ada', roles: [] }, scopes: ['read'], ...login },
    undefined,
  )

describe('a login that completes after its logout', () => {
  test('makes no session, whether the provider ended it by its id or by its person', async () => {
    await sendLogout(await logoutToken({ sid: 'late', sub: 'ada' }))
    const late = makeSession({ providerSid: 'late', issuedAtMs: clock.ms + 60_000 })
    await expect(late).rejects.toThrow('has ended this login')
    await sendLogout(await logoutToken({ sub: 'ada' }))
    const before = makeSession({ providerSid: 'x', issuedAtMs: clock.ms - 60_000 })
    await expect(before).rejects.toThrow('has ended this login')
    expect(await makeSession({ providerSid: 'x', issuedAtMs: clock.ms + 1_000 })).toBeDefined()
  })

  test('while the logout is under way leaves no session either', async () => {
    await service.store.adminQuery('delete from svc.ended_login')
    for (let round = 0; round < 5; round++) {
      const sid = `race-${round}`
      const [made] = await Promise.allSettled([
        makeSession({ providerSid: sid, issuedAtMs: clock.ms }),
        sendLogout(await logoutToken({ sid })),
      ])
      const secret = made.status === 'fulfilled' ? (made.value ?? '') : ''
      const answer = await call(service, 'GET', '/api/v1/session', {
        headers: { cookie: `${cookieName}=${secret}` },
      })
      expect(answer.status).toBe(401)
    }
  })
})

test('an open stream of events ends with the login that the provider ends', async () => {
  const ada = await loggedInLater('ada')
  const response = await ada.request(at('/api/v1/events'))
  const reader = response.body?.getReader()
  const read = async () => new TextDecoder().decode((await reader?.read())?.value)
  const append = (subject: string) =>
    service.store.tenantTransaction(tenants.acme, (tx) =>
      appendEvent(tx, { type: 'contract.moved', subject, data: {} }),
    )
  expect(await read()).toContain(': open')
  await append('before')
  expect(await read()).toContain('before')
  expect((await sendLogout(await logoutToken({ sid: await sidOf(ada) }))).status).toBe(200)
  await append('after')
  let rest = ''
  for (let part = await read(); part !== ''; part = await read()) rest += part
  expect(rest).not.toContain('after')
})

test('while the provider does not answer a logout is 503, so that the provider tries again', async () => {
  const { issuer: issuerUrl } = provider
  const options = {
    issuerUrl,
    clientId,
    clientSecret: undefined,
    claims: { organization: 'org_id', roles: undefined },
  }
  const serve = serveOperations(logoutOperations, {
    ...service.app.gateway,
    provider: new IdentityProvider(options),
    publicUrl: () => service.app.url,
    internalAdminOrgId: undefined,
    onRefused: () => {},
    findClient: () => Promise.reject(new Error('not reached')),
  })
  const body = new URLSearchParams({ logout_token: await logoutToken({ sub: 'ada' }) })
  const send = async () =>
    (await serve(new Request(at('/logout/back-channel').href, { method: 'POST', body }))).status
  provider.isDown = true
  try {
    expect(await send()).toBe(503)
  } finally {
    provider.isDown = false
  }
  expect(await send()).toBe(200)
})

test('the first login after a rotation of the provider’s keys succeeds once the keys are some seconds old', async () => {
  await loggedInLater('ada')
  provider.rotate(service.app.url)
  await service.store.adminQuery('delete from svc.ended_login')
  setSystemTime(Date.now() + 6_000)
  try {
    expect((await new Browser().logIn(service.app.url, 'ada')).status).toBe(302)
  } finally {
    setSystemTime()
  }
})
