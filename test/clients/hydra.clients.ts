/** Ory Hydra as the identity provider: logins, access tokens of people and of clients on every surface, new keys. */

import { afterAll, beforeAll, expect, setDefaultTimeout, setSystemTime, test } from 'bun:test'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { ask, type IdentityService, session, startIdentityService } from '../support/identity.ts'
import { Browser } from '../support/oidc-provider.ts'
import { equipTenant } from '../support/service.ts'
import { makeTenant } from '../support/spare-tenants.ts'
import { everywhere, overHttp } from '../support/token-surfaces.ts'
import { type Hydra, startHydra } from './hydra.ts'

setDefaultTimeout(1_800_000)

const secret = 'secret-of-the-client'
let hydra: Hydra
let service: IdentityService
let owner: string
let theirOwner: string
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  hydra = stack.use(await startHydra())
  service = stack.use(
    await startIdentityService({
      env: {
        SVC_UPSTREAM_ALLOW: '127.0.0.0/8',
        IDP_ISSUER_URL: hydra.url,
        ...{ IDP_CLIENT_ID: 'covenant', IDP_API_KEY: secret },
      },
    }),
  )
  hydra.people.set('ada', { org_id: 'org_acme', roles: ['steward'] })
  hydra.people.set('bob', { org_id: 'org_other', roles: [] })
  const acme = (await makeTenant(service.store, { name: 'acme', organizationId: 'org_acme' })).id
  const other = (await makeTenant(service.store, { name: 'other', organizationId: 'org_other' })).id
  for (const tenant of [acme, other]) await equipTenant(service.store, tenant, 'spark', service.catalog.url)
  owner = await session(service, acme, ['read', 'admin'], ['owner'], 'olga')
  theirOwner = await session(service, other, ['read', 'admin'], ['owner'], 'otto')
  const client = (id: string, redirect: string) => ({
    ...{ client_id: id, client_secret: secret, redirect_uris: [redirect], audience: ['covenant', 'another'] },
    ...{ grant_types: ['authorization_code', 'client_credentials'], response_types: ['code'] },
    scope: 'openid profile email',
  })
  await hydra.admin('POST', '/clients', client('covenant', new URL('/callback', service.app.url).href))
  for (const id of ['web', 'spark']) await hydra.admin('POST', '/clients', client(id, `${hydra.url}/done`))
  await trust({})
})
afterAll(() => stack.disposeAsync())

/** Trusts Hydra for access tokens, whose claims of a person are below `ext`. */
async function trust(members: object) {
  const body = {
    ...{ issuer: hydra.url, audience: 'covenant' },
    ...{ organization_claim: 'ext.org_id', roles_claim: 'ext.roles', ...members },
  }
  const { status } = await ask(service, 'PUT', '/api/v1/token-issuers/hydra', owner, body)
  expect(status).toBe(200)
}

async function tokenOf(client: string, form: Readonly<Record<string, string>>): Promise<string> {
  const response = await fetch(`${hydra.url}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${client}:${secret}`)}` },
    body: new URLSearchParams(form),
  })
  const { access_token: token } = (await response.json()) as { readonly access_token?: string }
  if (token === undefined) throw new Error(`Hydra answered ${response.status}`)
  return token
}

/** An access token of a person, by the authorization code flow of a client. */
async function personToken(person: string, client = 'web', audience = 'covenant another'): Promise<string> {
  hydra.person = person
  const browser = new Browser()
  const redirect = `${hydra.url}/done`
  const query = new URLSearchParams({
    ...{ client_id: client, response_type: 'code', redirect_uri: redirect, state: crypto.randomUUID() },
    ...{ scope: 'openid profile', audience },
  })
  let at = new URL(`${hydra.url}/oauth2/auth?${query}`)
  for (let step = 0; step < 10 && at.pathname !== '/done'; step++) {
    const response = await browser.request(at)
    at = new URL(response.headers.get('location') ?? '', at)
  }
  const code = at.searchParams.get('code') ?? ''
  return await tokenOf(client, { grant_type: 'authorization_code', code, redirect_uri: redirect })
}
const clientToken = (client: string, audience = 'covenant') =>
  tokenOf(client, { grant_type: 'client_credentials', audience })

async function logIn(person: string) {
  hydra.person = person
  const browser = new Browser()
  expect((await browser.logIn(service.app.url, person)).status).toBe(302)
  return await (await browser.request(new URL('/api/v1/session', service.app.url))).json()
}
const refused = (user = 'ada') => [401, `28P01 password authentication failed for user "${user}"`, 401]

test('hydra: a login has the organization and the roles of the person', async () => {
  expect(await logIn('ada')).toMatchObject({ organization_id: 'org_acme', principal: { roles: ['steward'] } })
  expect(await logIn('bob')).toMatchObject({ organization_id: 'org_other', principal: { roles: [] } })
})

test('hydra: an access token with several audiences names a person on every surface, in the own tenant alone', async () => {
  const token = await personToken('ada')
  expect(decodeJwt(token)).toMatchObject({ aud: ['covenant', 'another'], client_id: 'web' })
  expect(await everywhere(service, token, owner)).toEqual([['ada', 'steward'], 'ada', 200])
  // The second tenant trusts no issuer, so the token names nobody there, and its session acts for itself.
  expect(await overHttp(service, token, theirOwner)).toEqual(['otto', 'owner'])
  expect(await overHttp(service, await personToken('bob'), theirOwner)).toEqual(['otto', 'owner'])
  // A token of a person of the second tenant does not open the first.
  expect(await everywhere(service, await personToken('bob'), owner, 'bob')).toEqual(refused('bob'))
  expect(await everywhere(service, await personToken('ada', 'web', 'another'), owner)).toEqual(refused())
})

test('hydra: tokens are taken from the clients that are listed, by client_id', async () => {
  await trust({ authorized_parties: ['web'] })
  try {
    expect(await overHttp(service, await personToken('ada'), owner)).toEqual(['ada', 'steward'])
    expect(await everywhere(service, await personToken('ada', 'spark'), owner)).toEqual(refused())
    expect(await overHttp(service, await clientToken('web'), owner)).toEqual(['web'])
    expect(await overHttp(service, await clientToken('spark'), owner)).toBe(401)
  } finally {
    await trust({})
  }
})

test('hydra: tokens of a new key, of another algorithm, are taken some seconds after it is made', async () => {
  const before = await personToken('ada')
  expect(await overHttp(service, before, owner)).toEqual(['ada', 'steward'])
  await hydra.admin('POST', '/keys/hydra.jwt.access-token', { alg: 'ES256', kid: 'next', use: 'sig' })
  const after = await personToken('ada')
  expect(decodeProtectedHeader(after)).toMatchObject({ alg: 'ES256' })
  setSystemTime(Date.now() + 6_000)
  try {
    expect(await everywhere(service, after, owner)).toEqual([['ada', 'steward'], 'ada', 200])
    expect(await overHttp(service, before, owner)).toEqual(['ada', 'steward'])
  } finally {
    setSystemTime()
  }
})
