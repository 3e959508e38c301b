/** Pins, settings, filters on columns and tags, and the list of changes, over HTTP. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { appendSnapshot, orderFields, replaceSchema } from '../../demo/commits.ts'
import { sessionScopes } from '../../src/core/session.ts'
import { listReadableTables } from '../../src/store/governance/readable-tables.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { call, session } from '../support/identity.ts'
import { commit, startTestService, type TestService } from '../support/service.ts'

setDefaultTimeout(300_000)

const base = '/api/v1/contracts'
const orders = `${base}/tables/sales/orders`
const first = 9_007_199_254_740_993n
let service: TestService
let steward: string
let administrator: string
let foreign: string

beforeAll(async () => {
  service = await startTestService()
  for (const snapshotId of [first, first + 1n]) {
    const parentId = snapshotId === first ? undefined : first
    const sequenceNumber = Number(snapshotId - first) + 1
    const body = appendSnapshot({ snapshotId, parentId, sequenceNumber, timestampMs: Date.now() })
    expect((await commit(service, body)).status).toBe(200)
  }
  const other = (await createTenant(service.store, { name: 'foreign' })).id
  steward = await session(service, service.owner.tenant, sessionScopes, ['steward'], 'stella')
  administrator = await session(service, service.owner.tenant, sessionScopes, ['administrator'], 'adam')
  foreign = await session(service, other, sessionScopes, ['steward'])
})
afterAll(() => service[Symbol.asyncDispose]())

const request = (method: string, path: string, body?: unknown, secret = steward) =>
  call(service, method, path, { secret, body })
const status = async (method: string, path: string, body?: unknown, secret = steward) =>
  (await request(method, path, body, secret)).status
const json = async (path: string, secret = steward) =>
  (await (await request('GET', path, undefined, secret)).json()) as {
    readonly items: readonly Record<string, unknown>[]
    readonly [member: string]: unknown
  }

describe('a pin', () => {
  test('names a snapshot that the catalog holds; the latest event is the table’s pin', async () => {
    const pinned = await request('POST', `${orders}/pin`, { catalog: 'main', snapshot_id: String(first) })
    expect([pinned.status, await pinned.json()]).toEqual([
      200,
      {
        sequence: 1,
        kind: 'pin',
        snapshot_id: String(first),
        catalog: 'main',
        by: 'stella',
        session_kind: 'service',
        session_created_by: 'operator',
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      },
    ])
    expect((await json(orders)).pinned_snapshot_id).toBe(String(first))
    // As a number it is beyond 2^53, and still exact.
    expect(await status('POST', `${orders}/pin`, `{"catalog":"main","snapshot_id":${first + 1n}}`)).toBe(200)
    expect((await json(orders)).pinned_snapshot_id).toBe(String(first + 1n))
    expect(await status('POST', `${orders}/unpin`)).toBe(200)
    expect((await json(orders)).pinned_snapshot_id).toBeUndefined()
    expect((await json(`${orders}/pins`)).items.map(({ kind, snapshot_id }) => [kind, snapshot_id])).toEqual([
      ['unpin', undefined],
      ['pin', String(first + 1n)],
      ['pin', String(first)],
    ])
    const page = await json(`${orders}/pins?limit=2`)
    expect(
      (await json(`${orders}/pins?page_token=${page.next_page_token}`)).items.map(({ sequence }) => sequence),
    ).toEqual([1])
    for (const after of ['x', '-1', '02', '9'.repeat(19)])
      expect([after, await status('GET', `${orders}/pins?page_token=${after}`)]).toEqual([after, 400])
  })

  test.each([
    ['no snapshot of the table', { catalog: 'main', snapshot_id: '5' }, 422],
    ['no catalog of the tenant', { catalog: 'other', snapshot_id: String(first) }, 404],
    ['no number', { catalog: 'main', snapshot_id: 'latest' }, 400],
    ['no catalog at all', { snapshot_id: String(first) }, 400],
    ['more than was asked for', { catalog: 'main', snapshot_id: String(first), force: true }, 400],
  ])('of %s is refused', async (_, body, expected) => {
    expect(await status('POST', `${orders}/pin`, body)).toBe(expected)
  })

  test('takes the role of a steward, a table that is there and, to end, a pin', async () => {
    const body = { catalog: 'main', snapshot_id: String(first) }
    expect(await status('POST', `${orders}/pin`, body, administrator)).toBe(403)
    expect(await status('POST', `${orders}/unpin`, undefined, service.owner.secret)).toBe(403)
    expect(await status('POST', `${base}/tables/sales/none/pin`, body)).toBe(404)
    expect(await status('POST', `${orders}/unpin`)).toBe(409)
  })

  test('is nothing to a foreign tenant', async () => {
    expect(await status('GET', `${orders}/pins`, undefined, foreign)).toBe(404)
    expect(
      await status('POST', `${orders}/pin`, { catalog: 'main', snapshot_id: String(first) }, foreign),
    ).toBe(404)
    expect(await status('POST', `${orders}/unpin`, undefined, foreign)).toBe(409)
  })
})

describe('a row filter', () => {
  const explain = async (secret = steward) => {
    const response = await request(
      'POST',
      '/api/v1/query/explain',
      {
        statement: 'SELECT id FROM sales.orders',
        dialect: 'duckdb',
      },
      secret,
    )
    return (await response.json()) as { sql: string; policies: { id: string; origin: object }[] }
  }

  test('of a tag applies wherever the tag is, in each column’s own name', async () => {
    expect(await status('PUT', orders, { id: 'orders', version: 1 })).toBe(204)
    expect(
      await status('PUT', `${base}/tags/who/row-filters/known`, { expression: "this_column <> 'x'" }),
    ).toBe(204)
    expect((await explain()).policies).toEqual([])
    expect(await status('PUT', `${orders}/columns/customer/tags/who`)).toBe(204)
    const { sql, policies } = await explain()
    expect(sql).toContain('"customer"')
    expect(policies).toMatchObject([{ id: 'known', origin: { kind: 'tag', tag: 'who' } }])
    expect((await json(orders)).row_filters).toEqual([
      { id: 'known', expression: "this_column <> 'x'", exempt_roles: [], column: 'customer', tag: 'who' },
    ])
    // A tag on a column whose type the filter does not fit is not saved.
    expect(await status('PUT', `${orders}/columns/placed_at/tags/who`)).toBe(422)
    expect(await status('DELETE', `${base}/tags/who/row-filters/known`)).toBe(204)
    expect((await explain()).policies).toEqual([])
  })

  test('of a column filters its table', async () => {
    const path = `${orders}/columns/id/row-filters/few`
    expect(await status('PUT', path, { expression: 'this_column < 1000' })).toBe(204)
    expect((await explain()).policies).toMatchObject([{ id: 'few', origin: { kind: 'column' } }])
    expect(await status('PUT', `${orders}/columns/none/row-filters/few`, { expression: 'true' })).toBe(404)
    expect(await status('PUT', path, { expression: 'this_column' })).toBe(422)
    expect(await status('DELETE', path, undefined, foreign)).toBe(404)
    expect([await status('DELETE', path), await status('DELETE', path)]).toEqual([204, 404])
  })
})

describe('reading without a contract', () => {
  const settings = `${base}/settings`

  test('is opted into by a steward or administrator, for their own tenant', async () => {
    const withdrawal = { withdraw_gone: 'history', withdraw_days: 7 }
    const closed = { uncontracted: 'to_writers', finding_samples: 'stewards', ...withdrawal }
    expect(await json(settings)).toEqual(closed as never)
    expect(await status('PUT', settings, { uncontracted: 'readable' }, administrator)).toBe(204)
    expect(await json(settings)).toEqual({ ...closed, uncontracted: 'readable' } as never)
    expect(await json(settings, foreign)).toEqual(closed as never)
    expect(await status('PUT', settings, { uncontracted: 'yes' })).toBe(400)
    expect(await status('PUT', settings, { uncontracted: 'readable' }, service.owner.secret)).toBe(403)
  })
})

describe('every change', () => {
  test('is recorded with who made it and what it put; what was refused is not', async () => {
    const before = (await json(`${base}/changes?limit=1000`)).items
    expect(before.map(({ action }) => action).toReversed()).toEqual([
      ...['pin', 'pin', 'unpin'],
      ...['put-contract', 'put-row-filter', 'put-tag', 'delete-row-filter'],
      ...['put-row-filter', 'delete-row-filter', 'put-settings'],
    ])
    expect(before[0]).toMatchObject({
      actor: 'adam',
      action: 'put-settings',
      value: { uncontracted: 'readable' },
    })
    expect(before.at(-1)).toMatchObject({
      actor: 'stella',
      subject: { table: { namespace: ['sales'], name: 'orders' } },
      value: { snapshot_id: String(first), catalog: 'main' },
    })
    expect(await status('PUT', `${orders}/columns/id/masks/m`, { action: 'mask-alphanum' })).toBe(422)
    expect(await status('PUT', `${orders}/columns/id/masks/m`, { action: 'sha-256-global' })).toBe(204)
    expect(await status('DELETE', `${orders}/columns/id/masks/m`)).toBe(204)
    expect(await status('DELETE', orders)).toBe(204)
    const after = (await json(`${base}/changes?limit=3`)).items
    expect(after.map(({ action, actor }) => [action, actor])).toEqual([
      ['delete-contract', 'stella'],
      ['delete-mask', 'stella'],
      ['put-mask', 'stella'],
    ])
    expect(after[2]).toMatchObject({
      subject: { column: 'id', id: 'm' },
      value: { action: 'sha-256-global' },
    })
    expect((await json(`${base}/changes?limit=1000`)).items).toHaveLength(before.length + 3)
  })

  test('is shown to stewards and administrators of the tenant only', async () => {
    expect(await status('GET', `${base}/changes`, undefined, service.owner.secret)).toBe(403)
    expect(await status('GET', `${base}/changes`, undefined, administrator)).toBe(200)
    expect((await json(`${base}/changes`, foreign)).items).toEqual([])
  })

  test('stays recorded', async () => {
    const { store, owner } = service
    const texts = ['delete from svc.contract_change', "update svc.contract_change set actor_sub = 'x'"]
    for (const text of texts)
      expect(
        await store.ownerTransaction(owner.tenant, (tx) => tx.query(text)).catch((e) => e),
      ).toMatchObject({
        detail: '42501',
      })
  })
})

describe('the catalog that SQL clients look at', () => {
  const shown = async () => {
    const { items } = await listReadableTables(service.store, service.owner.tenant, 'anyone')
    return items.map(({ columns }) => columns.map(({ name }) => name))
  }

  test('has the columns of the snapshot that a table is pinned to, as the catalog tells them', async () => {
    const names = orderFields.map(({ name }) => name)
    const renamed = orderFields.map((field) => ({ ...field, name: `${field.name}_now` }))
    expect(await status('PUT', orders, { id: 'orders', version: 2 })).toBe(204)
    expect(await status('POST', `${orders}/pin`, { catalog: 'main', snapshot_id: String(first) })).toBe(200)
    expect((await commit(service, replaceSchema(renamed))).status).toBe(200)
    expect(await shown()).toEqual([names])
    expect(await status('POST', `${orders}/unpin`)).toBe(200)
    expect(await shown()).toEqual([renamed.map(({ name }) => name)])
  })
})
