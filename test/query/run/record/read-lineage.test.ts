/** Lineage by reading, from statements over the wire to the listing; with a foreign tenant beside. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Logger } from 'pino'
import { type ReadLineage, readLineageBounds } from '../../../../src/core/read-lineage.ts'
import type { QueryContext } from '../../../../src/query/query-service.ts'
import { LineageRecorder } from '../../../../src/query/run/record/lineage-recorder.ts'
import type { QueryProgress } from '../../../../src/query/run/record/usage-of.ts'
import { addReadLineage, forgetReadLineage } from '../../../../src/store/query/read-lineage.ts'
import type { Store } from '../../../../src/store/store.ts'
import { createTenant } from '../../../../src/store/tenant/tenants.ts'
import { ask, session } from '../../../support/identity.ts'
import { type Lake, readAs, startLake } from '../../../support/lake.ts'

setDefaultTimeout(300_000)

interface Listed extends ReadLineage {
  readonly principal: string
  readonly fingerprint: string
  readonly reads: number
  readonly last_read_at: string
}

let lake: Lake
let steward: string
let outsider: string

beforeAll(async () => {
  lake = await startLake()
  const foreign = (await createTenant(lake.store, { name: 'foreign' })).id
  steward = await session(lake, lake.tenant, ['read'], ['steward'], 'stella')
  outsider = await session(lake, foreign, ['read'], ['steward'], 'mallory')
})
afterAll(() => lake[Symbol.asyncDispose]())

async function list(query = '', by = steward): Promise<readonly Listed[]> {
  await lake.app.lineageRecorder.flush()
  const { status, body } = await ask(lake, 'GET', `/api/v1/lineage/reads?${query}`, by)
  expect([status, body.error]).toEqual([200, undefined])
  return body.items as readonly Listed[]
}

const statement = (literal: string) =>
  `SELECT id, region || '${literal}' AS "CANARY" FROM sales.orders WHERE id > 0`

test('adds up who read which columns into which result', async () => {
  for (const [env, literal] of [
    [lake.env, 'CANARY-1'],
    [lake.env, 'CANARY-2'],
    [lake.restricted, 'CANARY-3'],
  ] as const)
    expect((await readAs(env, statement(literal))).at(-1)).toStartWith('C SELECT')
  const found = await list('namespace=sales&table=orders')
  expect(found.map(({ principal, reads }) => [principal, reads]).toSorted()).toEqual([
    ['ann', 2],
    ['bob', 1],
  ])
  const [{ columns, outputs, conditions, truncated } = found[0] as Listed] = found
  const named = (places: readonly number[]) => places.map((place) => columns[place]?.column)
  expect([outputs.map(named), named(conditions), truncated]).toEqual([[['id'], ['region']], ['id'], false])
  await readAs(lake.env, statement('CANARY-4'))
  expect((await list()).find(({ principal }) => principal === 'ann')?.reads).toBe(3)
})

test('holds no text of a statement, no literal and no value, in no column of its table', async () => {
  const rows = await lake.store.tenantQuery<{ row: string }>(
    lake.tenant,
    'select to_jsonb(l)::text as row from svc.read_lineage l where tenant_id = $1',
    [lake.tenant],
  )
  expect(rows.length).toBeGreaterThan(0)
  expect(rows.map(({ row }) => row).join()).not.toMatch(/canary|select|\|\|/i)
})

test('is found by column and by who read, in pages', async () => {
  await readAs(lake.env, 'SELECT amount FROM sales.orders')
  const all = await list()
  const [first] = await list('limit=1')
  expect(first).toEqual(all[0] as Listed)
  const page = (await ask(lake, 'GET', '/api/v1/lineage/reads?limit=1', steward)).body
  expect(await list(`limit=1&page_token=${page.next_page_token}`)).toEqual([all[1] as Listed])
  expect(
    (await list('namespace=sales&table=orders&column=amount')).map(({ principal }) => principal),
  ).toEqual(['ann'])
  expect((await list('principal=bob')).map(({ principal }) => principal)).toEqual(['bob'])
  expect(await list('namespace=sales&table=none')).toEqual([])
  const half = await ask(lake, 'GET', '/api/v1/lineage/reads?column=id', steward)
  expect(half.status).toBe(400)
})

test('is not of statements that are refused or fail', async () => {
  const before = await list()
  expect((await readAs(lake.env, 'SELECT none FROM sales.orders'))[0]).toStartWith('E 42703')
  expect((await readAs(lake.env, 'SELECT 1 / (id - id) FROM sales.orders'))[0]).toStartWith('E 22012')
  expect(await list()).toEqual(before)
})

test('of another tenant is not there, and not for everybody', async () => {
  expect(await list('', outsider)).toEqual([])
  const reader = await session(lake, lake.tenant, ['read'], [], 'rita')
  expect((await ask(lake, 'GET', '/api/v1/lineage/reads', reader)).status).toBe(403)
})

test('stands apart from declared lineage', async () => {
  const edges = await lake.store.tenantQuery<{ count: string }>(
    lake.tenant,
    'select count(*) as count from "LINEAGE_OF"',
  )
  expect(edges).toEqual([{ count: '0' }])
})

describe('what is kept', () => {
  const lineage = {
    columns: [{ namespace: ['s'], name: 't', column: 'a' }],
    outputs: [[0]],
    conditions: [],
    truncated: false,
  }
  const entry = { principal: 'old', fingerprint: 'f', lineage, reads: 1 }

  test('ends some time after it was last read, of the tenant alone', async () => {
    const { store, tenant } = lake
    await addReadLineage(store, tenant, [{ ...entry, lastAt: new Date(0) }])
    expect(await list('principal=old')).toHaveLength(1)
    const foreign = (await createTenant(store, { name: 'third' })).id
    expect(await forgetReadLineage(store, foreign)).toBe(0)
    expect(await forgetReadLineage(store, tenant)).toBe(1)
    expect(await list('principal=old')).toEqual([])
  })

  test('is dropped and logged where it cannot be written, and no statement fails', async () => {
    const logged: object[] = []
    const recorder = new LineageRecorder({
      store: refusingStore,
      clock: { now: () => 0 },
      log: { warn: (about: object) => void logged.push(about) } as unknown as Logger,
    })
    const compiled = {
      reads: [{ table: { ref: { namespace: ['s'], name: 't' } } }],
      columns: [],
      lineage: () => lineage,
    }
    for (let index = 0; index <= readLineageBounds.pendingMax; index++)
      recorder.note(
        { tenant: lake.tenant, principal: { sub: `p${index}`, roles: [] } } as unknown as QueryContext,
        { compiled, fingerprint: 'f' } as unknown as QueryProgress,
      )
    await recorder.stop()
    expect(logged).toEqual([
      { dropped: 1 },
      expect.objectContaining({ dropped: readLineageBounds.pendingMax }),
    ])
  })
})

const refusingStore = {
  tenantTransaction: () => Promise.reject(new Error('refused')),
} as unknown as Store
