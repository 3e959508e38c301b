/** The authorization server of /mcp before a real OpenID Connect provider, and every token that must be refused. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { accessTokenMs, codeMs } from '../../../src/auth/authorization/terms.ts'
import { sealTicket } from '../../../src/auth/authorization/tickets.ts'
import { putContract } from '../../../src/contract/put-contract.ts'
import { mcpScopes } from '../../../src/core/mcp-scope.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { tools } from '../../../src/server/mcp/tools.ts'
import { revokeBrowserSession } from '../../../src/store/session/browser-sessions.ts'
import { actorOf } from '../../support/actor.ts'
import { commitColumns } from '../../support/governed.ts'
import { call, type IdentityService, startIdentityService } from '../../support/identity.ts'
import { licenseForAll } from '../../support/license.ts'
import { connectMcp } from '../../support/mcp.ts'
import {
  authorizePathOf,
  type Changes,
  clientDocument,
  redirectUri,
  verifier,
} from '../../support/oauth-client.ts'
import {
  Browser,
  clientId,
  clientSecret,
  startProvider,
  type TestProvider,
} from '../../support/oidc-provider.ts'
import { makeTenant } from '../../support/spare-tenants.ts'

setDefaultTimeout(120_000)

let provider: TestProvider
let service: IdentityService
/** Serves the documents of clients. */
let documents: Bun.Server<undefined>
const served = new Map<string, () => Response>()
const clock = { ms: Date.now() }
let client: string
let acme: TenantId
beforeAll(async () => {
  documents = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1' },
    fetch: (request) => {
      const answer = served.get(new URL(request.url).pathname)
      return answer === undefined ? new Response('', { status: 404 }) : answer()
    },
  })
  client = new URL('/client.json', documents.url).href
  served.set('/client.json', () => Response.json(clientDocument(client)))
  provider = await startProvider()
  service = await startIdentityService({
    clock: { now: () => clock.ms },
    env: {
      IDP_ISSUER_URL: provider.issuer,
      IDP_CLIENT_ID: clientId,
      IDP_API_KEY: clientSecret,
      SVC_LICENSE: licenseForAll(),
      SVC_MCP_CLIENTS: 'fixed https://fixed.example/back,fixed cursor://anysphere.cursor-mcp/oauth/callback',
    },
  })
  provider.start(new URL('/callback', service.app.url).href)
  acme = (await makeTenant(service.store, { name: 'acme', organizationId: 'org_acme' })).id
  await makeTenant(service.store, { name: 'other', organizationId: 'org_other' })
  provider.accounts.set('ada', { claims: { org_id: 'org_acme', roles: 'steward' } })
  provider.accounts.set('adam', { claims: { org_id: 'org_acme', roles: 'administrator' } })
  provider.accounts.set('bob', { claims: { org_id: 'org_other' } })
}, 300_000)
afterAll(async () => {
  await service?.[Symbol.asyncDispose]()
  await provider?.[Symbol.asyncDispose]()
  await documents?.stop(true)
})

const resource = () => new URL('/mcp', service.app.url).href

const authorizePath = (change: Changes = {}) => authorizePathOf(client, resource(), change)

/** Signs in and answers the question. @returns where the browser is sent */
async function signIn(sub: string, change = {}, answer = 'allow'): Promise<URL> {
  const browser = new Browser()
  const page = await browser.logIn(service.app.url, sub, authorizePath(change))
  expect(page.status).toBe(200)
  const consent = /name="consent" value="([^"]+)"/.exec(await page.text())?.[1] ?? ''
  const back = await browser.request(new URL('/oauth/consent', service.app.url), {
    method: 'POST',
    headers: { origin: service.app.url.origin },
    body: new URLSearchParams({ consent, answer }),
  })
  expect(back.status).toBe(302)
  return new URL(back.headers.get('location') ?? '')
}

interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
  readonly scope: string
}

async function token(form: Readonly<Record<string, string>>) {
  const response = await fetch(new URL('/oauth/token', service.app.url), {
    method: 'POST',
    body: new URLSearchParams({ client_id: client, resource: resource(), ...form }),
  })
  return { status: response.status, body: (await response.json()) as Tokens & { readonly error?: string } }
}

async function tokens(sub: string, change = {}): Promise<Tokens> {
  const back = await signIn(sub, change)
  const code = back.searchParams.get('code') ?? ''
  const { status, body } = await token(codeForm(code))
  expect(status).toBe(200)
  return body
}

const codeForm = (code: string) => ({
  grant_type: 'authorization_code',
  code,
  redirect_uri: redirectUri,
  code_verifier: verifier,
})

async function status(access: string, tool?: string): Promise<number> {
  const message =
    tool === undefined
      ? { method: 'tools/list' }
      : { method: 'tools/call', params: { name: tool, arguments: {} } }
  const response = await call(service, 'POST', '/mcp', {
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${access}`,
    },
    body: { jsonrpc: '2.0', id: 1, ...message },
  })
  return response.status
}

describe('a client that knows the address alone', () => {
  test('is led by the 401 to the resource, to the server and to its endpoints', async () => {
    const refused = await call(service, 'POST', '/mcp', { body: {} })
    const metadata = /resource_metadata="([^"]+)", scope="mcp:read"/.exec(
      refused.headers.get('www-authenticate') ?? '',
    )
    const about = (await (await fetch(metadata?.[1] ?? '')).json()) as Record<string, unknown>
    expect(about).toMatchObject({ resource: resource(), authorization_servers: [service.app.url.origin] })
    expect(about.scopes_supported).not.toContain('offline_access')
    const server = await fetch(new URL('/.well-known/oauth-authorization-server', service.app.url))
    expect(await server.json()).toMatchObject({
      issuer: service.app.url.origin,
      code_challenge_methods_supported: ['S256'],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
    })
    const atRoot = await fetch(new URL('/.well-known/oauth-protected-resource', service.app.url))
    expect(await atRoot.json()).toEqual(about)
  })

  test('gets a code with its state and the issuer, and with it tokens that open the tools', async () => {
    const back = await signIn('ada')
    expect(`${back.origin}${back.pathname}`).toBe(redirectUri)
    expect([back.searchParams.get('state'), back.searchParams.get('iss')]).toEqual([
      'of-the-client',
      service.app.url.origin,
    ])
    const { body } = await token(codeForm(back.searchParams.get('code') ?? ''))
    expect(body).toMatchObject({
      token_type: 'Bearer',
      expires_in: accessTokenMs / 1_000,
      scope: 'mcp:read mcp:query',
    })
    for (const era of ['2026', '2025', 'earlier client'] as const) {
      await using connected = await connectMcp(era, service.app.url, body.access_token)
      expect((await connected.call('find_datasets')).structured).toMatchObject({ datasets: [] })
      expect(JSON.parse((await connected.call('query', { sql: 'select 1' })).text)).toHaveProperty(
        'error.code',
      )
    }
  })

  test('is shown to the person as what it is, without its markup', async () => {
    const page = await new Browser().logIn(service.app.url, 'ada', authorizePath())
    const html = await page.text()
    expect(html).toContain('A &lt;b&gt;client&lt;/b&gt;')
    expect(html).toContain('127.0.0.1:7777')
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(page.headers.getSetCookie().join()).not.toContain('__Host-svc_session')
  })

  test('gets access_denied where the person does not allow it, and no session stays', async () => {
    const back = await signIn('ada', {}, 'deny')
    expect([back.searchParams.get('error'), back.searchParams.get('code')]).toEqual(['access_denied', null])
  })
})

describe('a request to authorize is refused without a redirect', () => {
  test.each([
    ['another address', { redirect_uri: 'https://evil.example/' }],
    ['an address that begins like its own', { redirect_uri: 'http://127.0.0.1:7777/done/more' }],
    ['a script', { redirect_uri: 'javascript:alert(1)' }],
    ['no client', { client_id: 'nobody' }],
    ['a client on a private address', { client_id: 'https://10.0.0.1/client.json' }],
    ['a client by plain http', { client_id: 'http://client.example/client.json' }],
    ['a client with credentials in its address', { client_id: 'https://u:p@client.example/client.json' }],
    ['a client without a path', { client_id: 'https://client.example/' }],
  ])('for %s', async (_, change) => {
    const response = await call(service, 'GET', authorizePath(change))
    expect(response.status).toBe(400)
    expect(response.headers.get('location')).toBeNull()
  })

  test.each([
    ['another id', { client_id: 'http://127.0.0.1/other.json' }],
    ['a secret', { token_endpoint_auth_method: 'client_secret_basic' }],
    ['no address', { redirect_uris: [] }],
    ['a script as its address', { redirect_uris: ['javascript:alert(1)'] }],
    ['a redirect', () => Response.redirect('https://evil.example/', 302)],
    ['too much', () => new Response(`"${'x'.repeat(100_000)}"`)],
    ['no JSON', () => new Response('<html>')],
  ])('for a client whose document has %s', async (name, given) => {
    const path = `/${encodeURIComponent(name)}`
    const id = new URL(path, documents.url).href
    served.set(
      path,
      typeof given === 'function' ? given : () => Response.json({ ...clientDocument(id), ...given }),
    )
    expect((await call(service, 'GET', authorizePath({ client_id: id }))).status).toBe(400)
  })
})

test.each([
  ['another resource', { resource: 'https://other.example/mcp' }, 'invalid_target'],
  ['no resource', { resource: undefined }, 'invalid_target'],
  ['no challenge', { code_challenge: undefined }, 'invalid_request'],
  ['a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
  ['a token at once', { response_type: 'token' }, 'unsupported_response_type'],
  ['a scope that is none', { scope: 'admin' }, 'invalid_scope'],
])('a request for %s is sent back with its error and the issuer', async (_, change, error) => {
  const response = await call(service, 'GET', authorizePath(change))
  const back = new URL(response.headers.get('location') ?? '')
  expect([`${back.origin}${back.pathname}`, back.searchParams.get('error')]).toEqual([redirectUri, error])
  expect(back.searchParams.get('iss')).toBe(service.app.url.origin)
})

test('a client of the setting is sent to its own addresses, also those of an application', async () => {
  for (const address of ['https://fixed.example/back', 'cursor://anysphere.cursor-mcp/oauth/callback']) {
    const back = await signIn('ada', { client_id: 'fixed', redirect_uri: address })
    expect(back.href.startsWith(address)).toBe(true)
  }
})

test('on loopback the port is the application’s to choose', async () => {
  const back = await signIn('ada', { redirect_uri: 'http://127.0.0.1:50123/done' })
  expect(back.port).toBe('50123')
})

describe('a code', () => {
  test.each([
    ['another verifier', { code_verifier: randomBytes(32).toString('base64url') }],
    ['another client', { client_id: 'fixed' }],
    ['another address', { redirect_uri: 'http://127.0.0.1:7777/other' }],
    ['another resource', { resource: 'https://other.example/mcp' }],
  ])('with %s is refused', async (_, change) => {
    const code = (await signIn('ada')).searchParams.get('code') ?? ''
    expect((await token({ ...codeForm(code), ...change })).status).toBe(400)
  })

  test('that was used is refused, and ends what it gave', async () => {
    const code = (await signIn('ada')).searchParams.get('code') ?? ''
    const { body } = await token(codeForm(code))
    expect(await status(body.access_token)).toBe(200)
    expect((await token(codeForm(code))).body.error).toBe('invalid_grant')
    expect(await status(body.access_token)).toBe(401)
  })

  test('expires', async () => {
    const code = (await signIn('ada')).searchParams.get('code') ?? ''
    clock.ms += codeMs
    expect((await token(codeForm(code))).body.error).toBe('invalid_grant')
  })
})

test('the page of consent says what each scope lets a client do, also about access', async () => {
  const scope = 'mcp:read mcp:query mcp:propose'
  const page = await new Browser().logIn(service.app.url, 'adam', authorizePath({ scope }))
  const meanings = [...(await page.text()).matchAll(/<li>(.*?)<\/li>/g)].map(([, meaning]) => meaning)
  expect(meanings).toEqual([
    'find tables, read their contracts and lineage, list your access and your requests for it',
    'run queries as you, under your masks and filters',
    'add drafts of contracts and ask for access to hidden data, in your name',
  ])
})

test('a consent of another site’s page, and one that was answered, are refused', async () => {
  const browser = new Browser()
  const page = await (await browser.logIn(service.app.url, 'ada', authorizePath())).text()
  const consent = /name="consent" value="([^"]+)"/.exec(page)?.[1] ?? ''
  const answer = async (origin: string) =>
    (
      await browser.request(new URL('/oauth/consent', service.app.url), {
        ...{ method: 'POST', headers: { origin } },
        body: new URLSearchParams({ consent, answer: 'allow' }),
      })
    ).status
  expect(await answer('https://evil.example')).toBe(403)
  expect(await answer(service.app.url.origin)).toBe(302)
  expect(await answer(service.app.url.origin)).toBe(400)
})

describe('a refresh token', () => {
  const refresh = (ticket: string, more = {}) =>
    token({ grant_type: 'refresh_token', refresh_token: ticket, ...more })

  test('gives new tokens, of fewer scopes where the client asks', async () => {
    const first = await tokens('ada')
    const { body } = await refresh(first.refresh_token, { scope: 'mcp:read' })
    expect(body.scope).toBe('mcp:read')
    expect([await status(body.access_token), await status(body.access_token, 'query')]).toEqual([200, 403])
    expect((await refresh(body.refresh_token)).body.scope).toBe('mcp:read mcp:query')
  })

  test('is not widened', async () => {
    const { refresh_token: ticket } = await tokens('adam', { scope: 'mcp:read' })
    expect((await refresh(ticket, { scope: 'mcp:read mcp:propose' })).body.error).toBe('invalid_scope')
  })

  test('that comes again ends the session of both', async () => {
    const { refresh_token: ticket } = await tokens('ada')
    const { body } = await refresh(ticket)
    expect((await refresh(ticket)).body.error).toBe('invalid_grant')
    expect(await status(body.access_token)).toBe(401)
  })

  test('of another client is refused', async () => {
    const { refresh_token: ticket } = await tokens('ada')
    expect((await refresh(ticket, { client_id: 'fixed' })).body.error).toBe('invalid_grant')
  })
})

describe('an access token', () => {
  test('that was sealed for another resource, changed, or for another purpose is 401', async () => {
    const given = await tokens('ada')
    const foreign = sealTicket(service.store, 'access', 'https://other.example/mcp', {
      ...{ secret: 'svc_web_x', clientId: client, scopes: ['mcp:read'] },
      expiresAtMs: clock.ms + 60_000,
    })
    for (const wrong of [foreign, `${given.access_token.slice(0, -4)}AAAA`, given.refresh_token])
      expect(await status(wrong)).toBe(401)
  })

  test('opens nothing but /mcp', async () => {
    const { access_token: access } = await tokens('adam', { scope: 'mcp:read mcp:query mcp:propose' })
    for (const [method, path] of [
      ['GET', '/api/v1/session'],
      ['GET', '/api/v1/contracts/tables'],
      ['GET', '/v1/iceberg/main/v1/config'],
    ] as const) {
      const response = await call(service, method, path, { headers: { authorization: `Bearer ${access}` } })
      expect([path, response.status]).toEqual([path, 401])
    }
  })

  test('is of the tenant of its person alone', async () => {
    const { store } = service
    const ref = { namespace: ['sales'], name: 'of_acme' }
    await commitColumns(store, acme, ref, { id: 'long' })
    const actor = actorOf('stella')
    await putContract({ store, tenant: acme, actor, checkPolicies }, ref, { id: 'of_acme', version: 1 })
    const found = async (sub: string) => {
      await using person = await connectMcp('2026', service.app.url, (await tokens(sub)).access_token)
      return (await person.call('find_datasets')).text.includes('of_acme')
    }
    expect([await found('ada'), await found('bob')]).toEqual([true, false])
    const headers = { authorization: `Bearer ${(await tokens('ada')).access_token}` }
    const both = await call(service, 'POST', '/mcp', { secret: service.owner.secret, headers, body: {} })
    expect(both.status).toBe(401)
  })

  test('opens the tools of its scopes alone', async () => {
    for (const scope of mcpScopes) {
      const { access_token: access } = await tokens('adam', { scope })
      const opened: string[] = []
      for (const { name } of tools) if ((await status(access, name)) !== 403) opened.push(name)
      expect(opened).toEqual(tools.filter((one) => one.scope === scope).map(({ name }) => name))
    }
  })

  test('has the scope to propose only where the person administers, whatever was asked for', async () => {
    const all = { scope: 'mcp:read mcp:query mcp:propose' }
    const [ada, adam] = [await tokens('ada', all), await tokens('adam', all)]
    expect(await status(ada.access_token, 'propose_contract_change')).toBe(403)
    expect(await status(adam.access_token, 'propose_contract_change')).toBe(200)
  })

  test('expires', async () => {
    const { access_token: access } = await tokens('ada')
    clock.ms += accessTokenMs
    expect(await status(access)).toBe(401)
  })

  test('ends with its session', async () => {
    const { access_token: access, refresh_token: ticket } = await tokens('ada')
    const [row] = await service.store.adminQuery<{ tenant_id: string; session_id: string }>(
      "select tenant_id, session_id from svc.browser_session where principal_sub = 'ada' order by created_at desc limit 1",
    )
    await revokeBrowserSession(service.store, row?.tenant_id as never, row?.session_id ?? '')
    expect(await status(access)).toBe(401)
    const { body } = await token({ grant_type: 'refresh_token', refresh_token: ticket })
    expect(body.error === undefined ? await status(body.access_token) : 401).toBe(401)
  })
})
