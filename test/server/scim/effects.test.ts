/**
 * What provisioning does to access: who leaves loses sessions and tokens at once on each replica, groups give roles
 * where the tenant says so, and another tenant's people are untouched. On the embedded store, or on the server that
 * SVC_TEST_DATABASE_URL names.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import pg from 'pg'
import { type App, startApp } from '../../../src/app.ts'
import { parseConfig } from '../../../src/config.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { createBrowserSession } from '../../../src/store/session/browser-sessions.ts'
import { createLogger } from '../../../src/telemetry/log.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import {
  ask,
  call,
  type IdentityService,
  openSession,
  session,
  startIdentityService,
} from '../../support/identity.ts'
import { groupBody, patchBody, type Scim, scimClient, trustIssuer, userBody } from '../../support/scim.ts'
import { equipTenant, prefix } from '../../support/service.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { testCatalogDirectory } from '../../support/store.ts'
import * as surfaces from '../../support/token-surfaces.ts'

setDefaultTimeout(120_000)

/** The path of a user. */
const one = (id: string) => ['', 'Users', id].join('/')

interface Side {
  readonly tenant: TenantId
  readonly owner: string
  readonly reader: string
  readonly scim: Scim
  readonly token: (claims: object) => Promise<string>
}

let service: IdentityService
let replica: App
let ours: Side
let theirs: Side

beforeAll(async () => {
  const env = { SVC_UPSTREAM_ALLOW: '127.0.0.0/8' }
  service = await startIdentityService({ env })
  replica = await startApp({
    ...{
      jobsByTime: false,
      catalogDirectory: testCatalogDirectory,
      store: service.store,
      metrics: createMetrics(),
    },
    config: parseConfig({
      ...{ SVC_LISTEN_ADDR: '127.0.0.1:0', SVC_METRICS_ADDR: '127.0.0.1:0', UV_THREADPOOL_SIZE: '16' },
      ...{ SVC_PGWIRE_ADDR: '127.0.0.1:0', SVC_XMLA_ADDR: '127.0.0.1:0', ...env },
    }),
    log: createLogger({ level: 'debug', destination: { write: () => {} } }),
  })
  ours = await side('org_ours')
  theirs = await side('org_theirs')
}, 300_000)
afterAll(async () => {
  await replica.stop()
  await service[Symbol.asyncDispose]()
})

async function side(organizationId: string): Promise<Side> {
  const { id: tenant } = await makeTenant(service.store, { name: organizationId, organizationId })
  await equipTenant(service.store, tenant, 'spark', service.catalog.url)
  const owner = await session(service, tenant, ['read', 'admin'], ['owner'], 'olga')
  return {
    ...{ tenant, owner, reader: await session(service, tenant, ['read'], [], 'tool') },
    scim: await scimClient(service, tenant),
    token: await trustIssuer(service, owner, organizationId),
  }
}

async function provision({ scim }: Side, userName: string, more: object = {}): Promise<string> {
  const { status, body } = await scim('POST', '/Users', userBody(userName, more))
  expect(status).toBe(201)
  return body.id
}

/** Who a token is on each of the two replicas. */
async function onEach(token: string, { reader }: Side) {
  return [
    await surfaces.overHttp(service, token, reader),
    await surfaces.overHttp({ ...service, app: replica }, token, reader),
  ]
}

async function cookie({ tenant }: Side, sub: string, email?: string, roles: readonly string[] = []) {
  const principal = { sub, roles, ...(email !== undefined && { email }) }
  const login = { principal, scopes: ['read'], providerSid: undefined } as const
  return `__Host-svc_session=${await createBrowserSession(service.store, tenant, login, undefined)}`
}

const browse = async (app: App, cookies: string) =>
  (await call({ app }, 'GET', '/api/v1/session', { headers: { cookie: cookies } })).status

test('a person who is deactivated loses browser sessions and tokens at once on each replica, and is let in again when active', async () => {
  const id = await provision(ours, 'ada')
  await provision(theirs, 'ada')
  const [token, foreign] = [await ours.token({ sub: 'ada' }), await theirs.token({ sub: 'ada' })]
  const [browser, other] = [await cookie(ours, 'Ada'), await cookie(ours, 'grace')]
  expect(await onEach(token, ours)).toEqual([['ada'], ['ada']])
  expect(await browse(replica, browser)).toBe(200)

  const off = await ours.scim('PATCH', one(id), patchBody({ op: 'Replace', path: 'active', value: 'False' }))
  expect([off.status, off.body.active]).toEqual([200, false])
  expect(await onEach(token, ours)).toEqual([401, 401])
  expect(await surfaces.overWire(service, token, 'ada')).toStartWith('28')
  expect([await browse(service.app, browser), await browse(replica, browser)]).toEqual([401, 401])
  expect(await browse(replica, other)).toBe(200)
  expect(await onEach(foreign, theirs)).toEqual([['ada'], ['ada']])
  const late = await cookie(ours, 'ada').catch((thrown: Error) => thrown.message)
  expect(late).toContain('Your access has changed meanwhile')

  await ours.scim('PATCH', one(id), patchBody({ op: 'replace', value: { active: true } }))
  expect(await onEach(token, ours)).toEqual([['ada'], ['ada']])
  expect(await browse(replica, browser)).toBe(401)
})

test.each([
  { op: 'remove', path: 'active' },
  { op: 'replace', path: 'active', value: null },
  { op: 'add', path: 'active', value: null },
  { op: 'replace', value: { active: null } },
  { op: 'add', value: { active: null, title: 'x' } },
])('a deactivated person stays out where a client takes `active` away: %j', async (operation) => {
  const sub = `out-${crypto.randomUUID()}`
  const id = await provision(ours, sub, { active: false })
  const token = await ours.token({ sub })
  const { status, body } = await ours.scim('PATCH', one(id), patchBody(operation))
  expect([status, body.active]).toEqual([200, false])
  expect((await ours.scim('GET', one(id))).body.active).toBe(false)
  expect(await onEach(token, ours)).toEqual([401, 401])
  // Nor does a whole resource with null, and one who is active stays so.
  expect((await ours.scim('PUT', one(id), userBody(sub, { active: null }))).body.active).toBe(false)
  await ours.scim('PATCH', one(id), patchBody({ op: 'replace', path: 'active', value: true }))
  expect((await ours.scim('PATCH', one(id), patchBody(operation))).body.active).toBe(true)
  expect(await onEach(token, ours)).toEqual([[sub], [sub]])
})

test('a person who is deleted leaves no attribute, stays refused, and is let in when provisioned again', async () => {
  const id = await provision(ours, 'Barbara@Example.com', { name: { givenName: 'Canary-Zk4' } })
  const token = await ours.token({ sub: 'barbara@example.com' })
  expect(await onEach(token, ours)).toEqual([['barbara@example.com'], ['barbara@example.com']])
  expect((await ours.scim('DELETE', one(id))).status).toBe(204)
  expect(await onEach(token, ours)).toEqual([401, 401])
  const left = await service.store.adminQuery<{ text: string }>(
    `select concat(u, e, l) as text from svc.administration_log l
     left join svc.scim_user u on u.tenant_id = l.tenant_id left join svc.ended_person e on e.tenant_id = l.tenant_id
     where l.tenant_id = $1`,
    [ours.tenant],
  )
  expect(left.length).toBeGreaterThan(0)
  for (const { text } of left) expect(text.toLowerCase()).not.toMatch(/canary-zk4|barbara@/)
  expect(service.log().toLowerCase()).not.toMatch(/canary-zk4|barbara@/)
  await provision(ours, 'barbara@example.com')
  expect(await onEach(token, ours)).toEqual([['barbara@example.com'], ['barbara@example.com']])
})

test('an open connection of the PostgreSQL wire is refused at its next message', async () => {
  const id = await provision(ours, 'wanda')
  const client = new pg.Client({
    ...{ host: '127.0.0.1', port: service.app.pgwirePort, user: 'wanda', database: prefix },
    password: await ours.token({ sub: 'wanda' }),
  })
  client.on('error', () => {})
  await client.connect()
  expect((await client.query('select current_user')).rows).toEqual([{ current_user: 'wanda' }])
  await ours.scim('PATCH', one(id), patchBody({ op: 'replace', path: 'active', value: false }))
  const refused = await client.query('select current_user').catch((thrown: { code?: string }) => thrown.code)
  expect(refused).toMatch(/^(28|57)/)
  await client.end().catch(() => {})
})

test('a name that a person has no longer is refused', async () => {
  const id = await provision(ours, 'before')
  const [before, after] = [await ours.token({ sub: 'before' }), await ours.token({ sub: 'after' })]
  const browser = await cookie(ours, 'before')
  await ours.scim('PATCH', one(id), patchBody({ op: 'replace', path: 'userName', value: 'after' }))
  expect(await onEach(before, ours)).toEqual([401, 401])
  expect(await onEach(after, ours)).toEqual([['after'], ['after']])
  expect(await browse(service.app, browser)).toBe(401)
})

test('an attribute that a user gains takes effect at once', async () => {
  const mail = await side('org_gains')
  const settings = { claim: 'email', attribute: 'email', roles_from: 'token' }
  await ask(service, 'PUT', '/api/v1/provisioning', mail.owner, settings)
  const id = await provision(mail, 'gwen', { active: false })
  const token = await mail.token({ sub: '1a', email: 'gwen@example.com' })
  const [browser, other] = [
    await cookie(mail, '1a', 'gwen@example.com'),
    await cookie(mail, '1b', 'b@example.com'),
  ]
  expect(await onEach(token, mail)).toEqual([['1a'], ['1a']])
  expect([await browse(replica, browser), await browse(replica, other)]).toEqual([200, 200])
  const gains = { op: 'add', path: 'emails', value: [{ value: 'Gwen@example.com', primary: true }] }
  expect((await mail.scim('PATCH', one(id), patchBody(gains))).status).toBe(200)
  expect(await onEach(token, mail)).toEqual([401, 401])
  expect([await browse(replica, browser), await browse(replica, other)]).toEqual([401, 200])
})

test('where groups give the roles, a second person of a name takes them from both at once', async () => {
  const mail = await side('org_twins')
  const settings = { claim: 'email', attribute: 'email', roles_from: 'groups' }
  await ask(service, 'PUT', '/api/v1/provisioning', mail.owner, settings)
  const emails = [{ value: 'twin@example.com', primary: true }]
  const id = await provision(mail, 'twin-1', { emails })
  await mail.scim('POST', '/Groups', groupBody('analyst', [id]))
  const token = await mail.token({ sub: '2a', email: 'twin@example.com' })
  const both = async (roles: readonly string[]) =>
    expect(await onEach(token, mail)).toEqual([
      ['2a', ...roles],
      ['2a', ...roles],
    ])
  const second = await provision(mail, 'twin-2')
  for (const [lose, gain] of [
    [
      () => mail.scim('PATCH', one(second), patchBody({ op: 'replace', path: 'emails', value: emails })),
      () => mail.scim('PATCH', one(second), patchBody({ op: 'remove', path: 'emails' })),
    ],
    [() => provision(mail, 'twin-3', { emails }), undefined],
  ] as const) {
    await both(['analyst'])
    const browser = await cookie(mail, '2a', 'twin@example.com', ['analyst'])
    expect(await browse(replica, browser)).toBe(200)
    await lose()
    await both([])
    expect(await browse(replica, browser)).toBe(401)
    await gain?.()
  }
})

test('a person who gains what is not compared, or is provisioned for the first time, stays logged in', async () => {
  const browser = await cookie(ours, 'iris')
  const id = await provision(ours, 'iris')
  await ours.scim('PATCH', one(id), patchBody({ op: 'add', path: 'externalId', value: 'x-iris' }))
  await ours.scim('PATCH', one(id), patchBody({ op: 'replace', path: 'externalId', value: 'y-iris' }))
  expect([await browse(service.app, browser), await browse(replica, browser)]).toEqual([200, 200])
})

test('a token keeps its roles, until the tenant says that groups give them', async () => {
  const id = await provision(theirs, 'carol')
  const group = await theirs.scim('POST', '/Groups', groupBody('analyst', [id]))
  const token = await theirs.token({ sub: 'carol', roles: ['owner'] })
  const stranger = await theirs.token({ sub: 'nobody', roles: ['owner'] })
  expect(await onEach(token, theirs)).toEqual([
    ['carol', 'owner'],
    ['carol', 'owner'],
  ])

  const settings = { claim: 'sub', attribute: 'userName', roles_from: 'groups' }
  const put = await ask(service, 'PUT', '/api/v1/provisioning', theirs.owner, settings)
  expect([put.status, put.body.roles_from]).toEqual([200, 'groups'])
  expect(await onEach(token, theirs)).toEqual([
    ['carol', 'analyst'],
    ['carol', 'analyst'],
  ])
  expect(await onEach(stranger, theirs)).toEqual([['nobody'], ['nobody']])

  const steward = await theirs.scim('POST', '/Groups', groupBody('steward'))
  const add = patchBody({ op: 'Add', path: 'members', value: [{ value: id }] })
  expect((await theirs.scim('PATCH', `/Groups/${steward.body.id}`, add)).status).toBe(204)
  expect(await onEach(token, theirs)).toEqual([
    ['carol', 'analyst', 'steward'],
    ['carol', 'analyst', 'steward'],
  ])
  await theirs.scim('DELETE', `/Groups/${group.body.id}`)
  expect(await onEach(token, theirs)).toEqual([
    ['carol', 'steward'],
    ['carol', 'steward'],
  ])
  // Our tenant has a group of that name nowhere, and its tokens keep their roles.
  expect(await onEach(await ours.token({ sub: 'carol', roles: ['x'] }), ours)).toEqual([
    ['carol', 'x'],
    ['carol', 'x'],
  ])
})

test('people are matched by their e-mail address where the tenant says so, and a token without one is refused', async () => {
  const { tenant, owner, scim, token, reader } = await side('org_mail')
  const mail: Side = { tenant, owner, scim, token, reader }
  const settings = { claim: 'email', attribute: 'email', roles_from: 'token' }
  await ask(service, 'PUT', '/api/v1/provisioning', owner, settings)
  const id = await provision(mail, 'd', { emails: [{ value: 'Dora@Example.com', primary: true }] })
  const dora = await token({ sub: '0f', email: 'dora@example.com' })
  const browser = await cookie(mail, '0f', 'dora@example.com')
  expect(await onEach(dora, mail)).toEqual([['0f'], ['0f']])
  expect(await onEach(await token({ sub: '0f' }), mail)).toEqual([401, 401])
  await scim('PATCH', one(id), patchBody({ op: 'replace', path: 'active', value: false }))
  expect(await onEach(dora, mail)).toEqual([401, 401])
  expect(await browse(replica, browser)).toBe(401)
})

test('an e-mail address that is not verified names nobody, so nobody takes another’s roles by choosing one', async () => {
  const mail = await side('org_chosen')
  const settings = { claim: 'email', attribute: 'email', roles_from: 'groups' }
  await ask(service, 'PUT', '/api/v1/provisioning', mail.owner, settings)
  const email = 'boss@example.com'
  const id = await provision(mail, 'boss', { emails: [{ value: email, primary: true }] })
  await mail.scim('POST', '/Groups', groupBody('steward', [id]))
  for (const verified of [false, 'false']) {
    const chosen = await mail.token({ sub: 'mallory', email, email_verified: verified })
    expect(await onEach(chosen, mail)).toEqual([401, 401])
    expect(await surfaces.overWire(service, chosen, 'mallory')).toStartWith('28')
  }
  for (const verified of [{ email_verified: true }, {}])
    expect(await onEach(await mail.token({ sub: '3a', email, ...verified }), mail)).toEqual([
      ['3a', 'steward'],
      ['3a', 'steward'],
    ])
})

test('a session of a version in which services had no names of their own is no person, also by its access token', async () => {
  const { id, secret } = await openSession(service, ours.tenant, ['read'], ['etl'], 'nightly')
  // The store takes any subject; the routes for sessions put `service:` before it.
  const asked = await call(service, 'POST', `/v1/iceberg/${prefix}/v1/oauth/tokens`, {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `grant_type=client_credentials&client_id=${id}&client_secret=${secret}`,
  })
  const { access_token: own } = (await asked.json()) as { access_token: string }
  const person = await ours.token({ sub: 'nightly' })
  const user = await provision(ours, 'nightly')
  await ours.scim('DELETE', one(user))
  expect(await onEach(person, ours)).toEqual([401, 401])
  for (const app of [service.app, replica])
    expect(await surfaces.overHttp({ ...service, app }, own, secret)).toEqual(['nightly', 'etl'])
  // Nor do groups give it roles.
  const settings = (from: string) => ({ claim: 'sub', attribute: 'userName', roles_from: from })
  await ask(service, 'PUT', '/api/v1/provisioning', ours.owner, settings('groups'))
  expect(await surfaces.overHttp(service, own, secret)).toEqual(['nightly', 'etl'])
  await ask(service, 'PUT', '/api/v1/provisioning', ours.owner, settings('token'))
})

test('only an owner says where roles come from, and a tenant’s provisioning opens nothing else', async () => {
  const administrator = await session(service, ours.tenant, ['read', 'admin'], ['administrator'], 'adam')
  const settings = { claim: 'sub', attribute: 'userName', roles_from: 'groups' }
  expect((await ask(service, 'PUT', '/api/v1/provisioning', administrator, settings)).status).toBe(403)
  expect((await ask(service, 'GET', '/api/v1/provisioning', administrator)).status).toBe(200)
  const scimOnly = await session(service, ours.tenant, ['scim'], ['owner'], 'p')
  for (const path of ['/api/v1/session', '/api/v1/sessions', '/api/v1/provisioning'])
    expect((await ask(service, 'GET', path, scimOnly)).status).toBe(403)
  const noOwner = await session(service, ours.tenant, ['scim'], ['administrator'], 'p')
  expect((await call(service, 'GET', '/scim/v2/Users', { secret: noOwner })).status).toBe(403)
  expect((await call(service, 'GET', '/scim/v2/Users', { secret: ours.owner })).status).toBe(403)
  expect((await call(service, 'GET', '/scim/v2/Users')).status).toBe(401)
})

test('each change is in the administration log, by ids', async () => {
  const id = await provision(ours, 'erika')
  const group = await ours.scim('POST', '/Groups', groupBody('etl', [id]))
  await ours.scim('DELETE', `/Groups/${group.body.id}`)
  await ours.scim('DELETE', one(id))
  const { body } = await ask(service, 'GET', '/api/v1/administration?limit=4', ours.owner)
  const items = body.items as readonly { action: string; subject: object; actor: { sub: string } }[]
  expect(items.map(({ action, subject, actor }) => [action, subject, actor.sub])).toEqual([
    ['delete-scim-user', { user: id }, 'provisioning'],
    ['delete-scim-group', { group: group.body.id, name: 'etl' }, 'provisioning'],
    ['put-scim-group', { group: group.body.id, name: 'etl' }, 'provisioning'],
    ['put-scim-user', { user: id }, 'provisioning'],
  ])
})
