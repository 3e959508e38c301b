/** Who may read a table: what each session is said to see is held against its rows over SQL. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createServiceSession, revokeServiceSession } from '../../../src/store/session/sessions.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { ask, session } from '../../support/identity.ts'
import { type Lake, startLake } from '../../support/lake.ts'
import { licenseForAll } from '../../support/license.ts'
import { connectMcp } from '../../support/mcp.ts'
import { frames, WireClient } from '../../support/wire-client.ts'

setDefaultTimeout(300_000)

interface Readers {
  readonly row_filters: readonly { readonly id: string; readonly exempt_roles: readonly string[] }[]
  readonly columns: readonly {
    readonly name: string
    readonly anyone: string
    readonly masks: readonly object[]
  }[]
  readonly sessions: readonly {
    readonly name: string
    readonly rows: string
    readonly clear: readonly string[]
    readonly masked: readonly string[]
  }[]
  readonly next_page_token?: string
}

const path = '/api/v1/query/readers'
const orders = `${path}?namespace=sales&table=orders`

let lake: Lake
let steward: string
let analyst: string
let outsider: string
/** By name. */
const secrets = new Map<string, string>()

beforeAll(async () => {
  lake = await startLake({ env: { SVC_LICENSE: licenseForAll() } })
  const { store, tenant } = lake
  const open = async (name: string, roles: readonly string[], more: object = {}) => {
    const made = { name, principal: { sub: name, roles }, scopes: ['read'] as const, ...more }
    const created = await createServiceSession(store, tenant, made)
    secrets.set(name, created.secret)
    return created
  }
  await open('clerk', ['clerk'])
  await open('chief', ['clerk', 'officer'])
  const gone = await open('gone', ['officer'])
  await revokeServiceSession(store, tenant, gone.id)
  await open('over', ['officer'], { expiresAt: new Date(Date.now() - 1_000) })
  await createServiceSession(store, tenant, {
    ...{ name: 'writer', principal: { sub: 'writer', roles: ['officer'] }, scopes: ['commit'] },
  })
  steward = await session(lake, tenant, ['read'], ['steward'], 'stella')
  analyst = await session(lake, tenant, ['read'], ['clerk'], 'anna')
  const foreign = (await createTenant(store, { name: 'foreign' })).id
  outsider = await session(lake, foreign, ['read'], ['steward'], 'mallory')
})
afterAll(() => lake[Symbol.asyncDispose]())

async function told(of = orders, by = steward): Promise<Readers> {
  const { status, body } = await ask(lake, 'GET', of, by)
  expect(status).toBe(200)
  return body as unknown as Readers
}

async function rowsOf(name: string, secret: string, text: string): Promise<readonly string[]> {
  const { PGDATABASE: database, PGPORT } = lake.env
  const client = await WireClient.logIn({ port: Number(PGPORT) }, { user: name, password: secret, database })
  const all = await client.ask(frames.query(text))
  client.close()
  return all.filter((answer) => answer.startsWith('D '))
}

test('protections come with the roles that they exempt', async () => {
  const { row_filters, columns } = await told()
  expect(row_filters).toEqual([{ id: 'orders-rows', exempt_roles: ['officer'] }])
  expect(columns.find(({ name }) => name === 'email')).toEqual({
    ...{ name: 'email', anyone: 'masked' },
    masks: [{ id: 'orders-email', exempt_roles: ['officer'], action: 'mask-alphanum' }],
  })
  expect(columns.find(({ name }) => name === 'id')).toMatchObject({ anyone: 'clear', masks: [] })
})

test('each live session that may read is listed, with what it reads', async () => {
  const { sessions } = await told(`${orders}&limit=1000`)
  const names = sessions.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['ann', 'bob', 'clerk', 'chief']))
  for (const absent of ['gone', 'over', 'writer', 'mallory']) expect(names).not.toContain(absent)
  const all = await rowsOf('ann', lake.env.PGPASSWORD ?? '', 'select count(*) from sales.orders')
  for (const { name, rows, clear, masked } of sessions) {
    const secret = secrets.get(name)
    if (secret === undefined) continue
    const isAll = (await rowsOf(name, secret, 'select count(*) from sales.orders'))[0] === all[0]
    expect([name, rows]).toEqual([name, isAll ? 'all' : 'filtered'])
    const email = await rowsOf(name, secret, 'select email from sales.orders order by id limit 1')
    const isClear = email[0]?.includes('@example.com') === true
    expect([name, (isClear ? clear : masked).includes('email')]).toEqual([name, true])
  }
})

test('one column can be asked for, and pages go on to the end', async () => {
  const { columns } = await told(`${orders}&column=email`)
  expect(columns.map(({ name }) => name)).toEqual(['email'])
  const names: string[] = []
  let token: string | undefined
  do {
    const page: Readers = await told(`${orders}&limit=2${token === undefined ? '' : `&page_token=${token}`}`)
    names.push(...page.sessions.map(({ name }) => name))
    token = page.next_page_token
  } while (token !== undefined)
  const whole = await told(`${orders}&limit=1000`)
  expect(names).toEqual(whole.sessions.map(({ name }) => name))
})

test.each([
  ['a missing table', `${path}?namespace=sales&table=nosuch`],
  ['a missing column', `${orders}&column=nosuch`],
])('%s is 404', async (_, of) => {
  expect((await ask(lake, 'GET', of, steward)).status).toBe(404)
})

test('an analyst may not know, and a steward of another tenant finds nothing', async () => {
  expect((await ask(lake, 'GET', orders, analyst)).status).toBe(403)
  expect((await ask(lake, 'GET', orders, outsider)).status).toBe(404)
})

test('an agent is told the same by who_may_see, where its principal may know', async () => {
  const { columns, sessions } = await told(`${orders}&column=email`)
  await using agent = await connectMcp('2026', lake.app.url, steward)
  const { structured } = await agent.call('who_may_see', {
    table: 'sales.orders',
    column: 'email',
    limit: 50,
  })
  expect(structured).toMatchObject({
    columns: [{ name: 'email', anyone: columns[0]?.anyone, masks: [{ exempt_roles: ['officer'] }] }],
    sessions: sessions.map(({ name, rows, clear }) => ({ name, rows, clear })),
  })
  await using other = await connectMcp('2026', lake.app.url, analyst)
  const { text } = await other.call('who_may_see', { table: 'sales.orders' })
  expect(JSON.parse(text).error).toMatchObject({
    code: 'forbidden',
    hint: expect.stringContaining('steward'),
  })
})
