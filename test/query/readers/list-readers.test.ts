/** Who can read a table, as a list with reasons: every kind of line, pages, who may ask, and what is left out. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { putMask } from '../../../src/contract/put-mask.ts'
import { putTag } from '../../../src/contract/put-tag.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import { recordMove, saveBreakGlass } from '../../../src/store/contract/life-cycle.ts'
import { addVersion } from '../../../src/store/contract/versions.ts'
import { listPeopleSeen } from '../../../src/store/query/people-seen.ts'
import { recordUsage } from '../../../src/store/query/usage.ts'
import { createBrowserSession } from '../../../src/store/session/browser-sessions.ts'
import { putProvisioning } from '../../../src/store/session/provisioning.ts'
import { createScimGroup } from '../../../src/store/session/scim-groups.ts'
import { changeScimUser, createScimUser, deleteScimUser } from '../../../src/store/session/scim-users.ts'
import { createServiceSession, revokeServiceSession } from '../../../src/store/session/sessions.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { actorOf } from '../../support/actor.ts'
import { approvedOf, intentOf } from '../../support/commits.ts'
import { versionOf } from '../../support/contract-versions.ts'
import { graphql } from '../../support/graphql.ts'
import { ask, session } from '../../support/identity.ts'
import { type Lake, startLake } from '../../support/lake.ts'
import { licenseForAll } from '../../support/license.ts'
import { usageRecord } from '../../support/usage.ts'

setDefaultTimeout(300_000)

interface Line {
  readonly kind: string
  readonly name: string
  readonly reasons: readonly string[]
  readonly [member: string]: unknown
}
interface Answer {
  readonly items: readonly Line[]
  readonly next_page_token?: string
}

const orders = '/api/v1/query/readers/list?namespace=sales&table=orders'
const table = { namespace: ['sales'], name: 'orders' }
const dayMs = 86_400_000

let lake: Lake
let steward: string
let analyst: string
let outsider: string

beforeAll(async () => {
  lake = await startLake({ env: { SVC_LICENSE: licenseForAll() } })
  const { store, tenant } = lake
  const open = (name: string, roles: readonly string[], more: object = {}) =>
    createServiceSession(store, tenant, {
      ...{ name, principal: { sub: `service:${name}`, roles }, scopes: ['read'] as const },
      ...more,
    })
  await open('clerk', ['clerk'])
  await open('chief', ['clerk', 'officer'])
  await open('records', ['auditor'])
  await revokeServiceSession(store, tenant, (await open('gone', ['officer'])).id)
  await open('over', ['officer'], { expiresAt: new Date(Date.now() - 1_000) })
  await open('writer', ['officer'], { scopes: ['commit'] })
  steward = await session(lake, tenant, ['read', 'admin'], ['steward'], 'stella')
  analyst = await session(lake, tenant, ['read'], ['clerk'], 'anna')
  const foreign = (await createTenant(store, { name: 'foreign' })).id
  outsider = await session(lake, foreign, ['read'], ['steward'], 'mallory')

  const seen = (principal: string, startedAtMs: number, of = tenant) =>
    recordUsage(store, of, usageRecord({ principal, principalSource: 'auth_header', startedAtMs }))
  await seen('petra', Date.now() - 2 * dayMs)
  await seen('otto', Date.now() - 100 * dayMs)
  await seen('service:clerk', Date.now())
  await seen('stella', Date.now())
  await seen('mallory', Date.now(), foreign)
  await seen('lola', Date.now())
  const login = { principal: { sub: 'lola', roles: ['officer'] }, scopes: ['read'] as const }
  await createBrowserSession(
    store,
    tenant,
    { ...login, providerSid: undefined, expiresAt: new Date(Date.now() + dayMs) } as never,
    undefined,
  )
  const principal = { sub: 'carl', roles: ['officer'] }
  await recordVerdict(store, tenant, approvedOf(intentOf({ principal, receivedAtMs: Date.now() })))
  await attest()
  await breakGlass()
})
afterAll(async () => await lake[Symbol.asyncDispose]())

async function attest() {
  const on = { store: lake.store, tenant: lake.tenant, actor: actorOf('stella'), checkPolicies }
  await putMask(on, { tag: 'pay' }, { id: 'hide-pay', action: 'replace-with-null', exemptRoles: ['payroll'] })
  await putTag(on, table, 'amount', 'pay')
  await made('PUT', '/api/v1/semantics/tables/sales/orders', {
    key: ['id'],
    dimensions: [{ name: 'region' }],
  })
  await made('PUT', '/api/v1/metrics/pays', { table, expression: 'sum(amount)' })
  await made('POST', '/api/v1/metrics/pays/attestations', {
    ...{ tags: ['pay'], reason: 'Sums of many', evidence: 'Reviewed', min_group_size: 20 },
    valid_until: new Date(Date.now() + dayMs).toISOString(),
  })
}

async function made(method: string, path: string, body: object) {
  const second = await session(lake, lake.tenant, ['read', 'admin'], ['steward'], 'sam')
  const { status, body: found } = await ask(lake, method, path, method === 'POST' ? second : steward, body)
  if (status >= 300) throw new Error(JSON.stringify(found))
}

/** Three versions: one in force by break-glass, one that may come in force, and one whose time is over. */
async function breakGlass() {
  for (const [contract, to, untilMs] of [
    ['night', 'active', Date.now() - dayMs],
    ['dusk', 'approved', Date.now() + dayMs],
    ['late', 'approved', Date.now() - dayMs],
  ] as const) {
    const version = versionOf(contract)
    const model = { ...version.model, schemas: [{ table }] } as never
    await lake.store.tenantTransaction(lake.tenant, async (tx) => {
      const number = await addVersion(tx, lake.tenant, { ...version, model, state: 'proposed' })
      const named = { contract, number, sha256: version.sha256 }
      await saveBreakGlass(tx, lake.tenant, named, new Date(untilMs))
      const by = actorOf('adam')
      const moved = { from: 'proposed', to, auto: false, by, reason: 'an outage' }
      await recordMove(tx, lake.tenant, named, { move: 'break_glass', ...moved })
    })
  }
}

async function page(of = orders, by = steward): Promise<Answer> {
  const { status, body } = await ask(lake, 'GET', of, by)
  expect([status, of]).toEqual([200, of])
  return body as unknown as Answer
}
const linesOf = async (kind: string, of = orders) =>
  (await page(`${of}&limit=1000`)).items.filter((line) => line.kind === kind)
const lineOf = async (kind: string, name: string, of = orders) =>
  (await linesOf(kind, of)).find((line) => line.name === name)

describe('each line has its reasons in words', () => {
  test('anyone is under every filter and mask', async () => {
    expect(await lineOf('anyone', 'anyone')).toMatchObject({
      rows: 'filtered',
      masked: ['email', 'amount'],
      reasons: [
        'rows filtered by orders-rows',
        'sees email masked by orders-email',
        'sees amount masked by hide-pay',
      ],
    })
    const line = await lineOf('anyone', 'anyone', `${orders}&column=id`)
    expect([line?.clear, line?.reasons]).toEqual([['id'], ['rows filtered by orders-rows']])
  })

  test('a role is there for what it exempts from', async () => {
    const roles = await linesOf('role')
    expect(roles.map(({ name }) => name)).toEqual(['officer', 'payroll'])
    expect(roles[0]).toMatchObject({
      ...{ rows: 'all', masked: ['amount'] },
      reasons: [
        'exempt from row filter orders-rows by role officer',
        'exempt from mask orders-email on email by role officer',
        'sees amount masked by hide-pay',
      ],
    })
  })

  test('a service session is there while it may read, as its roles see', async () => {
    const sessions = await linesOf('session')
    const names = sessions.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['clerk', 'chief', 'records', 'ann', 'bob']))
    for (const absent of ['gone', 'over', 'writer', 'mallory']) expect(names).not.toContain(absent)
    expect(sessions.find(({ name }) => name === 'chief')).toMatchObject({
      ...{ sub: 'service:chief', roles: ['clerk', 'officer'], rows: 'all' },
      reasons: expect.arrayContaining(['exempt from row filter orders-rows by role officer']),
    })
  })

  test('the role auditor alone reads no data, which show_readers says as well', async () => {
    const auditor = { rows: 'none', clear: [], masked: [] }
    expect(await lineOf('session', 'records')).toMatchObject({
      ...auditor,
      reasons: ['reads records and no data by the role auditor alone'],
    })
    const { body } = await ask(
      lake,
      'GET',
      '/api/v1/query/readers?namespace=sales&table=orders&limit=1000',
      steward,
    )
    const { sessions } = body as unknown as { sessions: readonly { name: string }[] }
    expect(sessions.find(({ name }) => name === 'records')).toMatchObject(auditor)
  })

  test('an attestation says which mask it lifts, who made it and until when', async () => {
    const line = await lineOf('attestation', 'pays')
    expect(line).toMatchObject({
      by: 'sam',
      reasons: [
        'the metric is computed from behind mask hide-pay on amount, in groups of 20 values or more',
        'reason given: Sums of many',
      ],
    })
    expect(Date.parse(String(line?.until))).toBeGreaterThan(Date.now())
    expect(await linesOf('attestation', `${orders}&column=email`)).toEqual([])
  })

  test('break-glass is there while its version may come in force or is', async () => {
    const lines = await linesOf('break_glass')
    expect(lines.map(({ name, by, until }) => [name, by, until !== undefined])).toEqual([
      ['dusk 1', 'adam', true],
      ['night 1', 'adam', false],
    ])
    expect(lines[1]?.reasons).toEqual([
      'the version is in force, and was approved by break-glass',
      'reason given: an outage',
    ])
  })

  test('a column without mask or filter says so', async () => {
    const officer = await lineOf('role', 'payroll', `${orders}&column=amount`)
    expect(officer?.reasons).toEqual([
      'rows filtered by orders-rows',
      'exempt from mask hide-pay on amount by role payroll',
    ])
  })
})

describe('people are listed as far as they were seen', () => {
  test('whose roles nobody recorded is judged without any, which is said', async () => {
    expect(await lineOf('person', 'petra')).toMatchObject({
      ...{ sub: 'petra', surface: 'pgwire', rows: 'filtered' },
      reasons: expect.arrayContaining([
        'judged without any role, because none was recorded: a role may show more',
      ]),
    })
  })

  test('who changed a table or logged in is judged by the roles of that', async () => {
    expect(await lineOf('person', 'carl')).toMatchObject({
      ...{ surface: 'commit', roles: ['officer'], rows: 'all' },
      reasons: expect.arrayContaining(['judged by the roles that the last change of a table named: officer']),
    })
    expect(await lineOf('person', 'lola')).toMatchObject({
      ...{ surface: 'pgwire', roles: ['officer'], rows: 'all' },
      reasons: expect.arrayContaining(['judged by the roles of the last login: officer']),
    })
  })

  test('who was seen through a service session of that subject is judged by its roles', async () => {
    expect((await lineOf('person', 'stella'))?.reasons).toContain(
      'judged by the roles of a service session of that subject: steward',
    )
  })

  test('services, people of another tenant, and who was not seen for 90 days are absent', async () => {
    const names = (await linesOf('person')).map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['carl', 'lola', 'petra', 'stella']))
    for (const absent of ['otto', 'service:clerk', 'mallory', lake.tenant])
      expect(names).not.toContain(absent)
  })

  test('a step looks at so many principals, also where none of them counts', async () => {
    const since = new Date(Date.now() + dayMs)
    let steps = 0
    let after: string | undefined
    do {
      const of = { since, count: 1, ...(after !== undefined && { after }) }
      const { items, next } = await listPeopleSeen(lake.store, lake.tenant, of)
      expect(items).toEqual([])
      after = next
      steps += 1
    } while (after !== undefined)
    expect(steps).toBeGreaterThan(4)
  })
})

test('pages of any size hold each line once, in one order', async () => {
  const whole = (await page(`${orders}&limit=1000`)).items
  for (const limit of [1, 3, whole.length]) {
    const found: Line[] = []
    let token: string | undefined
    do {
      const more: string = token === undefined ? '' : `&page_token=${encodeURIComponent(token)}`
      const { items, next_page_token } = await page(`${orders}&limit=${limit}${more}`)
      expect(items.length).toBeLessThanOrEqual(limit)
      found.push(...items)
      token = next_page_token
    } while (token !== undefined)
    expect(found).toEqual([...whole])
  }
})

test.each(['', 'x', '9.x', '5.no-uuid', '6.no-digest'])('%p is no page token', async (token) => {
  expect((await ask(lake, 'GET', `${orders}&page_token=${token}`, steward)).status).toBe(400)
})

test('an analyst may not ask, and a steward of another tenant finds nothing', async () => {
  expect((await ask(lake, 'GET', orders, analyst)).status).toBe(403)
  expect((await ask(lake, 'GET', orders, outsider)).status).toBe(404)
  expect((await ask(lake, 'GET', `${orders}&column=nosuch`, steward)).status).toBe(404)
})

test('GraphQL lists the same on the table, by pages, to the same callers', async () => {
  const whole = (await page(`${orders}&limit=1000&column=email`)).items
  const query = `query ($after: String) { table(namespace: ["sales"], name: "orders") {
    readers(first: 4, after: $after, column: "email") {
      edges { node { kind name rows clear masked reasons roles by until } } pageInfo { hasNextPage endCursor } } } }`
  const found: Line[] = []
  let after: string | null = null
  do {
    const { data, errors } = await graphql(lake, steward, query, { after })
    expect(errors).toEqual([])
    const { edges, pageInfo } = data.table.readers
    found.push(...edges.map(({ node }: { node: Line }) => node))
    after = pageInfo.hasNextPage ? pageInfo.endCursor : null
  } while (after !== null)
  expect(found).toEqual(
    whole.map(({ kind, name, rows = null, clear = [], masked = [], reasons, ...line }) => ({
      ...{ kind, name, rows, clear, masked, reasons },
      ...{ roles: line.roles ?? null, by: line.by ?? null, until: line.until ?? null },
    })),
  )
  const refused = await graphql(lake, analyst, query)
  expect([refused.data.table.readers, refused.errors[0]?.extensions?.code]).toEqual([null, 'FORBIDDEN'])
  expect((await graphql(lake, outsider, query)).data.table).toBe(null)
})

test('one operation of GraphQL lists the readers of ten tables, and refuses more', async () => {
  const of = (count: number) =>
    `{ table(namespace: ["sales"], name: "orders") { ${Array.from(
      { length: count },
      (_, at) => `r${at}: readers(first: 1) { totalCount }`,
    ).join(' ')} } }`
  expect((await graphql(lake, steward, of(10))).errors).toEqual([])
  const { errors } = await graphql(lake, steward, of(11))
  expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining('more than 10 tables')])
})

// Last, because it changes whose roles count.
describe('people who are provisioned', () => {
  test('are judged by their groups, are named by role, and are absent once they have left', async () => {
    const { store, tenant } = lake
    const by = actorOf('provisioning')
    const petra = await createScimUser(store, tenant, { userName: 'Petra' }, by)
    const carl = await createScimUser(store, tenant, { userName: 'carl' }, by)
    const group = { displayName: 'officer', externalId: undefined }
    await createScimGroup(store, tenant, group, [petra.id, carl.id], by)
    const foreign = (await createTenant(store, { name: 'other people' })).id
    const stranger = await createScimUser(store, foreign, { userName: 'lola', active: false }, by)
    await createScimGroup(store, foreign, group, [stranger.id], by)
    expect((await lineOf('person', 'carl'))?.roles).toEqual(['officer'])
    expect((await lineOf('role', 'officer'))?.reasons.join()).not.toContain('provisioned')

    await putProvisioning(store, tenant, { claim: 'sub', attribute: 'userName', rolesFrom: 'groups' }, by)
    expect(await lineOf('person', 'petra')).toMatchObject({
      ...{ roles: ['officer'], rows: 'all' },
      reasons: expect.arrayContaining(['judged by the groups in which the person is provisioned: officer']),
    })
    expect((await lineOf('role', 'officer'))?.reasons).toContain('its provisioned group has carl, Petra')
    // Who is not provisioned has no role, whatever the last login said.
    expect((await lineOf('person', 'lola'))?.roles).toEqual([])

    await changeScimUser(
      store,
      tenant,
      carl.id,
      (stored) => ({ ...stored, active: false }),
      () => true,
      by,
    )
    expect(await lineOf('person', 'carl')).toBeUndefined()
    expect((await lineOf('role', 'officer'))?.reasons).toContain('its provisioned group has Petra')
    await deleteScimUser(store, tenant, petra.id, () => true, by)
    expect(await lineOf('person', 'petra')).toBeUndefined()
    expect((await lineOf('role', 'officer'))?.reasons).toContain('its provisioned group has nobody')
  })
})
