/** Who may call /mcp, from where, and with what bodies. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mcpBounds } from '../../../src/server/mcp/bounds.ts'
import { createServiceSession, revokeServiceSession } from '../../../src/store/session/sessions.ts'
import { call, type IdentityService, session, startIdentityService } from '../../support/identity.ts'
import { licenseForAll } from '../../support/license.ts'
import { connectMcp } from '../../support/mcp.ts'
import { prefix } from '../../support/service.ts'

setDefaultTimeout(120_000)

let service: IdentityService
let reader: string
beforeAll(async () => {
  service = await startIdentityService({ env: { SVC_LICENSE: licenseForAll() } })
  reader = await session(service, service.owner.tenant, ['read'])
}, 300_000)
afterAll(() => service[Symbol.asyncDispose]())

const listing = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const calling = (name: string, args: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args },
})

/** One message as a script sends it, in the form of 2025. */
async function post(body: unknown, headers: Readonly<Record<string, string>> = {}) {
  const all = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${reader}`,
    ...headers,
  }
  const response = await call(service, 'POST', '/mcp', { headers: all, body })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

describe('a caller', () => {
  test('is admitted by a service session, as a bearer or in its header', async () => {
    expect((await post(listing)).status).toBe(200)
    expect((await post(listing, { authorization: '', 'x-svc-session': reader })).status).toBe(200)
  })

  test('without a session is 401, in the same words for every credential that is none', async () => {
    const token = await accessToken()
    const answers = await Promise.all(
      ['', 'Bearer x', `Bearer svc_${'A'.repeat(43)}`, `Bearer ${token}`].map((authorization) =>
        post(listing, { authorization }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401])
    expect(new Set(answers.map(({ headers }) => headers.get('www-authenticate'))).size).toBe(1)
  })

  test('with an access token of the catalog is 401: that token is for another audience', async () => {
    const token = await accessToken()
    const rest = await call(service, 'GET', '/api/v1/session', {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(rest.status).toBe(200)
    expect((await post(listing, { authorization: `Bearer ${token}` })).status).toBe(401)
    expect((await post(listing, { authorization: `Bearer ${token}`, 'x-svc-session': reader })).status).toBe(
      401,
    )
  })

  test('with two different sessions is 401', async () => {
    expect((await post(listing, { 'x-svc-session': service.owner.secret })).status).toBe(401)
  })

  test('whose session was revoked is 401 from the next request on', async () => {
    const { id, secret } = await createServiceSession(service.store, service.owner.tenant, {
      name: 'gone',
      principal: { sub: 'service:gone', roles: [] },
      scopes: ['read'],
    })
    const authorization = `Bearer ${secret}`
    expect((await post(listing, { authorization })).status).toBe(200)
    await revokeServiceSession(service.store, service.owner.tenant, id)
    expect((await post(listing, { authorization })).status).toBe(401)
  })

  test('is refused by each client as unauthorized', async () => {
    for (const era of ['2026', '2025', 'earlier client'] as const) {
      const [outcome] = await Promise.allSettled([connectMcp(era, service.app.url, undefined)])
      expect(outcome?.status).toBe('rejected')
    }
  })
})

async function accessToken(): Promise<string> {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_secret: service.owner.secret,
  }).toString()
  const path = `/v1/iceberg/${prefix}/v1/oauth/tokens`
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const response = await call(service, 'POST', path, { headers, body })
  return ((await response.json()) as { access_token: string }).access_token
}

describe('a request', () => {
  test.each([
    ['origin', 'https://evil.example'],
    ['origin', 'null'],
    ['host', 'evil.example'],
    ['host', 'localhost.evil.example:80'],
  ])('with the %s %p is 403', async (name, value) => {
    expect((await post(listing, { [name]: value })).status).toBe(403)
  })

  test('from a page of the service itself is served', async () => {
    expect((await post(listing, { origin: service.app.url.origin })).status).toBe(200)
  })

  test('of several messages is 400', async () => {
    expect((await post([listing, listing])).status).toBe(400)
    expect((await post('[]')).status).toBe(400)
  })

  test.each([
    ['no JSON', '{'],
    ['a repeated key', '{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call"}'],
    ['a lone surrogate', '{"jsonrpc":"2.0","id":1,"method":"\\ud800"}'],
    ['too many levels', `${'['.repeat(200)}${']'.repeat(200)}`],
    ['a number', '1'],
    ['null', 'null'],
    ['nothing', ''],
  ])('with %s as its body is 400', async (_, body) => {
    expect((await post(body)).status).toBe(400)
  })

  test('with a body above its bound is 413', async () => {
    const large = JSON.stringify({ ...listing, params: { _meta: { x: 'x'.repeat(mcpBounds.bodyBytesMax) } } })
    expect((await post(large)).status).toBe(413)
  })

  test('that is no POST is 405', async () => {
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const response = await call(service, method, '/mcp', { secret: reader })
      expect(response.status).toBe(405)
    }
  })

  test('with __proto__ among its arguments changes nothing', async () => {
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_datasets","arguments":{"__proto__":{"limit":"canary"}}}}`
    const { status, text } = await post(body)
    expect(status).toBe(200)
    expect(text).not.toContain('canary')
    expect(({} as { limit?: string }).limit).toBeUndefined()
  })

  test('for a tool that there is not is an error of the protocol that repeats no name', async () => {
    const { text } = await post(calling('canary'))
    expect(text).toContain('-32602')
    expect(text).not.toContain('canary')
  })
})

test('the wrong arguments of a tool are an error that a model can act on', async () => {
  for (const args of [{ table: 1 }, {}, { table: 'x'.repeat(2_000) }, { table: 'a.b', other: true }]) {
    const { status, text } = await post(calling('explain_contract', args))
    expect(status).toBe(200)
    expect(text).toContain('\\"code\\":\\"bad_request\\"')
    expect(text).toContain('"isError":true')
  }
})
