/** Every API route refuses a session's secret together with a bearer of another session. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { sessionScopes } from '../../src/core/session.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { call, type IdentityService, session, startIdentityService } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'
import { addTenant, prefix } from '../support/service.ts'

setDefaultTimeout(300_000)

/** Says what the service could do, nothing of what it holds, and takes no credential. */
const withoutSession = ['GET /api/v1/openapi.json']
const roles = ['steward', 'administrator']

let service: IdentityService
let secret: string
/** Of a session beside `secret`'s, by whose it is. */
const bearers = new Map<string, string>()
let routes: readonly { readonly name: string; readonly method: string; readonly path: string }[]

beforeAll(async () => {
  // Licensed for everything, so that no refusal is the license's.
  service = await startIdentityService({ env: { SVC_LICENSE: licenseForAll() } })
  secret = await session(service, service.owner.tenant, sessionScopes, roles)
  const foreign = await addTenant(service.store, 'foreign', service.catalog.url)
  for (const [whose, tenant] of [
    ['the same tenant', service.owner.tenant],
    ['another tenant', foreign.tenant],
  ] as const) {
    const principal = { sub: 'another', roles }
    const other = await createServiceSession(service.store, tenant, {
      name: 'another',
      principal,
      scopes: sessionScopes,
    })
    const fields = { grant_type: 'client_credentials', client_id: other.id, client_secret: other.secret }
    const asked = { ...fields, scope: sessionScopes.join(' ') }
    const { status, body } = await service.app.issueToken(new URLSearchParams(asked), prefix, null)
    expect(status).toBe(200)
    bearers.set(whose, (JSON.parse(body) as { access_token: string }).access_token)
  }
  routes = service.app.routes
    .list()
    .map(({ method, path }) => ({
      name: `${method} ${path}`,
      method,
      path: path.replace('*', 'x').replaceAll(/:\w+/g, 'x'),
    }))
    .filter(({ name, path }) => path.startsWith('/api/v1/') && !withoutSession.includes(name))
})
afterAll(() => service[Symbol.asyncDispose]())

async function statuses(headers: Readonly<Record<string, string>>) {
  return await Promise.all(
    routes.map(async ({ name, method, path }) => {
      const body = method === 'GET' ? undefined : '{}'
      return { name, status: (await call(service, method, path, { secret, headers, body })).status }
    }),
  )
}

test.each(['the same tenant', 'another tenant'])(
  'a bearer of another session of %s is 401',
  async (whose) => {
    expect(routes.length).toBeGreaterThan(30)
    const authorization = `Bearer ${bearers.get(whose)}`
    expect((await statuses({ authorization })).filter(({ status }) => status !== 401)).toEqual([])
  },
)

test('each of the two credentials is taken where it comes alone', async () => {
  expect((await statuses({})).filter(({ status }) => status === 401)).toEqual([])
  const headers = { authorization: `Bearer ${bearers.get('the same tenant')}` }
  expect((await call(service, 'GET', '/api/v1/session', { headers })).status).toBe(200)
})
