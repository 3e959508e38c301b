/** The OpenAPI document lists every route, and the responses of the routes match it. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createHmac, generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { appendSnapshot, firstSnapshotId } from '../../demo/commits.ts'
import { putTag } from '../../src/contract/put-tag.ts'
import { sessionScopes } from '../../src/core/session.ts'
import { limits } from '../../src/limits.ts'
import { checkPolicies } from '../../src/query/compile/protect/protect.ts'
import type { DescribedRoute } from '../../src/server/open-api.ts'
import type { DescribedOperation } from '../../src/server/rest/describe.ts'
import { openIntent } from '../../src/store/commit/commit-intents.ts'
import { appendEvent, lastEvent } from '../../src/store/event/events.ts'
import { keepMonths } from '../../src/store/history/months.ts'
import { receiveLineage } from '../../src/store/lineage/events.ts'
import { createBrowserSession } from '../../src/store/session/browser-sessions.ts'
import { findTenantByOrganization, type Tenant } from '../../src/store/tenant/tenants.ts'
import { actorOf } from '../support/actor.ts'
import { requestRun } from '../support/check-rows.ts'
import { intentOf } from '../support/commits.ts'
import { commitColumns } from '../support/governed.ts'
import { differences } from '../support/hand-kept.ts'
import {
  billingWebhookSecret,
  type CallOptions,
  call,
  type IdentityService,
  identityWebhookSecret,
  internalOrg,
  session,
  sign,
  startIdentityService,
} from '../support/identity.ts'
import { departures } from '../support/json-schema.ts'
import { licenseForAll } from '../support/license.ts'
import { receivedEvent } from '../support/lineage.ts'
import { commit } from '../support/service.ts'
import { quarantineSnapshot } from '../support/territory.ts'
import { leaveVended } from '../support/vended.ts'
import { exampleRecorder } from './recorded-examples.ts'

setDefaultTimeout(300_000)

/** What other specifications describe, and what only says that a method or path is none of ours. */
const leftOut = [
  'ALL /v1/iceberg/*',
  'ALL /mcp',
  'GET /graphql',
  'POST /graphql',
  'GET /api/v1/lineage/runs/*',
  // Aliases of POST /v1/lineage and its batches.
  'POST /api/v1/lineage',
  'POST /api/v1/lineage/batch',
  'ALL /admin',
  'ALL /admin/*',
  'GET /api/v1/openapi.json',
  // They cannot fail: see test/server/home.test.ts.
  'GET /',
  'GET /version',
  // See test/server/api-viewer.test.ts and test/server/documentation.
  'GET /docs',
  'GET /docs/style.css',
  'GET /docs/search',
  // A page for people: see test/server/request-page.test.ts.
  'GET /console/request',
  'GET /console/access/decision',
  'POST /console/access/decision',
  'POST /console/request',
  'GET /docs/*',
  'GET /api/docs',
  'GET /api/docs/start.js',
  'GET /api/docs/swagger-ui-bundle.js',
  'GET /api/docs/swagger-ui.css',
]

/** Whose success other tests hold against the document, or takes an identity provider (test/auth/login.test.ts). */
const seenElsewhere = [
  'GET /login',
  'GET /callback',
  // See test/auth/authorization.
  'GET /.well-known/oauth-protected-resource',
  'GET /.well-known/oauth-protected-resource/mcp',
  'GET /.well-known/oauth-authorization-server',
  'GET /oauth/authorize',
  'POST /oauth/consent',
  'POST /oauth/token',
  'POST /logout/provider',
  'POST /logout/back-channel',
  'POST /v1/lineage',
  // See test/lineage/receive-batch.test.ts.
  'POST /v1/lineage/batch',
  'GET /api/v1/lineage/graph',
  'GET /api/v1/lineage/refused',
  // See test/lineage/open-api.test.ts.
  'GET /api/v1/lineage/runs',
  'GET /api/v1/lineage/jobs',
  'GET /api/v1/lineage/datasets',
  'GET /api/v1/lineage/reach',
  'GET /api/v1/lineage/runs/:producer/:run_id',
  'GET /api/v1/detection/runs/:id',
  'POST /api/v1/detection/findings/:id/decisions',
  'POST /api/v1/detection/rescans',
  // See test/semantics.
  'POST /api/v1/metrics/query',
  'POST /api/v1/xmla/:catalog/explain',
  // See test/contract/reconcile.
  'POST /api/v1/checks/reconciliations',
  'POST /api/v1/checks/runs/:id/differences',
]

let service: IdentityService
let steward: string
let routes: readonly DescribedRoute[]
let document: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>
const succeeded = new Set<string>()
const examples = exampleRecorder()

beforeAll(async () => {
  const { privateKey } = generateKeyPairSync('ed25519')
  const keyFile = join(mkdtempSync(join(tmpdir(), 'audit-key-')), 'key.pem')
  writeFileSync(keyFile, privateKey.export({ format: 'pem', type: 'pkcs8' }))
  const env = { SVC_LICENSE: licenseForAll(), SVC_AUDIT_KEY_FILE: keyFile }
  service = await startIdentityService({ env })
  steward = await session(service, service.owner.tenant, sessionScopes, ['steward', 'administrator'])
  const snapshot = { snapshotId: firstSnapshotId, sequenceNumber: 1, timestampMs: Date.now() }
  expect((await commit(service, appendSnapshot(snapshot))).status).toBe(200)
  // SCIM describes itself at /scim/v2/Schemas: see test/server/scim.
  routes = service.app.routes
    .list()
    .filter(({ method, path }) => !leftOut.includes(`${method} ${path}`) && !path.startsWith('/scim/'))
  document = (
    (await (await call(service, 'GET', '/api/v1/openapi.json')).json()) as { paths: typeof document }
  ).paths
})
afterAll(() => {
  examples.write()
  return service[Symbol.asyncDispose]()
})

const operationOf = (method: string, path: string) =>
  document[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]

/** The route that a path is of: of several, the one that leaves least open. */
function routeOf(method: string, target: string): DescribedRoute {
  const given = target.split('?')[0]?.split('/') ?? []
  const fitting = routes.filter((route) => {
    const parts = route.path.split('/')
    const fits =
      parts.length === given.length && parts.every((part, i) => part.startsWith(':') || part === given[i])
    return fits && route.method === method
  })
  const [found] = fitting.toSorted((a, b) => a.path.split(':').length - b.path.split(':').length)
  if (found === undefined) throw new Error(`no route is ${method} ${target}`)
  return found
}

/** Calls a route; its answer must be one that the document names, and hold what that says. */
async function ask(method: string, target: string, options: CallOptions = {}) {
  const { path } = routeOf(method, target)
  const response = await call(service, method, target, options)
  const { status } = response
  // A stream does not end by itself.
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  const text = isStream ? '' : await response.text()
  if (isStream) await response.body?.cancel()
  const described = operationOf(method, path)?.responses[status]
  const at = `${method} ${path} ${status}`
  expect({ at, described: described !== undefined, text }).toEqual({ at, described: true, text })
  const media = response.headers.get('content-type')?.split(';')[0] ?? ''
  if (status < 300 && media !== 'application/json' && described?.content?.[media] !== undefined) {
    succeeded.add(`${method} ${path}`)
    return { status, body: {} }
  }
  const schema = described?.content?.['application/json']?.schema
  expect({ at, departures: schema === undefined ? text : departures(JSON.parse(text), schema) }).toEqual({
    at,
    departures: schema === undefined ? '' : [],
  })
  if (status < 300) {
    succeeded.add(`${method} ${path}`)
    examples.add(
      operationOf(method, path)?.operationId ?? '',
      options.body,
      text === '' ? undefined : JSON.parse(text),
    )
  }
  return { status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) }
}

/** As `ask`, where it must succeed; a body that it takes must be what the document says. */
async function succeed(method: string, target: string, options: CallOptions) {
  const { path } = routeOf(method, target)
  const wanted = operationOf(method, path)?.requestBody?.content?.['application/json']?.schema
  if (typeof options.body === 'object' && wanted !== undefined)
    expect(departures(options.body, wanted)).toEqual([])
  const { status, body } = await ask(method, target, options)
  expect({ at: `${method} ${target}`, status, body, ok: status < 300 }).toMatchObject({ ok: true })
  return body
}

test('describes every route: what it is for, its places, and answers that succeed and that fail', () => {
  const all = service.app.routes.list().map(({ method, path }) => `${method} ${path}`)
  expect(leftOut.filter((name) => !all.includes(name))).toEqual([])
  expect(routes.length).toBeGreaterThan(45)
  for (const { method, path } of routes) {
    const operation = operationOf(method, path)
    const statuses = Object.keys(operation?.responses ?? {}).map(Number)
    expect({ path, operation }).toMatchObject({
      operation: { summary: expect.stringMatching(/^[A-Z]/), tags: [expect.any(String)] },
    })
    // A 204 beside a 200 is an answer that has nothing to say.
    const isSaid = (status: number) => status < 400 && !(status === 204 && statuses.includes(200))
    expect([path, statuses.filter(isSaid).length]).toEqual([path, 1])
    expect([path, statuses.some((status) => status >= 400)]).toEqual([path, true])
    for (const status of statuses.filter((one) => one >= 400))
      expect(operation?.responses[status]?.content?.['application/json']).toBeDefined()
    const places = (operation?.parameters ?? []).filter((one) => one.in === 'path').map(({ name }) => name)
    expect(places).toEqual([...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name))
  }
})

test('names each operation once', () => {
  const names = Object.values(document).flatMap((place) => Object.values(place).map((one) => one.operationId))
  expect(names.toSorted()).toEqual([...new Set(names)].toSorted())
})

test('says of each operation what it does, and who may call it', () => {
  for (const place of Object.values(document))
    for (const { operationId, description } of Object.values(place))
      expect([operationId, description]).toEqual([
        operationId,
        expect.stringMatching(
          /(It needs (a session with the scope|no session)|Sessions of|It is for a browser).*\.$/s,
        ),
      ])
})

test('has an example of each body that an operation takes and answers, and each is what the schema says', () => {
  const missed: string[] = []
  const wrong: object[] = []
  const checked: string[] = []
  for (const { operationId, requestBody, responses } of Object.values(document).flatMap((place) =>
    Object.values(place),
  )) {
    const success = Object.entries(responses).find(([status]) => Number(status) < 300)?.[1]
    for (const content of [requestBody?.content, success?.content]) {
      const { schema, example } = content?.['application/json'] ?? {}
      if (schema === undefined) continue
      if (example === undefined) missed.push(operationId)
      else if (departures(example, schema).length > 0) wrong.push([operationId, departures(example, schema)])
      checked.push(operationId)
    }
  }
  expect({ missed, wrong }).toEqual({ missed: [], wrong: [] })
  expect(checked.length).toBeGreaterThan(300)
})

test('shows no secret in an example', () => {
  expect(JSON.stringify(document)).not.toMatch(/svc_[a-z]+_[A-Za-z0-9_-]{20}|127\.0\.0\.1:\d|\/tmp\//)
})

test('keeps what a route says of its parameters, also where its path has some', () => {
  const run = operationOf('GET', '/api/v1/lineage/runs/:producer/:run_id')
  expect(run?.parameters?.map(({ name }) => name)).toEqual(['producer', 'run_id', 'limit', 'page_token'])
  expect(run?.parameters?.[1]?.schema).toMatchObject({ format: 'uuid' })
})

test('says of a route that it needs no session where it answers without one', async () => {
  for (const { method, path } of routes) {
    const response = await call(service, method, path.replaceAll(/:\w+/g, 'x'))
    await response.body?.cancel()
    // Webhooks are refused for their signature, and /logout has a cookie to end.
    const open = /^(\/v1)?\/webhooks\//.test(path) || ![401, 403].includes(response.status)
    expect([method, path, operationOf(method, path)?.security]).toEqual([method, path, open ? [] : undefined])
  }
})

test('names each refusal: of strangers, of scopes, roles and names, of bodies that are malformed or too large', async () => {
  const narrow = await session(service, service.owner.tenant, ['lineage'])
  const reader = await session(service, service.owner.tenant, ['read', 'admin'])
  const large = 'x'.repeat(limits.apiBodyBytesMax + 1)
  for (const { method, path } of routes) {
    const target = path.replaceAll(/:\w+/g, 'x')
    const named = path.replace(':tenant', service.owner.tenant).replaceAll(/:\w+/g, 'x')
    const secret = path.startsWith('/admin') ? service.operator : steward
    await ask(method, target)
    for (const one of [narrow, reader, secret]) await ask(method, target, { secret: one })
    await ask(method, `${named}?limit=0&page_token=x&kind=x&by=x`, { secret })
    if (method === 'GET') continue
    for (const body of ['{', '[]', '{}', '{"unknown":1}', large]) await ask(method, named, { secret, body })
  }
})

test('says what administration answers', async () => {
  const as = { secret: service.operator }
  const tenants = '/admin/tenants'
  const organization_id = 'org_documented'
  const { id } = await succeed('POST', tenants, { ...as, body: { name: 'new', organization_id } })
  expect((await ask('POST', tenants, { ...as, body: { name: 'new', organization_id } })).status).toBe(409)
  const one = `${tenants}/${id}`
  await succeed('GET', `${tenants}?limit=1`, as)
  await succeed('GET', tenants, as)
  for (const path of [`${one}/suspend`, `${one}/resume`]) await succeed('POST', path, as)
  await succeed('GET', one, as)
  const config = { warehouse: 'w', credential: 'a:b' }
  const body = { catalog_kind: 'alpha', endpoint: 'https://catalog.example', config_json: config }
  await succeed('PUT', `${one}/catalogs/lake`, { ...as, body })
  await succeed('PATCH', `${one}/catalogs/lake`, { ...as, body: { config_json: { credential: null } } })
  await succeed('GET', `${one}/catalogs`, as)
  const stub = { ...body, catalog_kind: 'gamma' }
  expect((await ask('PUT', `${one}/catalogs/lake`, { ...as, body: stub })).status).toBe(422)
  const away = { catalog_kind: 'alpha', endpoint: 'http://127.0.0.1:1', config_json: {} }
  await succeed('POST', `${one}/catalogs/lake/try`, { ...as, body: away })
  await succeed('DELETE', `${one}/catalogs/lake`, as)
  const minted = { name: 'spark', sub: 'etl', roles: ['r'], scopes: ['commit'] }
  const expires_at = new Date(Date.now() + 86_400_000).toISOString()
  const made = await succeed('POST', `${one}/sessions`, { ...as, body: { ...minted, sub: 's', expires_at } })
  await succeed('POST', `${one}/sessions/${made.id}/secret`, as)
  await succeed('DELETE', `${one}/sessions/${made.id}`, as)
  await succeed('GET', `${one}/sessions`, as)
  await succeed('GET', `${one}/administration`, as)
  await succeed('GET', '/admin/license', as)
  await succeed('GET', `${one}/keys`, as)
  await succeed('POST', '/admin/keys/token-signing/turns', as)
  await service.store.adminQuery(`delete from svc.derivation_root where purpose = 'plans-next'`)
  await succeed('POST', '/admin/keys/plan-signing/turns', as)
  await succeed('GET', '/admin/keys', as)
})

test('says what ends a tenant', async () => {
  const as = { secret: service.operator }
  const { id } = await succeed('POST', '/admin/tenants', { ...as, body: { name: 'ends' } })
  const one = `/admin/tenants/${id}`
  await succeed('GET', `${one}/export/administration`, as)
  const internal = await findTenantByOrganization(service.store, internalOrg)
  const other = await session(service, (internal as Tenant).id, ['admin'], [], 'another')
  await succeed('POST', `${one}/removal`, { ...as, body: { wait_days: 30 } })
  expect((await ask('POST', `${one}/removal`, as)).status).toBe(409)
  expect((await ask('POST', `${one}/removal/confirm`, as)).status).toBe(403)
  await succeed('POST', `${one}/removal/confirm`, { secret: other })
  expect((await ask('POST', `${one}/resume`, as)).status).toBe(409)
  await succeed('GET', '/admin/removals', as)
  await succeed('POST', `${one}/removal/withdraw`, as)
})

test('says what a tenant’s own administrator is answered, and who ends a session', async () => {
  const as = { secret: steward }
  await succeed('GET', '/api/v1/session', as)
  const { id } = await succeed('POST', '/api/v1/sessions', { ...as, body: { name: 'x', scopes: ['read'] } })
  await succeed('GET', '/api/v1/sessions', as)
  await succeed('POST', `/api/v1/sessions/${id}/secret`, as)
  await succeed('DELETE', `/api/v1/sessions/${id}`, as)
  const { store, owner } = service
  const principal = { sub: 'ann', roles: [] }
  const browser = { principal, scopes: ['read'] as const, providerSid: undefined }
  const secret = await createBrowserSession(store, owner.tenant, browser, undefined)
  await succeed('GET', '/api/v1/sessions?kind=browser', as)
  const headers = { cookie: `__Host-svc_session=${secret}`, 'sec-fetch-site': 'same-origin' }
  await succeed('POST', '/logout', { headers })
  await succeed('GET', '/api/v1/sessions?kind=browser', as)
  await succeed('GET', '/api/v1/administration', as)
})

test('says what the territory answers', async () => {
  const table = { catalog: 'main', table: { namespace: ['sales'], name: 'orders' } }
  for (const [root, secret] of [
    ['/api/v1/territory', steward],
    [`/admin/tenants/${service.owner.tenant}/territory`, service.operator],
  ] as const) {
    const as = { secret }
    const { store, owner } = service
    await succeed('PUT', `${root}/mode`, { ...as, body: { mode: 'observe' } })
    await succeed('PUT', `${root}/manifests`, { ...as, body: { mode: 'audit' } })
    await succeed('GET', root, as)
    const quarantined = `${root}/quarantine/${await quarantineSnapshot(store, owner.tenant)}`
    await succeed('GET', quarantined, as)
    await succeed('POST', `${quarantined}/release`, { ...as, body: { reason: 'agreed' } })
    await succeed('GET', `${root}/quarantine`, as)
    await succeed('POST', `${root}/grants`, { ...as, body: { ...table, prefix: 's3://lake/in/' } })
    const clone = { catalog: 'main', table: { namespace: ['sales'], name: 'clone' }, source: table }
    await succeed('POST', `${root}/derived`, { ...as, body: clone })
    await succeed('GET', `${root}/prefixes`, as)
    await succeed('POST', `${root}/derived/revoke`, { ...as, body: clone })
    await succeed('GET', `${root}/conflicts`, as)
    await succeed('POST', `${root}/releases`, { ...as, body: { ...table, prefix: 's3://lake/in/' } })
    const gone = { catalog: 'main', table: { namespace: ['sales'], name: 'gone' } }
    await succeed('POST', `${root}/grants`, { ...as, body: { ...gone, prefix: 's3://lake/gone/' } })
    await store.tenantQuery(
      owner.tenant,
      `update svc.territory set dropped_at = now() where table_name = 'gone'`,
    )
    await succeed('POST', `${root}/hand-overs`, { ...as, body: { from: gone, to: table, table_uuid: 'u' } })
    await succeed('POST', `${root}/releases`, { ...as, body: { ...table, prefix: 's3://lake/gone/' } })
  }
})

test('says what is answered about retention and legal holds', async () => {
  for (const [root, secret] of [
    ['/api/v1', steward],
    [`/admin/tenants/${service.owner.tenant}`, service.operator],
  ] as const) {
    const as = { secret }
    await succeed('PUT', `${root}/retention/usage`, { ...as, body: { keep_days: 400 } })
    await succeed('GET', `${root}/retention`, as)
    await succeed('DELETE', `${root}/retention/usage`, as)
    const table = { namespace: ['sales'], name: 'orders' }
    const { id } = await succeed('POST', `${root}/holds`, { ...as, body: { table, reason: 'case' } })
    await succeed('POST', `${root}/holds/${id}/release`, { ...as, body: { reason: 'closed' } })
    await succeed('GET', `${root}/holds`, as)
  }
  const as = { secret: service.operator }
  await succeed('PUT', '/admin/retention/usage', { ...as, body: { keep_days: 400 } })
  await succeed('GET', '/admin/retention', as)
  await keepMonths(service.store, new Date('2001-02-01'))
  await succeed('GET', '/admin/months/audit_log_2001_02/tenants', as)
  expect(await succeed('POST', '/admin/months/audit_log_2001_02/detach', as)).toMatchObject({
    items: [{ step: 'detached', rows: 0 }],
  })
  await succeed('POST', '/admin/months/audit_log_2001_02/verify', as)
  await succeed('GET', '/admin/months', as)
})

test('says what stored operations of GraphQL answer', async () => {
  const root = '/api/v1/graphql'
  const as = { secret: steward }
  const body = { document: '{ tables(first: 10) { totalCount } }' }
  const { sha256 } = await succeed('POST', `${root}/operations`, { ...as, body })
  await succeed('GET', `${root}/operations`, as)
  await succeed('DELETE', `${root}/operations/${sha256}`, as)
  await succeed('PUT', `${root}/settings`, { ...as, body: { stored_operations_only: false } })
  await succeed('GET', `${root}/settings`, as)
})

test('says what is answered about storage credentials', async () => {
  const { store, owner } = service
  for (const [root, secret] of [
    ['/api/v1', steward],
    [`/admin/tenants/${owner.tenant}`, service.operator],
  ] as const) {
    const as = { secret }
    const body = { name: 'x', scopes: ['read'] }
    const { id } = await succeed('POST', `${root}/sessions`, { ...as, body })
    const sessionId = String(id)
    await leaveVended(store, owner.tenant, sessionId, { access: 'write' })
    await succeed('GET', `${root}/credentials/out`, as)
    expect((await ask('POST', `${root}/credentials/denials`, { ...as, body: { session: id } })).status).toBe(
      409,
    )
    await succeed('PUT', `${root}/credentials/trusted-engines/${id}`, { ...as, body: { trusted: true } })
    await succeed('DELETE', `${root}/sessions/${id}`, as)
    await succeed('GET', `${root}/sessions`, as)
    const staged = await succeed('GET', `${root}/credentials/staged?session=${id}`, as)
    expect(staged.items).toHaveLength(1)
    await store.tenantQuery(owner.tenant, 'delete from svc.vended_credential')
    await succeed('POST', `${root}/credentials/denials`, { ...as, body: { session: id } })
  }
})

test('says what is answered about webhooks', async () => {
  const { store, owner } = service
  await store.tenantTransaction(owner.tenant, (tx) =>
    appendEvent(tx, { type: 'contract.moved', subject: 'people', data: {} }),
  )
  const sequence = await lastEvent(store, owner.tenant)
  for (const [root, secret] of [
    ['/api/v1', steward],
    [`/admin/tenants/${owner.tenant}`, service.operator],
  ] as const) {
    const as = { secret }
    const body = { name: 'w', url: 'https://127.0.0.1/w', types: ['*'] }
    const { id } = await succeed('POST', `${root}/webhooks`, { ...as, body })
    await succeed('GET', `${root}/webhooks`, as)
    await succeed('GET', `${root}/keys`, as)
    const range = { from: String(sequence), to: String(sequence) }
    await succeed('POST', `${root}/webhooks/${id}/replays`, { ...as, body: range })
    await succeed('PATCH', `${root}/webhooks/${id}`, { ...as, body: { enabled: false } })
    await succeed('GET', `${root}/webhooks/${id}`, as)
    await succeed('POST', `${root}/webhooks/${id}/secrets`, { ...as, body: {} })
    await succeed('GET', `${root}/webhooks/${id}/deliveries`, as)
    await succeed('GET', `${root}/webhooks/${id}/deliveries/${sequence}`, as)
    await succeed('DELETE', `${root}/webhooks/${id}`, as)
    const source = { host: '127.0.0.1', database: 'd', user: 'u', password: 'p' }
    const trust = { issuer: 'https://oidc.example', audience: 'a', subject: 's-*', scopes: ['commit'] }
    await succeed('PUT', `${root}/workload-trusts/spark`, { ...as, body: trust })
    await succeed('GET', `${root}/workload-trusts`, as)
    await succeed('DELETE', `${root}/workload-trusts/spark`, as)
    await succeed('PUT', `${root}/reconciliation-sources/crm`, { ...as, body: source })
    await succeed('GET', `${root}/reconciliation-sources`, as)
    await succeed('DELETE', `${root}/reconciliation-sources/crm`, as)
    await receiveLineage(store, owner.tenant, [receivedEvent({ inputs: ['taken'] })], true)
    const mapping = { namespace: 'trino://trino.example:8080', first_level: 'lake' }
    await succeed('PUT', `${root}/lineage/namespaces`, { ...as, body: { ...mapping, catalog: 'main' } })
    await succeed('GET', `${root}/lineage/namespaces`, as)
    await succeed('DELETE', `${root}/lineage/namespaces?${new URLSearchParams(mapping)}`, as)
    const taken = { dataset: { namespace: 's3://lake', name: 'taken' }, reason: 'wrong' }
    const retired = await succeed('POST', `${root}/lineage/retirements`, { ...as, body: taken })
    await succeed('GET', `${root}/lineage/retirements`, as)
    await succeed('DELETE', `${root}/lineage/retirements/${retired.id}`, as)
    await succeed('PUT', `${root}/lineage/staleness`, { ...as, body: { days: 30 } })
    await succeed('GET', `${root}/lineage/staleness`, as)
  }
})

test('says what proves the audit', async () => {
  const as = { secret: steward }
  expect((await ask('GET', '/api/v1/audit/checkpoint', as)).status).toBe(404)
  const { items } = await succeed('GET', '/api/v1/decisions', as)
  const [{ commit_id: commitId } = { commit_id: '' }] = items as { commit_id: string }[]
  expect((await ask('GET', `/api/v1/audit/proof?commit=${commitId}`, as)).status).toBe(409)
  await service.app.jobs.run('prove-audit')
  const { size } = await succeed('GET', '/api/v1/audit/checkpoint', as)
  const proven = await succeed('GET', `/api/v1/audit/proof?commit=${commitId}`, as)
  expect(String(proven.entry)).toContain(commitId)
  const root = '/api/v1/audit'
  expect((await ask('GET', `${root}/proof`, as)).status).toBe(400)
  expect((await ask('GET', `${root}/proof?index=0&commit=${commitId}`, as)).status).toBe(400)
  expect((await ask('GET', `${root}/proof?commit=${crypto.randomUUID()}`, as)).status).toBe(404)
  await succeed('GET', `${root}/consistency?from=1&to=${size}`, as)
  expect((await ask('GET', `${root}/consistency?from=1&to=1000000`, as)).status).toBe(404)
})

test('says what policies, decisions, refusals, intents and the graph answer', async () => {
  const tenant = `/admin/tenants/${service.owner.tenant}`
  const body = {
    table: { namespace: ['sales'], name: 'orders' },
    kind: 'schema',
    mode: 'warn',
    name: 'n',
    message: 'm',
    definition_cel: 'true',
  }
  for (const [root, secret] of [
    ['/api/v1', steward],
    [tenant, service.operator],
  ] as const) {
    const as = { secret }
    await succeed('PUT', `${root}/policies/p`, { ...as, body })
    expect(
      (await ask('PUT', `${root}/policies/p`, { ...as, body: { ...body, kind: 'retention' } })).status,
    ).toBe(409)
    expect(
      (await ask('PUT', `${root}/policies/p`, { ...as, body: { ...body, definition_cel: '1' } })).status,
    ).toBe(400)
    await succeed('GET', `${root}/policies`, as)
    await succeed('GET', `${root}/policies?namespace=sales&table=orders`, as)
    await succeed('GET', `${root}/policies/p`, as)
    expect((await ask('GET', `${root}/policies/none`, as)).status).toBe(404)
    await succeed('POST', `${root}/policies/check`, { ...as, body: { definition_cel: 'tru' } })
    await succeed('GET', `${root}/policies/p/history`, as)
    const { items } = await succeed('GET', `${root}/decisions?namespace=sales&table=orders`, as)
    await succeed('GET', `${root}/decisions?explain=true&principal=spark&policy=p`, as)
    await succeed('GET', `${root}/decisions/export`, as)
    const [{ commit_id: id } = { commit_id: '' }] = items as { commit_id: string }[]
    await succeed('GET', `${root}/decisions/${id}`, as)
    expect((await ask('GET', `${root}/decisions/none`, as)).status).toBe(404)
    await succeed('GET', `${root}/intents?namespace=sales&table=orders`, as)
    await succeed('GET', `${root}/refusals`, as)
    const { table, ...text } = body
    await succeed('PUT', `${root}/policies/p`, { ...as, body: { ...text, tag: 'pii' } })
    await succeed('POST', `${root}/policies/p/unbind`, { ...as, body: { tag: 'pii' } })
    for (const [scope, status] of [
      [{ tag: 'pii' }, 404],
      [{ table }, 409],
    ] as const)
      expect((await ask('POST', `${root}/policies/p/unbind`, { ...as, body: scope })).status).toBe(status)
    await succeed('DELETE', `${root}/policies/p`, as)
    const draft = { definition_cel: 'false', kind: 'write_acl', namespace: [] }
    if (root === '/api/v1') {
      const given = {
        table: body.table,
        columns: { id: 'long' },
        commit: { updates: [] },
        principal: { sub: 'x' },
      }
      const loop = 'table.schema.fields.all(f, f.name == "id" && f.none)'
      await succeed('POST', `${root}/policies/try`, { ...as, body: { definition_cel: loop, ...given } })
      await succeed('GET', `${root}/lineage/reads`, as)
      const unseen = { catalog: 'main', table: { namespace: ['no'], name: 'ne' }, principal: {} }
      expect((await ask('POST', `${root}/query/as-seen-by`, { ...as, body: unseen })).status).toBe(404)
    }
    const { id: replay } = await succeed('POST', `${root}/policy-replays`, { ...as, body: draft })
    await service.app.jobs.run('replay-policies')
    await succeed('GET', `${root}/policy-replays`, as)
    for (const path of ['', '/findings', '/findings?outcome=newly_denied', '/summary'])
      await succeed('GET', `${root}/policy-replays/${replay}${path}`, as)
    await succeed('POST', `${root}/policy-replays/${replay}/cancel`, as)
    expect((await ask('GET', `${root}/policy-replays/${crypto.randomUUID()}`, as)).status).toBe(404)
    expect((await ask('DELETE', `${root}/policies/p`, as)).status).toBe(404)
  }
  const as = { secret: service.operator }
  await succeed('GET', '/admin/intents', as)
  await succeed('GET', `${tenant}/graph/reach?label=Table&id=sales%1Forders`, as)
  await succeed('GET', `${tenant}/graph/match?query=${encodeURIComponent('MATCH (t:Table) RETURN t')}`, as)
  expect((await ask('GET', `${tenant}/graph/match?query=CREATE`, as)).status).toBe(400)
})

test('says what contracts, filters, masks, tags and pins answer', async () => {
  const as = { secret: steward }
  const root = '/api/v1/contracts'
  const table = `${root}/tables/sales/orders`
  const column = `${table}/columns/amount`
  const relationships = [{ from: 'orders.id', to: 'people.id' }]
  const properties = [{ name: 'id', description: 'key', primaryKey: true, primaryKeyPosition: 1 }]
  const contract = { id: 'c', version: 1, description: 'd', properties, relationships }
  await succeed('PUT', table, { ...as, body: contract })
  const expression = 'id > 1'
  for (const place of [table, column, `${root}/tags/t`])
    await succeed('PUT', `${place}/row-filters/f`, { ...as, body: { expression, exempt_roles: ['r'] } })
  await succeed('PUT', `${column}/tags/t`, as)
  await succeed('PUT', `${table}/tags/whole`, { ...as, body: { source: 'import', note: 'n' } })
  const admin = { secret: service.operator }
  const operated = table.replace('/api/v1', `/admin/tenants/${service.owner.tenant}`)
  await succeed('GET', `${table}/tags`, as)
  await succeed('GET', `${operated}/tags`, admin)
  await succeed('GET', `${root}/tag-history?tag=whole&namespace=sales&table=orders`, as)
  await succeed('GET', `/admin/tenants/${service.owner.tenant}/contracts/tag-history`, admin)
  expect((await ask('PUT', `${table}/tags/whole`, { ...as, body: { contract: 'c' } })).status).toBe(400)
  const unknown = { contract: 'c', contract_version: 1 }
  expect((await ask('PUT', `${table}/tags/whole`, { ...as, body: unknown })).status).toBe(422)
  await succeed('DELETE', `${table}/tags/whole`, as)
  await succeed('PUT', `${column}/masks/m`, { ...as, body: { action: 'replace-with-null' } })
  const masked = { action: 'apply-expression', expression: 'amount * 0' }
  await succeed('PUT', `${root}/tags/t/masks/m`, { ...as, body: masked })
  expect(
    (await ask('PUT', `${column}/row-filters/g`, { ...as, body: { expression: 'none > 1' } })).status,
  ).toBe(422)
  const pinned = { catalog: 'main', snapshot_id: String(firstSnapshotId) }
  await succeed('POST', `${table}/pin`, { ...as, body: pinned })
  for (const body of [
    { ...pinned, snapshot_id: '5' },
    { ...pinned, catalog: 'none' },
  ])
    await ask('POST', `${table}/pin`, { ...as, body })
  await succeed('GET', table, as)
  await succeed('GET', table, { secret: service.owner.secret })
  await succeed('GET', `${root}/tables`, { secret: service.owner.secret })
  for (const path of [`${table}/pins`, `${root}/changes`]) await succeed('GET', path, as)
  const inCatalog = `${root}/catalogs/main`
  for (const path of ['namespaces', 'namespaces/sales/tables', 'tables/sales/orders/proposal'])
    await succeed('GET', `${inCatalog}/${path}`, as)
  await succeed('PUT', `${root}/settings`, { ...as, body: { uncontracted: 'readable' } })
  await succeed('GET', `${root}/settings`, as)
  const classes = { items: [{ classification: 'restricted', tag: 'pii' }] }
  await succeed('PUT', `${root}/settings/classifications`, { ...as, body: classes })
  await succeed('GET', `${root}/settings/classifications`, as)

  const statement = 'select amount from sales.orders where id = $1'
  const explain = '/api/v1/query/explain'
  const principal = { sub: 'ann', roles: ['r'] }
  const target = { catalog: 'main', search_path: ['sales'] }
  const full = { statement, ...target, principal, parameters: [null] }
  await succeed('POST', explain, { ...as, body: full })
  const seen = {
    catalog: 'main',
    table: { namespace: ['sales'], name: 'orders' },
    principal: { roles: ['r'] },
  }
  await succeed('POST', '/api/v1/query/as-seen-by', { ...as, body: { ...seen, rows: 0 } })
  await succeed('GET', '/api/v1/query/readers?namespace=sales&table=orders', as)
  await succeed('GET', '/api/v1/query/readers/list?namespace=sales&table=orders&limit=3', as)
  const dialect = 'trino'
  expect((await ask('POST', explain, { ...as, body: { statement, dialect } })).status).toBe(409)
  expect((await ask('POST', explain, { ...as, body: { statement: 'select', dialect } })).status).toBe(400)
  expect((await ask('POST', explain, { ...as, body: { statement, catalog: 'none' } })).status).toBe(404)

  const graph = '/api/v1/graph/query'
  await succeed('POST', graph, {
    ...as,
    body: { query: 'MATCH (t:Table) RETURN t, t.name', parameters: { x: [1] } },
  })
  expect((await ask('POST', graph, { ...as, body: { query: 'MATCH (t) RETURN t' } })).status).toBe(400)

  await succeed('POST', `${table}/unpin`, as)
  expect((await ask('POST', `${table}/unpin`, as)).status).toBe(409)
  await succeed('POST', explain, {
    secret: service.owner.secret,
    body: { statement, dialect, parameters: ['1'] },
  })
  for (const path of [`${column}/masks/m`, `${root}/tags/t/masks/m`, `${column}/tags/t`, table])
    await succeed('DELETE', path, as)
  for (const place of [table, column, `${root}/tags/t`]) await succeed('DELETE', `${place}/row-filters/f`, as)
  const settlement = { outcome: 'not-made', reason: 'the table shows nothing of it' }
  for (const [start, who] of [
    ['/api/v1', as],
    [`/admin/tenants/${service.owner.tenant}`, { secret: service.operator }],
  ] as const) {
    const intent = intentOf()
    await openIntent(service.store, service.owner.tenant, intent, { leaseMs: 0, upstreamMs: 0 })
    const one = `${start}/intents/${intent.commitId}`
    for (const path of [`${start}/intents`, one]) await succeed('GET', path, who)
    const unplaced = { ...who, body: { ...settlement, outcome: 'made' } }
    expect((await ask('POST', `${one}/settle`, unplaced)).status).toBe(422)
    await succeed('POST', `${one}/settle`, { ...who, body: settlement })
    await succeed('POST', `${start}/intents/settle-proven`, { ...who, body: { reason: 'seen' } })
    expect((await ask('POST', `${one}/settle`, { ...who, body: settlement })).status).toBe(404)
  }
  const march = 'from=2026-03-01T00:00:00Z&to=2026-04-01T00:00:00Z'
  const reads = `usage/readers?namespace=sales&table=orders&${march}`
  for (const path of [
    'usage',
    'usage/export',
    reads,
    'usage/totals?by=day',
    'detection/runs',
    'detection/findings',
  ])
    await succeed('GET', `/api/v1/${path}`, as)
  const owner = { secret: await session(service, service.owner.tenant, ['admin'], ['owner']) }
  const trusted = { issuer: 'https://login.partner.example', audience: 'covenant' }
  await succeed('PUT', '/api/v1/token-issuers/partner', { ...owner, body: trusted })
  await succeed('GET', '/api/v1/token-issuers', owner)
  await succeed('DELETE', '/api/v1/token-issuers/partner', owner)
  const matched = { claim: 'sub', attribute: 'userName', roles_from: 'token' }
  await succeed('PUT', '/api/v1/provisioning', { ...owner, body: matched })
  await succeed('GET', '/api/v1/provisioning', owner)
  const classifiers = '/api/v1/detection/classifiers'
  const definition = { names: ['bsn'], values: [{ pattern: '[0-9]{9}', checks: [{ kind: 'luhn' }] }] }
  await succeed('POST', classifiers, { ...as, body: { name: 'nl_bsn', definition } })
  await succeed('PUT', `${classifiers}/nl_bsn`, { ...as, body: { definition } })
  const sample = { column: 'bsn', values: ['111222333'] }
  await succeed('POST', `${classifiers}/nl_bsn/try`, { ...as, body: sample })
  for (const verb of ['activate', 'deactivate'])
    await succeed('POST', `${classifiers}/nl_bsn/${verb}`, { ...as, body: {} })
  for (const one of ['', '/nl_bsn']) await succeed('GET', `${classifiers}${one}`, as)
  await succeed('DELETE', `${classifiers}/nl_bsn`, as)
})

test('says what the semantic layer answers', async () => {
  const as = { secret: steward }
  const table = { namespace: ['sales'], name: 'orders' }
  const model = { key: ['id'], time_dimension: 'placed', dimensions: [{ name: 'id' }] }
  const placed = { name: 'placed', kind: 'time', expression: "DATE '2026-01-01'" }
  const models = '/api/v1/semantics/tables'
  const dimensions = [...model.dimensions, placed]
  await succeed('PUT', `${models}/sales/orders`, { ...as, body: { ...model, dimensions } })
  expect((await ask('PUT', `${models}/sales/orders`, { ...as, body: model })).status).toBe(422)
  await succeed('PUT', '/api/v1/glossary/volume', { ...as, body: { definition: 'How many' } })
  for (const path of [`${models}/sales/orders`, models, '/api/v1/glossary/volume', '/api/v1/glossary'])
    await succeed('GET', path, as)
  await succeed('PUT', '/api/v1/glossary/spare', { ...as, body: { definition: 'Named by nothing' } })
  await succeed('DELETE', '/api/v1/glossary/spare', as)
  const metric = '/api/v1/metrics/volume'
  await succeed('PUT', metric, { ...as, body: { table, expression: 'count(id)', term: 'volume' } })
  const second = await session(service, service.owner.tenant, ['admin'], ['steward'], 'sam')
  await putTag(
    { store: service.store, tenant: service.owner.tenant, actor: actorOf('x'), checkPolicies },
    table,
    'id',
    'person',
  )
  const attested = {
    tags: ['person'],
    reason: 'counts',
    evidence: 'review',
    valid_until: new Date(Date.now() + 60_000).toISOString(),
  }
  const { id } = await succeed('POST', `${metric}/attestations`, { secret: second, body: attested })
  for (const path of [metric, '/api/v1/metrics', `${metric}/versions`, `${metric}/attestations`])
    await succeed('GET', path, as)
  await succeed('GET', '/api/v1/xmla/main/cubes', as)
  await succeed('GET', '/api/v1/xmla/main/connection.odc', as)
  const { document } = await succeed('GET', '/api/v1/semantics/export', as)
  const imported = { body: { format: 'ossie', document: JSON.stringify(document), dry_run: true } }
  await succeed('POST', '/api/v1/semantics/imports', { ...as, ...imported })
  const root = `/admin/tenants/${service.owner.tenant}/semantics`
  await succeed('GET', `${root}/export`, { secret: service.operator })
  await succeed('POST', `${root}/imports`, { secret: service.operator, ...imported })
  const end = { secret: second, body: { reason: 'over' } }
  await succeed('POST', `${metric}/attestations/${id}/end`, end)
  expect((await ask('POST', `${metric}/attestations/${id}/end`, end)).status).toBe(404)
  await succeed('POST', `${metric}/versions/1/move`, { ...as, body: { to: 'deprecated' } })
  const query = { ...as, body: { catalog: 'main', metrics: ['nothing'] } }
  expect((await ask('POST', '/api/v1/metrics/query', query)).status).toBe(400)
})

test('says what contract documents answer', async () => {
  const as = { secret: steward }
  const path = '/api/v1/contracts/documents/d'
  const body = 'apiVersion: v3.2.0\nkind: DataContract\nid: d\nversion: 1.0.0\n'
  const yaml = { 'content-type': 'application/yaml' }
  const { sha256 } = await succeed('PUT', path, { ...as, body, headers: yaml })
  expect((await ask('PUT', path, { ...as, body: `${body}id: d\n`, headers: yaml })).status).toBe(422)
  const accept = (type: string) => ({ ...as, headers: { accept: type } })
  await succeed('GET', path, accept('application/json'))
  expect((await ask('GET', path, accept('text/html'))).status).toBe(406)
  const headers = { 'content-type': 'application/json-patch+json', 'if-match': `"${sha256}"` }
  const patch = { ...as, headers, body: [{ op: 'replace', path: '/version', value: '1.0.1' }] }
  await succeed('PATCH', path, patch)
  expect((await ask('PATCH', path, patch)).status).toBe(409)
  await succeed('POST', `${path}/compare`, { ...as, body, headers: yaml })
  await succeed('DELETE', path, as)
  const inForce = await succeed('GET', '/api/v1/contracts/in-force?contract=d', as)
  expect(inForce.items).toMatchObject([{ number: 1 }, { number: 2 }])
  await succeed('GET', '/api/v1/contracts/document-extension', as)
})

test('says what check runs answer', async () => {
  const { store, owner, operator } = service
  for (const [root, secret] of [
    ['/api/v1/checks/runs', steward],
    [`/admin/tenants/${owner.tenant}/checks/runs`, operator],
  ] as const) {
    const as = { secret }
    const run = `${root}/${await requestRun(store, owner.tenant)}`
    await succeed('GET', root, as)
    await succeed('POST', `${run}/cancel`, as)
    expect((await ask('POST', `${run}/cancel`, as)).status).toBe(409)
    await succeed('GET', run, as)
    await succeed('POST', `${run}/resume`, as)
  }
  const as = { secret: steward }
  const runs = '/api/v1/checks/runs'
  const sales = { namespace: ['sales'], table: 'orders' }
  expect((await ask('POST', runs, { ...as, body: { contract: 'no', ...sales } })).status).toBe(404)
  const body = [
    'apiVersion: v3.2.0\nkind: DataContract\nid: checked\nversion: 1.0.0\nschema:\n- name: t\n  customProperties:',
    '  - {property: covenant, vendor: covenant, value: {table: {namespace: [sales], name: orders}}}',
    '  quality: [{id: tool, type: custom, engine: soda, implementation: x}]\n',
  ].join('\n')
  const checked = '/api/v1/contracts/documents/checked'
  await succeed('PUT', checked, { ...as, body, headers: { 'content-type': 'application/yaml' } })
  await succeed('POST', runs, { ...as, body: { contract: 'checked', ...sales, catalog: 'main' } })
  const results = [{ check: 'tool', outcome: 'passed' }]
  await succeed('POST', '/api/v1/checks/results', {
    ...as,
    body: { contract: 'checked', ...sales, catalog: 'main', results },
  })
  await succeed('DELETE', checked, as)
  await succeed('GET', '/api/v1/checks/results?namespace=sales&table=orders', as)
})

test('says what access that is asked for and granted answers', async () => {
  const { store, owner } = service
  const named = { namespace: ['documented'], name: 'asked' }
  const tables = '/api/v1/contracts/tables/documented/asked'
  const as = { secret: steward }
  await commitColumns(store, owner.tenant, named, { id: 'long', email: 'string' })
  expect((await ask('PUT', tables, { ...as, body: { id: 'asked', version: 1 } })).status).toBe(204)
  const mask = { ...as, body: { action: 'replace-with-null' } }
  expect((await ask('PUT', `${tables}/columns/email/masks/hide`, mask)).status).toBe(204)
  const reader = { secret: await session(service, owner.tenant, ['read'], ['analyst'], 'ann') }
  const path = '/api/v1/access'
  const wanted = {
    namespace: ['documented'],
    table: 'asked',
    purpose: 'Refund of order 4711',
    seconds: 7_200,
  }
  const { id, sha256 } = await succeed('POST', `${path}/requests`, { ...reader, body: wanted })
  await succeed('GET', `${path}/requests`, reader)
  await succeed('GET', `${path}/requests/${id}`, as)
  const decision = { approves: true, sha256, comment: 'fine' }
  expect((await ask('POST', `${path}/requests/${id}/decisions`, { ...reader, body: decision })).status).toBe(
    403,
  )
  const decided = await succeed('POST', `${path}/requests/${id}/decisions`, { ...as, body: decision })
  const grant = decided.grant as { id: string }
  await succeed('GET', `${path}/grants`, reader)
  await succeed('POST', `${path}/grants/${grant.id}/revocation`, { ...reader, body: { reason: 'Done' } })
  const other = await succeed('POST', `${path}/requests`, { ...reader, body: wanted })
  await succeed('POST', `${path}/requests/${other.id}/withdrawal`, reader)
})

test('says what versions of contracts and their life cycle answer', async () => {
  const as = { secret: steward }
  const path = '/api/v1/contracts/documents/lived'
  const yaml = { 'content-type': 'application/yaml' }
  const body = [
    'apiVersion: v3.2.0\nkind: DataContract\nid: lived\nversion: 1.0.0\nschema:\n- name: t\n  customProperties:',
    '  - {property: covenant, vendor: covenant, value: {table: {namespace: [documented], name: t}}}\n',
  ].join('\n')
  await succeed('PUT', '/api/v1/contracts/life-cycle-settings', { ...as, body: { deploy_unverified: true } })
  await succeed('GET', '/api/v1/contracts/life-cycle-settings', as)
  await succeed('POST', `${path}/versions`, { ...as, body, headers: yaml })
  const one = `${path}/versions/1`
  const { sha256 } = await succeed('POST', `${one}/moves`, { ...as, body: { move: 'propose' } })
  expect((await ask('POST', `${one}/moves`, { ...as, body: { move: 'deploy' } })).status).toBe(409)
  expect((await ask('POST', `${one}/sign-offs`, { ...as, body: { sha256 } })).status).toBe(403)
  const secret = await session(service, service.owner.tenant, sessionScopes, ['steward'], 'another')
  await succeed('POST', `${one}/sign-offs`, { secret, body: { sha256, comment: 'fine' } })
  await succeed('POST', `${one}/moves`, { ...as, body: { move: 'deploy' } })
  for (const place of [`${path}/versions`, one, `${path}/moves`]) await succeed('GET', place, as)
  await succeed('GET', `${one}/document`, { ...as, headers: { accept: 'application/json' } })

  const named = { namespace: ['documented'], name: 't' }
  await commitColumns(service.store, service.owner.tenant, named, { id: 'long' })
  const tagged = '/api/v1/contracts/tables/documented/t/tags/lived'
  expect((await ask('PUT', tagged, { ...as, body: {} })).status).toBe(204)
  expect((await ask('DELETE', tagged, as)).status).toBe(409)
  const loosenings = '/api/v1/contracts/loosenings'
  const [asked] = (await succeed('GET', loosenings, as)).items as { id: string; sha256: string }[]
  const request = await succeed('GET', `${loosenings}/${asked?.id}`, as)
  const signed = { sha256: request.sha256, comment: 'fine' }
  expect((await ask('POST', `${loosenings}/${asked?.id}/sign-offs`, { ...as, body: signed })).status).toBe(
    403,
  )
  await succeed('POST', `${loosenings}/${asked?.id}/sign-offs`, { secret, body: signed })
  expect((await ask('DELETE', tagged, as)).status).toBe(204)
  await succeed('GET', `${loosenings}/${asked?.id}`, as)
  expect((await ask('PUT', path, { ...as, body, headers: yaml })).status).toBe(409)

  await succeed('GET', '/api/v1/contracts/documents?limit=1', as)
  const document = 'apiVersion: v3.2.0\nkind: DataContract\nid: kept\nversion: 1.0.0\n'
  const kept = { id: 'kept', format: 'yaml', document, sha256: sha256Of(document) }
  const proposals = { ...as, body: { managed_by: 'git', documents: [kept] } }
  await succeed('POST', '/api/v1/contracts/proposals', proposals)
  expect((await ask('POST', '/api/v1/contracts/proposals', proposals)).status).toBe(409)
})

const sha256Of = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex')

test('says what the writer-side transform answers', async () => {
  const as = { secret: steward }
  const rules = '/api/v1/transform/rules'
  const body = { action: 'tokenize', method: 'hmac', scope: 'documented' }
  await succeed('PUT', `${rules}/columns/sales/orders/customer`, { ...as, body })
  await succeed('PUT', `${rules}/tags/documented`, { ...as, body })
  await succeed('GET', rules, as)
  await succeed('POST', '/api/v1/transform/scopes/documented/rotations', as)
  await succeed('GET', '/api/v1/tables/sales/orders/transform-plan', as)
  await succeed('GET', '/.well-known/jwks.json', {})
  const encrypt = { action: 'encrypt', method: 'siv', scope: 'documented' }
  await succeed('PUT', `${rules}/columns/sales/orders/customer`, { ...as, body: encrypt })
  const ofSubject = { ...encrypt, subject_key_of: 'id', subject_kind: 'documented' }
  await succeed('PUT', `${rules}/columns/sales/orders/customer`, { ...as, body: ofSubject })
  const { plan } = (await ask('GET', '/api/v1/tables/sales/orders/transform-plan', as)).body as {
    plan: string
  }
  const payload = JSON.parse(Buffer.from(plan.split('.')[1] ?? '', 'base64url').toString())
  const wanted = {
    ...{ plan: `${payload.policy_version}:${payload.nonce}`, schema_id: payload.schema_id },
    ...{ public_key: `${'A'.repeat(42)}E`, subjects: [{ kind: 'documented', refs: ['A'.repeat(22)] }] },
  }
  await succeed('POST', '/api/v1/tables/sales/orders/transform-subject-keys', { ...as, body: wanted })
  await succeed('GET', '/api/v1/transform/subjects', as)
  await succeed('POST', '/api/v1/transform/subjects/documented/shreddings', { ...as, body: { subject: '7' } })
  await succeed('GET', '/api/v1/transform/status', as)
  const reveals = '/api/v1/transform/reveals'
  await succeed('PUT', `${reveals}/columns/sales/orders/customer`, { ...as, body: { roles: ['support'] } })
  await succeed('GET', reveals, as)
  await succeed('DELETE', `${reveals}/columns/sales/orders/customer`, as)
  await succeed('DELETE', `${rules}/columns/sales/orders/customer`, as)
  await succeed('DELETE', `${rules}/tags/documented`, as)
})

test('says what webhooks and probes answer', async () => {
  const now = Date.now()
  const event = JSON.stringify({ id: 'evt_1', event: 'other', type: 'other', data: {} })
  const hooks = [
    ['/webhooks/identity-provider', await sign.workos(event, identityWebhookSecret, now)],
    ['/webhooks/billing', await sign.stripe(event, billingWebhookSecret, now)],
  ] as const
  for (const [path, headers] of hooks) {
    await succeed('POST', path, { headers, body: event })
    expect((await ask('POST', path, { headers, body: event })).status).toBe(409)
    expect((await ask('POST', path, { headers, body: '{}' })).status).toBe(401)
    expect((await ask('POST', path, { body: 'x'.repeat(limits.webhookBodyBytesMax + 1) })).status).toBe(413)
  }
  const webhook_secret = 'hook-secret-of-the-lake'
  const catalogs = `/admin/tenants/${service.owner.tenant}/catalogs`
  await succeed('PATCH', `${catalogs}/main`, {
    secret: service.operator,
    body: { config_json: { webhook_secret } },
  })
  const hit = { tenant_id: service.owner.tenant, metadata_location: 's3://lake/1.json' }
  const signature = createHmac('sha256', webhook_secret).update(JSON.stringify(hit)).digest('hex')
  await succeed('POST', '/v1/webhooks/alpha', { headers: { 'x-alpha-signature': signature }, body: hit })
  for (const path of ['/livez', '/healthz', '/readyz']) await succeed('GET', path, {})
})

test('has been held against every answer of success', () => {
  const names = routes.map(({ method, path }) => `${method} ${path}`)
  const place = 'the requests of test/server/open-api.test.ts (`succeed`)'
  const unseen = names.filter((name) => !succeeded.has(name) && !seenElsewhere.includes(name))
  expect(differences([], unseen, place)).toEqual([])
})
