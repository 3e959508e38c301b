/**
 * Grants in the store: a rename and a drop of their table, their tenant, and until when they open a table's files. Both
 * tenants have the table, the mask and the subject.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { putMask } from '../../../src/contract/put-mask.ts'
import { type StoredGrant, withGrantsOf } from '../../../src/core/access-grant.ts'
import { effectOf } from '../../../src/core/protection-effect.ts'
import { currentSchema, seenTable, viewerAt } from '../../../src/core/seen-table.ts'
import type { TableRef } from '../../../src/core/table-ref.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import { endGrant, insertGrant, lockGrant } from '../../../src/store/contract/access-grants.ts'
import { readEvents } from '../../../src/store/event/events.ts'
import { loadGovernance } from '../../../src/store/governance/governance.ts'
import { fileSight, sightOfTable } from '../../../src/store/governance/protections.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { actorOf } from '../../support/actor.ts'
import { approvedOf, committedOf, intentOf } from '../../support/commits.ts'
import { commitColumns } from '../../support/governed.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'

setDefaultTimeout(300_000)

let store: TestStore
let ours: TenantId
let theirs: TenantId
const ann = { sub: 'ann', roles: [] }
const hourMs = 3_600_000
const fromMs = 1_800_000_000_000
const refOf = (name: string): TableRef => ({ namespace: ['sales'], name })

beforeAll(async () => {
  store = await openTestStore()
  ours = (await createTenant(store, { name: 'ours' })).id
  theirs = (await createTenant(store, { name: 'theirs' })).id
})
afterAll(() => store[Symbol.asyncDispose]())

/** Makes a masked table in both tenants, and lifts its mask for ann in ours, for an hour. @returns the grant's id */
async function granted(name: string, tableUuid?: string): Promise<string> {
  const table = refOf(name)
  for (const tenant of [ours, theirs]) await masked(tenant, table)
  const column = (await loadGovernance(store, ours, table))?.columns.find((one) => one.name === 'email')
  const id = crypto.randomUUID()
  await store.tenantTransaction(ours, (tx) =>
    insertGrant(tx, ours, {
      ...{ id, request: crypto.randomUUID(), table, contract: 'c', grantee: { sub: 'ann' }, tableUuid },
      lifts: {
        columns: [{ fieldId: column?.fieldId ?? 0, tags: [], masks: (column?.masks ?? []).map(effectOf) }],
        filters: [],
      },
      ...{ purpose: 'refund', ticket: undefined, grantedAt: new Date(fromMs), grantedBy: actorOf('stella') },
      ...{ from: new Date(fromMs), until: new Date(fromMs + hourMs) },
    }),
  )
  return id
}

async function masked(tenant: TenantId, table: TableRef): Promise<void> {
  await commitColumns(store, tenant, table, { id: 'long', email: 'string' })
  const on = { store, tenant, actor: actorOf('stella'), checkPolicies }
  await putMask(on, { table, column: 'email' }, { id: 'hide', action: 'mask-alphanum', exemptRoles: [] })
}

async function sees(table: TableRef, atMs = fromMs, tenant = ours, sub = 'ann'): Promise<boolean> {
  const governance = await loadGovernance(store, tenant, table)
  if (governance === undefined) return false
  const seen = seenTable(governance, currentSchema(governance), viewerAt({ sub, roles: [] }, atMs))
  return seen.columns.find(({ name }) => name === 'email')?.masks.length === 0
}

const change = (action: string, table: TableRef, more: object = {}) =>
  recordVerdict(store, ours, {
    ...{ intent: intentOf({ table, action } as never), decision: 'APPROVED', reason: '', policies: [] },
    ...{ outcomes: [], ...more },
  } as never)

test('a grant is of its tenant, its subject and its hour', async () => {
  const table = refOf('orders')
  await granted('orders')
  expect(await sees(table)).toBe(true)
  expect(await sees(table, fromMs, ours, 'bob')).toBe(false)
  expect(await sees(table, fromMs, theirs)).toBe(false)
  expect([await sees(table, fromMs - 1), await sees(table, fromMs + hourMs)]).toEqual([false, false])
})

test('a grant goes with its table to a new name, and not to a table that takes the old one', async () => {
  await granted('old')
  await masked(ours, refOf('new'))
  await change('rename-table', refOf('old'), { renamedTo: refOf('new') })
  expect([await sees(refOf('old')), await sees(refOf('new'))]).toEqual([false, true])
})

test('a grant of a table that is gone ends where another one is renamed to its name', async () => {
  const id = await granted('gone-upstream')
  await masked(ours, refOf('moves'))
  await change('rename-table', refOf('moves'), { renamedTo: refOf('gone-upstream') })
  expect(await sees(refOf('gone-upstream'))).toBe(false)
  const found = await store.tenantTransaction(ours, (tx) => lockGrant(tx, ours, id))
  expect(found).toMatchObject({ endReason: 'another table has the name' })
})

test('a grant ends where its table is dropped', async () => {
  const id = await granted('gone')
  await change('drop-table', refOf('gone'))
  expect(await sees(refOf('gone'))).toBe(false)
  const found = await store.tenantTransaction(ours, (tx) => lockGrant(tx, ours, id))
  expect(found).toMatchObject({ endReason: 'the table was dropped' })
})

test('a grant is about the table that it was given for, and ends where another one has the name', async () => {
  const first = committedOf().tableUuid ?? ''
  const id = await granted('replaced', first)
  const table = refOf('replaced')
  expect(await sees(table)).toBe(true)
  const held = withGrantsOf(
    { grants: [{ id, tableUuid: first }] as unknown as StoredGrant[] },
    first.toUpperCase(),
  )
  expect(held.grants).toHaveLength(1)
  const commit = intentOf({ table, receivedAtMs: 1_700_000_000_001 })
  const tableUuid = 'AAAAAAAA-0000-4000-8000-000000000000'
  const columns = [{ fieldId: 2n, name: 'email', type: 'string', required: false }]
  expect(
    await recordVerdict(store, ours, approvedOf(commit, committedOf({ tableUuid, columns }))),
  ).toMatchObject({
    ingested: true,
  })
  expect(await sees(table)).toBe(false)
  const found = await store.tenantTransaction(ours, (tx) => lockGrant(tx, ours, id))
  expect(found).toMatchObject({ endReason: 'another table has the name' })
  const told = (await readEvents(store, ours, 0n)).filter(({ data }) => data.grant === id)
  expect(told).toMatchObject([{ type: 'access.ended', data: { reason: 'another table has the name' } }])
})

test('a grant of another table of the name gives out no files, wherever that table came from', async () => {
  await granted('swapped', committedOf().tableUuid)
  const sight = await fileSight(store, ours, refOf('swapped'), ann, { atMs: fromMs, openMs: 0 })
  expect(sight).toMatchObject({ masked: false, grantedOf: [committedOf().tableUuid] })
  expect(sightOfTable(sight, committedOf().tableUuid)).toBe(sight)
  for (const uuid of [undefined, 'aaaaaaaa-0000-4000-8000-000000000000'])
    expect(sightOfTable(sight, uuid)).not.toMatchObject({ masked: false })
})

test('a grant that was ended lifts nothing, and another tenant cannot end it', async () => {
  const id = await granted('ended')
  const grant = { id, request: id, table: refOf('ended'), grantee: { sub: 'ann' } }
  const end = { at: new Date(fromMs), by: actorOf('stella'), reason: 'enough' }
  await store.tenantTransaction(theirs, (tx) => endGrant(tx, theirs, grant, end))
  expect(await sees(refOf('ended'))).toBe(true)
  await store.tenantTransaction(ours, (tx) => endGrant(tx, ours, grant, end))
  expect(await sees(refOf('ended'))).toBe(false)
})

test('files are given out by a grant while it lasts longer than the shortest credential', async () => {
  await granted('files')
  const openMs = 1_500_000
  const sight = (atMs: number, reader: typeof ann | 'anyone' = ann) =>
    fileSight(store, ours, refOf('files'), reader, { atMs, openMs })
  expect(await sight(fromMs)).toMatchObject({ masked: false, untilMs: fromMs + hourMs, passedOver: true })
  expect((await sight(fromMs + hourMs - openMs)).masked).toBe(false)
  expect((await sight(fromMs + hourMs - openMs + 1)).masked).toBe(true)
  expect((await sight(fromMs - 1)).masked).toBe(true)
  expect((await sight(fromMs, 'anyone')).masked).toBe(true)
  expect((await sight(fromMs, { sub: 'bob', roles: [] })).masked).toBe(true)
})
