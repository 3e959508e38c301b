/** Every route of the service, as the router lists them, refuses callers without access. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sessionScopes } from '../../src/core/session.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { call, type IdentityService, session, startIdentityService } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'
import { prefix } from '../support/service.ts'

/** What runs without a session. Webhooks have their signature, /login and /callback make sessions. */
const withoutSession = [
  'GET /healthz',
  'GET /livez',
  'GET /readyz',
  // The version, and links.
  'GET /',
  'GET /version',
  // What a link says, and how to ask for it.
  'GET /console/request',
  // Sends who is not signed in to the login.
  'GET /console/access/decision',
  // Pages of this version, which say nothing of what the service holds.
  'GET /docs',
  'GET /docs/style.css',
  'GET /docs/search',
  'GET /docs/*',
  'GET /api/docs',
  'GET /api/docs/start.js',
  'GET /api/docs/swagger-ui-bundle.js',
  'GET /api/docs/swagger-ui.css',
  // Says what the service could do, nothing of what it holds.
  'GET /api/v1/openapi.json',
  'GET /login',
  'GET /callback',
  'GET /logged-out',
  // Takes a token that the identity provider has signed.
  'POST /logout/back-channel',
  // What a client needs before it has a token.
  'GET /.well-known/oauth-protected-resource',
  'GET /.well-known/oauth-protected-resource/mcp',
  'GET /.well-known/oauth-authorization-server',
  // Public keys, by which anyone verifies a plan.
  'GET /.well-known/jwks.json',
  'GET /oauth/authorize',
  // Takes a sealed code or refresh token.
  'POST /oauth/token',
  // Takes a sealed question, from a page of the service alone.
  'POST /oauth/consent',
  'POST /webhooks/identity-provider',
  'POST /webhooks/billing',
  'POST /v1/webhooks/alpha',
]

/** What answers any tenant, about itself alone. */
const aboutOneself = [
  'GET /api/v1/session',
  'GET /api/v1/detection/runs',
  'GET /api/v1/lineage/refused',
  'GET /api/v1/lineage/runs',
  'GET /api/v1/lineage/jobs',
  'GET /api/v1/lineage/datasets',
  'GET /api/v1/detection/findings',
  'GET /api/v1/usage',
  'GET /api/v1/usage/export',
  'GET /api/v1/metrics',
  'GET /api/v1/glossary',
  'GET /api/v1/semantics/tables',
  'GET /api/v1/semantics/export',
  'GET /api/v1/contracts/tables',
  'GET /api/v1/checks/runs',
  'GET /api/v1/access/requests',
  'GET /api/v1/access/grants',
  // It says the same to every tenant.
  'GET /api/v1/contracts/document-extension',
]

/** Scopes that open a route, by how its path begins; the first that fits counts. */
const opening: readonly (readonly [start: string, scopes: readonly string[]])[] = [
  ['/v1/iceberg/', ['commit', 'read']],
  ['/v1/lineage', ['lineage']],
  ['/api/v1/lineage/namespaces', ['admin', 'read']],
  ['/api/v1/lineage/batch', ['lineage']],
  ['/api/v1/lineage/retirements', ['admin', 'read']],
  ['/api/v1/lineage/staleness', ['admin', 'read']],
  ['/api/v1/lineage/', ['read']],
  ['/api/v1/lineage', ['lineage']],
  ['/admin', ['admin']],
  ['/mcp', ['read']],
  ['/console/request', ['read']],
  ['/console/access/decision', ['read']],
  ['/graphql', ['read']],
  ['/api/v1/graphql/', ['admin', 'read']],
  ['/api/v1/sessions', ['admin']],
  ['/api/v1/retention', ['admin', 'read']],
  ['/api/v1/holds', ['admin', 'read']],
  ['/api/v1/policies', ['admin', 'read']],
  ['/api/v1/policy-replays', ['admin', 'read']],
  ['/api/v1/intents/', ['admin', 'read']],
  ['/api/v1/contracts/', ['admin', 'read']],
  ['/api/v1/checks/', ['admin', 'read']],
  ['/api/v1/access/', ['admin', 'read']],
  ['/api/v1/territory', ['admin', 'read']],
  ['/api/v1/credentials/denials', ['admin']],
  ['/api/v1/credentials/staged', ['admin']],
  ['/api/v1/webhooks', ['admin', 'read']],
  ['/api/v1/metrics/', ['admin', 'read']],
  ['/api/v1/tables/', ['commit']],
  ['/api/v1/transform/rules/', ['admin']],
  ['/api/v1/transform/scopes/', ['admin']],
  ['/api/v1/transform/reveals/', ['admin']],
  ['/api/v1/transform/subjects/', ['admin']],
  ['/api/v1/glossary/', ['admin', 'read']],
  ['/api/v1/semantics/', ['admin', 'read']],
  ['/api/v1/credentials/trusted-engines', ['admin']],
  ['/api/v1/workload-trusts', ['admin']],
  ['/api/v1/token-issuers', ['admin']],
  ['/api/v1/provisioning', ['admin']],
  ['/scim/', ['scim']],
  ['/api/v1/reconciliation-sources', ['admin', 'read']],
  ['/api/v1/detection/rescans', ['admin']],
  ['/api/v1/detection/classifiers', ['admin', 'read']],
  ['/api/v1/detection/findings/x/', ['admin']],
  ['/api/', ['read']],
]

let service: IdentityService
let calls: readonly { readonly name: string; readonly method: string; readonly path: string }[]
let foreign: string
const secrets = new Map<string, string>()

beforeAll(async () => {
  // Licensed for everything, so that no refusal is the license's.
  service = await startIdentityService({ env: { SVC_LICENSE: licenseForAll() } })
  const { id } = await createTenant(service.store, { name: 'foreign' })
  foreign = await session(service, id, sessionScopes)
  for (const [, scopes] of opening) {
    const others = sessionScopes.filter((scope) => !scopes.includes(scope))
    // The owner's, with every role: only the scope is missing.
    const roles = ['administrator', 'steward']
    secrets.set(scopes.join(), await session(service, service.owner.tenant, others, roles))
  }
  secrets.set('', await session(service, service.owner.tenant, [], ['administrator', 'steward']))
  calls = service.app.routes.list().flatMap(({ method, path }) => {
    const methods = method === 'ALL' ? ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] : [method]
    return methods.map((one) => ({ name: `${method} ${path}`, method: one, path: filled(path) }))
  })
}, 300_000)
afterAll(() => service[Symbol.asyncDispose]())

/** A path that names what the owner has. */
function filled(path: string): string {
  const rest = path.startsWith('/v1/iceberg') ? `${prefix}/namespaces/sales/tables/orders` : 'x'
  return path
    .replace('*', rest)
    .replaceAll(':tenant', service.owner.tenant)
    .replaceAll(':prefix', prefix)
    .replaceAll(/:\w+/g, 'x')
}

const guarded = () => calls.filter(({ name }) => !withoutSession.includes(name))

/** The text of a response; of a stream, which does not end, nothing. */
async function textOf(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return await response.text()
  await response.body?.cancel()
  return ''
}

async function statuses(secretOf: (path: string) => string | undefined) {
  const answers = await Promise.all(
    guarded().map(async ({ name, method, path }) => {
      const body = method === 'GET' || method === 'HEAD' ? undefined : '{}'
      const response = await call(service, method, path, { secret: secretOf(path), body })
      return { name, method, status: response.status, text: await textOf(response) }
    }),
  )
  return answers
}

/**
 * Routes that answered with another status than `refusals`. A route for every method may say first that a
 * method is none of its (docs/reference/lineage.md 2.1), but refuses those that are.
 */
function notRefused(
  answers: Awaited<ReturnType<typeof statuses>>,
  refusals: readonly number[],
): readonly string[] {
  const wrong = answers.filter(({ name, status }) => {
    const gated = status === 405 && name.startsWith('ALL ')
    return !gated && !refusals.includes(status)
  })
  const never = [...Map.groupBy(answers, ({ name }) => name)].filter(([, all]) =>
    all.every(({ status }) => status === 405),
  )
  return [...new Set([...wrong.map(({ name }) => name), ...never.map(([name]) => name)])]
}

describe('every route', () => {
  test('is one that this test knows how to call', () => {
    expect(calls.length).toBeGreaterThan(20)
    const unknown = guarded().filter(
      ({ path }) => !path.startsWith('/logout') && !opening.some(([start]) => path.startsWith(start)),
    )
    expect(unknown).toEqual([])
    expect(withoutSession.filter((name) => !calls.some((one) => one.name === name))).toEqual([])
  })

  test('but a few refuses an anonymous call before it looks at anything else', async () => {
    expect(notRefused(await statuses(() => undefined), [401, 403])).toEqual([])
  })

  test('but a few refuses a secret that is none', async () => {
    for (const secret of ['svc_', `svc_${'A'.repeat(43)}`, `svc_web_${'A'.repeat(43)}`, 'x'.repeat(10_000)]) {
      expect(notRefused(await statuses(() => secret), [401, 403])).toEqual([])
    }
  })

  test('refuses another tenant, or speaks of that tenant alone', async () => {
    for (const { name, status, text } of await statuses(() => foreign)) {
      const refused = status >= 400 && status < 500
      expect({ name, status, refused }).toEqual({ name, status, refused: !aboutOneself.includes(name) })
      expect(text).not.toContain(service.owner.tenant)
    }
  })

  test('refuses a session without its scope, and one without any', async () => {
    const narrow = (path: string) =>
      secrets.get((opening.find(([start]) => path.startsWith(start))?.[1] ?? []).join())
    for (const secretOf of [narrow, () => secrets.get('')])
      expect(notRefused(await statuses(secretOf), [403])).toEqual([])
  })
})

describe('every answer', () => {
  test('carries security headers, a request id and no trace of the program', async () => {
    const paths = [
      '/healthz',
      '/nothing',
      '/admin',
      '/v1/iceberg/main',
      '/login',
      '/callback?state=%00',
      '/%',
    ]
    for (const path of paths) {
      const response = await call(service, 'GET', path)
      const { headers } = response
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('x-frame-options')).toBe('DENY')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(headers.get('strict-transport-security')).toContain('max-age=')
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
      expect(headers.has('server') || headers.has('x-powered-by')).toBe(false)
      expect(await response.text()).not.toMatch(/\bat .*\.ts:|node_modules|src\//)
    }
  })

  test.each([
    ['POST', '/login', 'GET'],
    ['GET', '/logout', 'POST'],
    ['GET', '/webhooks/billing', 'POST'],
    ['POST', '/healthz/', 'GET'],
    ['PUT', '/api/v1/sessions', 'GET, POST'],
  ])('to %s %s is 405 and says what the route takes', async (method, path, allow) => {
    const response = await call(service, method, path)
    expect({ status: response.status, allow: response.headers.get('allow') }).toEqual({ status: 405, allow })
  })

  test('to a wrong method under /admin is 405 for those who may, 403 for the others', async () => {
    const status = async (secret?: string) =>
      (await call(service, 'DELETE', '/admin/tenants', { secret })).status
    expect([await status(service.operator), await status()]).toEqual([405, 403])
  })

  test.each([
    ['DELETE', '/admin/tenants', 'GET, POST'],
    ['POST', '/admin/tenants/x', 'GET'],
    ['GET', '/admin/tenants/x/suspend', 'POST'],
    ['DELETE', '/admin/tenants/', 'GET, POST'],
    ['GET', '/admin/tenants/x/catalogs/y', 'PUT, PATCH, DELETE'],
  ])('to %s %s says to those who may what the route takes', async (method, path, allow) => {
    const response = await call(service, method, path, { secret: service.operator })
    expect({ status: response.status, allow: response.headers.get('allow') }).toEqual({ status: 405, allow })
  })

  test('comes from the route of the path, however short the host’s name is', async () => {
    for (const host of ['a', 'svc', 'a:1']) {
      const inside = await call(service, 'GET', '/x/healthz', { headers: { host } })
      const admin = await call(service, 'GET', '/admin/tenants', { headers: { host } })
      expect({ host, inside: inside.status, admin: admin.status }).toEqual({ host, inside: 404, admin: 403 })
    }
  })

  test('to a request whose host is none is 400, an ErrorModel that shows nothing of the program', async () => {
    for (const host of ['', 'a b', '[', '%%', 'a:99999', 'u:p@svc', 'svc/admin/tenants?']) {
      const response = await call(service, 'GET', '/nothing', { headers: { host } })
      const { headers, status } = response
      expect({ host, status }).toEqual({ host, status: 400 })
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
      expect(await response.json()).toMatchObject({ error: { code: 400 } })
    }
  })

  test('to an unknown path is an ErrorModel', async () => {
    const response = await call(service, 'GET', '/nothing')
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error: { code: 404 } })
  })
})
