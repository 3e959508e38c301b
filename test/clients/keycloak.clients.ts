/** Keycloak as the identity provider: logins, logouts from both sides, new keys, groups and organizations. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { type IdentityService, startIdentityService } from '../support/identity.ts'
import { Browser } from '../support/oidc-provider.ts'
import { makeTenant } from '../support/spare-tenants.ts'
import { type Keycloak, personId, realm, registerService, startKeycloak } from './keycloak.ts'

setDefaultTimeout(600_000)

let keycloak: Keycloak
let service: IdentityService
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  keycloak = stack.use(await startKeycloak())
  service = stack.use(
    await startIdentityService({
      env: {
        IDP_ISSUER_URL: `${keycloak.url}/realms/${realm}`,
        ...{ IDP_CLIENT_ID: 'covenant', IDP_API_KEY: 'secret-of-the-client' },
        IDP_ORGANIZATION_CLAIM: 'organization',
      },
    }),
  )
  await registerService(keycloak.admin, service.app.url, 'covenant', 'secret-of-the-client')
  for (const name of ['acme', 'other'])
    await makeTenant(service.store, { name, organizationId: `org_${name}` })
})
afterAll(() => stack.disposeAsync())

const at = (path: string) => new URL(path, service.app.url)
const status = async (browser: Browser) => (await browser.request(at('/api/v1/session'))).status

/** Follows redirects and Keycloak's forms until the service's callback has answered. */
async function logIn(person: string, browser = new Browser()): Promise<Browser> {
  let url = at('/login')
  let response = await browser.request(url)
  for (let step = 0; step < 12; step++) {
    const location = response.headers.get('location')
    if (url.pathname === '/callback') break
    if (location !== null) {
      url = new URL(location, url)
      response = await browser.request(url)
      continue
    }
    const page = await response.text()
    const action = /action="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&')
    if (action === undefined) throw new Error(`Keycloak answered ${response.status} at ${url}: ${page}`)
    url = new URL(action, url)
    const body = new URLSearchParams({ username: person, password: person, credentialId: '' })
    response = await browser.request(url, { method: 'POST', body })
  }
  expect([url.pathname, response.status]).toEqual(['/callback', 302])
  return browser
}

test('keycloak: a login has the organization and the groups of the person', async () => {
  const browser = await logIn('ada')
  expect(await (await browser.request(at('/api/v1/session'))).json()).toMatchObject({
    organization_id: 'org_acme',
    principal: { email: 'ada@ada.example', roles: ['steward'] },
  })
  const other = await logIn('bob')
  expect(await (await other.request(at('/api/v1/session'))).json()).toMatchObject({
    organization_id: 'org_other',
    principal: { roles: [] },
  })
})

test('keycloak: whom it logs out has no session here either, and others keep theirs', async () => {
  const [ada, bob] = [await logIn('ada'), await logIn('bob')]
  await keycloak.admin('POST', `/${realm}/users/${await personId(keycloak.admin, 'ada')}/logout`)
  expect([await status(ada), await status(bob)]).toEqual([401, 200])
  expect(await status(await logIn('ada'))).toBe(200)
})

test('keycloak: a logout here ends the login there, without a question, and in the other browser of it', async () => {
  const browser = await logIn('ada')
  const second = Object.assign(new Browser(), { cookies: new Map(browser.cookies) })
  second.cookies.delete(service.app.url.host)
  await logIn('ada', second)
  const headers = { 'sec-fetch-site': 'same-origin' }
  const answer = await browser.request(at('/logout/provider'), { method: 'POST', headers })
  const there = await browser.request(answer.headers.get('location') ?? '')
  expect([there.status, there.headers.get('location')]).toEqual([302, at('/logged-out').href])
  expect([await status(browser), await status(second)]).toEqual([401, 401])
  // The next login asks for the password again.
  const next = await browser.request((await browser.request(at('/login'))).headers.get('location') ?? '')
  expect(await next.text()).toContain('kc-form-login')
})

test('keycloak: a login after a rotation of its keys succeeds, and so does a logout', async () => {
  await logIn('ada')
  const { id } = (await keycloak.admin('GET', `/${realm}`)) as { id: string }
  await keycloak.admin('POST', `/${realm}/components`, {
    ...{
      name: 'next',
      parentId: id,
      providerId: 'rsa-generated',
      providerType: 'org.keycloak.keys.KeyProvider',
    },
    config: { priority: ['1000'], enabled: ['true'], active: ['true'], algorithm: ['RS256'] },
  })
  // Keys that are some seconds old are fetched again.
  await Bun.sleep(6_000)
  const browser = await logIn('ada')
  await keycloak.admin('POST', `/${realm}/users/${await personId(keycloak.admin, 'ada')}/logout`)
  expect(await status(browser)).toBe(401)
})
