/**
 * Owners whom a contract's document names decide about access, and a decision shows what it reveals: over HTTP, with a
 * foreign tenant that has the same table and people.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDevCatalog } from '../../demo/catalog/dev-catalog.ts'
import { sessionScopes } from '../../src/core/session.ts'
import {
  listCatalogCredentials,
  putCatalogCredential,
  removeCatalogCredential,
} from '../../src/store/catalog-credential/catalog-credentials.ts'
import { recordVerdict } from '../../src/store/commit/verdicts.ts'
import {
  type AccessLake,
  accessDocument,
  grantOf,
  itemsOf,
  accessPath as path,
  startAccessLake,
} from '../support/access.ts'
import { intentOf } from '../support/commits.ts'
import { commitColumns } from '../support/governed.ts'
import { session } from '../support/identity.ts'

setDefaultTimeout(300_000)

const nowMs = Date.now()
let on: AccessLake
let rita: string
let stella: string
let mallory: string
let otherRita: string

beforeAll(async () => {
  on = await startAccessLake({ now: () => nowMs })
  rita = await on.person('rita', ['analyst'], true)
  stella = await on.person('stella', ['steward'])
  mallory = await session(on.lake, on.foreign, sessionScopes, ['steward', 'administrator'], 'mallory')
  otherRita = await session(on.lake, on.foreign, ['read'], ['analyst', 'oncall'], 'rita')
  await on.put(mallory, accessDocument())
})
afterAll(() => on?.lake[Symbol.asyncDispose]())

const plan = (access: object, more = {}) => on.put(stella, accessDocument({ plan: access, ...more }))
const post = (to: string, secret: string, body: object) => on.ask('POST', `${path}${to}`, secret, body)
const table = { namespace: ['sales'], table: 'orders' }
const asking = { ...table, columns: ['email'], purpose: 'Refunds', seconds: 3_600 }

describe('an owner whom the document names', () => {
  const owners = [
    { username: 'olga', role: 'Owner' },
    { username: 'gone', role: 'owner', dateOut: '2020-01-01' },
    { username: 'both', role: 'owner' },
    { username: 'both', role: 'steward of data' },
    { username: 'mia', role: 'member' },
    { username: 'service:loader', role: 'owner' },
  ]
  let olga: string
  beforeAll(async () => {
    olga = await on.person('olga', ['analyst'], true)
    await plan({}, { owners })
  })

  test('finds, reads, decides and revokes by a session that only reads', async () => {
    const asked = await on.requested(rita)
    const query = 'namespace=sales&table=orders'
    const waiting = await on.ask('GET', `${path}/requests?everyone=true&state=waiting&${query}`, olga)
    expect(itemsOf(waiting).map(({ id }) => id)).toContain(asked.id)
    expect((await on.ask('GET', `${path}/requests?everyone=true`, olga))[0]).toBe(403)
    expect(await on.shown(olga, asked.id)).toMatchObject({ reveals: { columns: [{ name: 'email' }] } })
    const { id } = grantOf(await on.decide(olga, asked))
    const grants = itemsOf(await on.ask('GET', `${path}/grants?everyone=true&open=true&${query}`, olga))
    expect(grants.map((one) => one.id)).toContain(id)
    expect((await on.revoke(olga, id))[0]).toBe(204)
  })

  test('does not decide about access of their own, nor sees by asking what a filter hides', async () => {
    const own = await on.requested(olga, { columns: undefined, filters: ['some'] })
    expect((await on.decide(olga, own))[0]).toBe(403)
    const role = await on.requested(rita, { role: 'analyst' })
    expect((await on.decide(olga, role))[0]).toBe(403)
    for (const { id } of [own, role]) expect(await on.shown(olga, id)).not.toHaveProperty('reveals')
    expect(await on.shown(stella, own.id)).toMatchObject({ reveals: { filters: [{ id: 'some' }] } })
  })

  test.each([
    ['who has left the team', 'gone'],
    ['whom another line gives another role', 'both'],
    ['who is a member and no owner', 'mia'],
    ['who is a service', 'service:loader'],
    ['who is in no line', 'nobody'],
  ])('is nobody %s', async (_, sub) => {
    const asked = await on.requested(rita)
    const secret = await on.person(sub, ['clerk'])
    expect((await on.decide(secret, asked))[0]).toBe(404)
    expect((await on.ask('GET', `${path}/requests/${asked.id}`, secret))[0]).toBe(404)
    const query = 'everyone=true&namespace=sales&table=orders'
    expect((await on.ask('GET', `${path}/grants?${query}`, secret))[0]).toBe(403)
  })

  test('is the owner of another tenant’s contract in that tenant alone', async () => {
    const asked = await on.requested(rita)
    const otherOlga = await session(on.lake, on.foreign, ['read'], ['analyst'], 'olga')
    expect((await on.decide(otherOlga, asked))[0]).toBe(404)
    const query = 'everyone=true&namespace=sales&table=orders'
    expect((await on.ask('GET', `${path}/requests?${query}`, otherOlga))[0]).toBe(403)
  })

  test('is one of the two approvers of a plan', async () => {
    await plan({ approvers: 2 }, { owners })
    const asked = await on.requested(rita)
    expect(await on.decide(olga, asked)).toEqual([200, {}])
    expect((await on.decide(olga, asked))[0]).toBe(409)
    await on.revoke(stella, grantOf(await on.decide(stella, asked)).id)
  })

  test('named by an address decides where the tenant matches people by it', async () => {
    await plan({}, { owners: [{ username: 'omar@shop.example', role: 'owner' }] })
    const { createServiceSession } = await import('../../src/store/session/sessions.ts')
    const principal = { sub: 'user_01', email: 'omar@shop.example', roles: ['clerk'] }
    const { store, tenant } = on.lake
    const { secret } = await createServiceSession(store, tenant, { name: 'o', principal, scopes: ['read'] })
    const asked = await on.requested(rita)
    expect((await on.decide(secret, asked))[0]).toBe(404)
    const owner = await on.person('boss', ['owner'])
    const settings = { claim: 'email', attribute: 'email', roles_from: 'token' }
    expect((await on.ask('PUT', '/api/v1/provisioning', owner, settings))[0]).toBe(200)
    await on.revoke(stella, grantOf(await on.decide(secret, asked)).id)
    await on.ask('PUT', '/api/v1/provisioning', owner, { ...settings, claim: 'sub' })
  })
})

describe('a decision', () => {
  const shown = async (secret: string, more: object) => {
    const { id } = await on.requested(rita, more)
    return (await on.shown(secret, id)).reveals as Record<string, never> | undefined
  }
  beforeAll(() => plan({}, { owners: [{ username: 'olga', role: 'owner' }] }))

  test('shows how many rows the reader sees now and would see, and which roles see them anyway', async () => {
    const everything = await shown(stella, { columns: undefined })
    const rows = everything?.rows as unknown as { before: number; after: number }
    expect(rows.after).toBeGreaterThan(rows.before)
    expect(rows.before).toBeGreaterThan(0)
    expect(everything).toMatchObject({
      columns: [{ name: 'email', roles: ['officer'] }],
      filters: [
        { id: 'orders-rows', roles: ['officer'] },
        { id: 'some', roles: ['officer'] },
      ],
    })
    const column = await shown(stella, {})
    expect(column?.rows).toEqual({ before: rows.before, after: rows.before } as never)
    const ofRole = await shown(stella, { columns: undefined, role: 'analyst' })
    expect(ofRole?.rows).toEqual(rows as never)
  })

  test('counts the rows also where the contract lets read for a purpose only', async () => {
    await on.put(stella, accessDocument({ purposes: ['refunds'] }))
    const rows = (await shown(stella, { columns: undefined, purpose: 'Refunds' }))?.rows
    expect(rows).toEqual({ before: expect.any(Number), after: expect.any(Number) } as never)
    await plan({}, { owners: [{ username: 'olga', role: 'owner' }] })
  })

  test('shows who has a grant of the table by now, and the rows that it opened', async () => {
    const filter = { columns: undefined, filters: ['some'] }
    const { after } = ((await shown(stella, filter))?.rows ?? {}) as { after?: number }
    const { id } = grantOf(await on.decide(stella, await on.requested(rita, filter)))
    const next = await shown(stella, {})
    expect(next?.rows).toEqual({ before: after, after } as never)
    expect(next?.open_grants).toMatchObject([{ id, grantee: { sub: 'rita' }, purpose: 'Refunds' }])
    const readers = '/api/v1/query/readers/list?namespace=sales&table=orders&limit=1000'
    const lines = async (secret: string) =>
      itemsOf(await on.ask('GET', readers, secret)).filter(({ kind }) => kind === 'grant')
    expect(await lines(stella)).toMatchObject([
      {
        ...{ name: 'rita', sub: 'rita', until: new Date(nowMs + 3_600_000).toISOString() },
        reasons: ['a grant lifts row filter some', 'purpose given: Refunds'],
      },
    ])
    expect(await lines(mallory)).toEqual([])
    await on.revoke(stella, id)
    expect(await lines(stella)).toEqual([])
    expect((await shown(stella, {}))?.open_grants).toEqual([] as never)
  })

  test('says why the rows cannot be counted, and is made all the same', async () => {
    const [, asked] = await post('/requests', otherRita, asking)
    const { reveals } = await on.shown(mallory, String(asked.id))
    expect(reveals).toMatchObject({ rows: { problem: expect.stringContaining('No catalog has') } })
    expect((await on.decide(mallory, asked as never))[0]).toBe(200)
  })

  test('counts in the one catalog that has the table, and in none where two have it', async () => {
    const { store, tenant } = on.lake
    const stack = new AsyncDisposableStack()
    const folder = await mkdtemp(join(tmpdir(), 'covenant-access-'))
    stack.defer(() => rm(folder, { recursive: true, force: true }))
    const empty = await startDevCatalog({ folder })
    stack.defer(() => empty.stop())
    const { items } = await listCatalogCredentials(store, tenant)
    const add = (nickname: string, endpoint: string) =>
      putCatalogCredential(store, tenant, {
        ...{ nickname, kind: 'alpha', endpoint },
        config: { ...items[0]?.config, endpoint },
      })
    await add('empty', empty.url)
    expect((await shown(stella, {}))?.rows).toEqual({
      before: expect.any(Number),
      after: expect.any(Number),
    } as never)
    await add('twin', items[0]?.endpoint ?? '')
    expect((await shown(stella, {}))?.rows).toEqual({ problem: expect.stringContaining('Several') } as never)
    for (const nickname of ['empty', 'twin']) await removeCatalogCredential(store, tenant, nickname)
    await stack.disposeAsync()
  })

  test('is shown to an owner, and its counts to nobody who only asks or oversees records', async () => {
    const olga = await on.person('olga', ['clerk'], true)
    expect(await shown(olga, {})).toMatchObject({ rows: { before: expect.any(Number) } })
    expect(await shown(rita, {})).toBeUndefined()
    const auditor = await on.person('otto', ['auditor'], true)
    expect(await shown(auditor, {})).toBeUndefined()
  })
})

describe('an owner of the contract that governs a table whose name another one had before', () => {
  const passed = { namespace: ['sales'], name: 'passed' }
  const everyone = '?everyone=true&namespace=sales&table=passed'
  const documentOf = (id: string, username: string) => `apiVersion: v3.1.0
kind: DataContract
id: ${id}
version: 1.0.0
status: active
team: {name: shop, members: [{username: ${username}, role: owner}]}
schema:
- name: orders
  customProperties:
  - {property: covenant, value: {table: {namespace: [sales], name: passed}}}
  properties:
  - name: email
    logicalType: string
    customProperties: [{property: covenant, value: {masks: [{id: hide, action: mask-alphanum}]}}]
`
  const governed = async (id: string, owner: string) => {
    await commitColumns(on.lake.store, on.lake.tenant, passed, { email: 'string' })
    const [status] = await on.ask('PUT', `/api/v1/contracts/documents/${id}`, stella, documentOf(id, owner))
    expect(status).toBe(200)
  }
  const listed = async (secret: string) => {
    const pages = [
      await on.ask('GET', `${path}/requests${everyone}`, secret),
      await on.ask('GET', `${path}/grants${everyone}`, secret),
    ]
    return pages.map((page) =>
      page[0] === 200
        ? itemsOf(page)
            .map(({ id }) => id)
            .toSorted()
        : page[0],
    )
  }
  const asked = () => on.requested(rita, { table: 'passed' })

  test('lists what was asked for and granted under that contract alone', async () => {
    const [olga, oda] = [await on.person('olga', ['clerk'], true), await on.person('oda', ['clerk'], true)]
    await governed('first', 'olga')
    const first = await asked()
    const old = grantOf(await on.decide(stella, first)).id
    const waiting = await asked()
    expect(await listed(olga)).toEqual([[waiting.id, first.id].toSorted(), [old]])
    await recordVerdict(on.lake.store, on.lake.tenant, {
      ...{ intent: intentOf({ table: passed, action: 'drop-table' }), decision: 'APPROVED', reason: '' },
      ...{ policies: [], outcomes: [] },
    })
    expect((await on.ask('DELETE', '/api/v1/contracts/documents/first', stella))[0]).toBe(204)
    await governed('second', 'oda')
    const second = await asked()
    const { id } = grantOf(await on.decide(stella, second))
    expect(await listed(oda)).toEqual([[second.id], [id]])
    expect(await listed(olga)).toEqual([403, 403])
    expect(await listed(stella)).toEqual([[second.id, waiting.id, first.id].toSorted(), [id, old].toSorted()])
    const otherOda = await session(on.lake, on.foreign, ['read'], ['analyst'], 'oda')
    expect(await listed(otherOda)).toEqual([403, 403])
  })
})
