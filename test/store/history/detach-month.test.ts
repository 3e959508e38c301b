/** Months of the audit log and of usage: detached by settings and holds of all tenants in them, leaving count and hash. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Fault } from '../../../src/base/fault.ts'
import type { TableRef } from '../../../src/core/table-ref.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { listAdministration } from '../../../src/store/administration/administration-log.ts'
import { findAudit } from '../../../src/store/commit/audit.ts'
import { listDecisions } from '../../../src/store/commit/decision-list.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import { storableJson } from '../../../src/store/database/names.ts'
import { releaseHold, setHold } from '../../../src/store/history/holds.ts'
import {
  detachMonth,
  keepMonths,
  listMonths,
  type Month,
  verifyMonth,
} from '../../../src/store/history/months.ts'
import { putRetention } from '../../../src/store/history/retention.ts'
import { reconcileTenant } from '../../../src/store/jobs/reconcile.ts'
import { growOnce } from '../../../src/store/proof/grow-tree.ts'
import { recordUsage } from '../../../src/store/query/usage.ts'
import { actorOf } from '../../support/actor.ts'
import { approvedOf, committedOf, intentOf, rejectedOf } from '../../support/commits.ts'
import { growAll } from '../../support/proof.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'
import { usageRecord } from '../../support/usage.ts'

setDefaultTimeout(120_000)

let store: TestStore
let home: TenantId
let foreign: TenantId
const by = actorOf('root')
const orders = { namespace: ['sales'], name: 'orders' }
const people = { namespace: ['hr'], name: 'people' }

beforeAll(async () => {
  store = await openTestStore()
  home = (await makeTenant(store, { name: 'home' })).id
  foreign = (await makeTenant(store, { name: 'foreign' })).id
  // January to April of 2024, of both kinds.
  expect(await keepMonths(store, new Date(at(0)))).toBe(8)
  for (const tenant of [home, foreign])
    for (const [month, table] of [
      [0, orders],
      [0, people],
      [0, orders],
      [1, orders],
      [1, people],
    ] as const)
      await commit(tenant, table, month)
  await recordVerdict(store, home, rejectedOf(intentOf({ table: orders, receivedAtMs: at(0) })))
  await recordUsage(store, home, usageRecord({ startedAtMs: at(0) }))
})
afterAll(() => store[Symbol.asyncDispose]())

/** A time in January (0) or February (1) of 2024. */
const at = (month: number) => Date.UTC(2024, month, 15, 12)

async function commit(tenant: TenantId, table: TableRef, month: number): Promise<string> {
  const intent = intentOf({ table, receivedAtMs: at(month) })
  await recordVerdict(store, tenant, approvedOf(intent, committedOf()))
  return intent.commitId
}

async function count(tenant: TenantId, from: string): Promise<number> {
  const [row] = await store.tenantQuery<{ n: number }>(tenant, `select count(*)::int as n from ${from}`)
  return row?.n ?? 0
}

async function monthOf(name: string): Promise<Month> {
  const month = (await listMonths(store)).find((one) => one.name === name)
  if (month === undefined) throw new Error(`no month ${name}`)
  return month
}

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: Fault) => `${error.kind} ${error.publicMessage}`,
  )

async function detach(name: string): Promise<void> {
  while ((await detachMonth(store, name, by)).step !== 'detached') {}
}

const [january, february] = ['audit_log_2024_01', 'audit_log_2024_02']

test('a commit is recorded once, whatever its month', async () => {
  const intent = intentOf({ table: orders, receivedAtMs: at(1) })
  const verdict = rejectedOf(intent)
  await recordVerdict(store, home, verdict)
  await recordVerdict(store, home, verdict)
  expect(await count(home, `svc.audit_log where commit_id = '${intent.commitId}'`)).toBe(1)
  const other = approvedOf(intent, committedOf())
  expect(await refusal(recordVerdict(store, home, other))).toContain('conflict')
})

test('a month is kept while a tenant keeps its history for good, or longer, or has a hold in it', async () => {
  expect(await refusal(detachMonth(store, january, by))).toContain('its retention of good')
  await putRetention(store, home, 'audit', 90, by)
  expect(await refusal(detachMonth(store, january, by))).toBe(
    `conflict This month is kept: tenant ${foreign} has 3 rows under its retention of good.`,
  )
  await putRetention(store, foreign, 'audit', 36_500, by)
  expect(await refusal(detachMonth(store, january, by))).toContain('36500 days')
  await putRetention(store, foreign, 'audit', 90, by)
  const table = await setHold(store, foreign, { table: people, reason: 'case' }, by)
  const elsewhere = await setHold(store, home, { table: { namespace: ['x'], name: 'y' }, reason: 'case' }, by)
  expect(await refusal(detachMonth(store, january, by))).toBe(
    `conflict This month is kept: tenant ${foreign} has 3 rows under 1 legal hold.`,
  )
  await releaseHold(store, foreign, table.id, 'closed', by)
  await releaseHold(store, home, elsewhere.id, 'closed', by)
  expect(await count(home, 'svc.audit_log')).toBe(7)
})

test('a month is kept while a tenant in it is being removed, whose rows go', async () => {
  const person = (sub: string) => storableJson({ sub })
  await store.adminQuery(
    `insert into svc.tenant_removal (tenant_id, wait_days, asked_by) values ($1, 30, $2::text::jsonb)`,
    [foreign, person('ann')],
  )
  const change = (set: string, params: readonly string[] = []) =>
    store.adminQuery(`update svc.tenant_removal set ${set} where tenant_id = $1`, [foreign, ...params])
  await change('confirmed_at = now(), confirmed_by = $2::text::jsonb, due_at = now(), started_at = now()', [
    person('bob'),
  ])
  expect(await refusal(detachMonth(store, january, by))).toBe(
    `conflict This month is kept: tenant ${foreign} is being removed.`,
  )
  await change('removed_at = now()')
})

test('a month is kept while the tree of a tenant lacks rows of it; a tenant without a tree keeps none', async () => {
  await growOnce(store, foreign)
  expect(await refusal(detachMonth(store, january, by))).toBe(
    `conflict This month is kept: tenant ${foreign} has rows that are not in the tree of its audit yet.`,
  )
  await growAll(store, foreign)
  expect(await store.adminQuery('select svc.month_blocked($1) as reasons', [january])).toEqual([
    { reasons: null },
  ])
})

test('an earlier month goes first, and the month that runs does not go', async () => {
  expect(await refusal(detachMonth(store, february, by))).toContain('An earlier month')
})

test('a detached month leaves count and hash, no edges, and no breach', async () => {
  await reconcileTenant(store, home)
  await detach(january)
  const { detached } = await monthOf(january)
  expect(detached).toMatchObject({ rows: 7, by: { sub: 'root' }, previousSha256: undefined })
  expect(detached?.sha256).toMatch(/^[0-9a-f]{64}$/)
  expect([await count(home, 'svc.audit_log'), await count(foreign, 'svc.audit_log')]).toEqual([3, 2])
  expect((await listDecisions(store, home, {})).items).toHaveLength(3)
  expect(await count(home, '"INTENDED_WRITE"')).toBe(3)
  expect(await count(home, '"ACTUAL_WRITE"')).toBe(2)
  // The one that was written last of each table is another month's.
  expect(await count(home, '"Snapshot"')).toBe(2)
  for (const tenant of [home, foreign]) {
    await store.ownerTransaction(tenant, (tx) =>
      tx.query('update svc.reconciliation set settled = 0, settles = 0, compared = 0'),
    )
    await reconcileTenant(store, tenant)
    expect(await count(tenant, 'svc.breach')).toBe(0)
    const [logged] = (await listAdministration(store, tenant, { action: 'detach-month' })).items
    expect(logged).toMatchObject({ subject: { month: january }, value: { rows: tenant === home ? 4 : 3 } })
  }
})

test('the next month’s hash begins with the one before; a changed row is found', async () => {
  const kept = await commit(home, orders, 5)
  await detach(february)
  const [first, second] = [await monthOf(january), await monthOf(february)]
  expect(second.detached?.previousSha256).toBe(first.detached?.sha256)
  expect(await verifyMonth(store, first, undefined)).toBeUndefined()
  expect(await verifyMonth(store, second, undefined)).toBeUndefined()
  expect((await findAudit(store, home, kept))?.commitId).toBe(kept)
  await store.ownerTransaction(home, async (tx) => {
    await tx.query(`alter table svc.${february} disable trigger append_only`)
    await tx.query(`update svc.${february} set reason = 'forged' where decision = 'REJECTED'`)
  })
  expect(await refusal(verifyMonth(store, second, undefined))).toContain('differs')
  expect(await verifyMonth(store, first, undefined)).toBeUndefined()
})

test('nobody of the service reads or changes a detached month', async () => {
  for (const change of [`delete from svc.${january}`, `update svc.${january} set reason = 'x'`])
    expect(await refusal(store.ownerTransaction(home, (tx) => tx.query(change)))).toContain('internal')
  expect(await refusal(store.tenantQuery(home, `select * from svc.${january}`))).toContain('unavailable')
})

test('a month that was dropped by the operator keeps its record', async () => {
  await store.ownerTransaction(home, (tx) => tx.query(`drop table svc.${january}`))
  const month = await monthOf(january)
  expect(month.detached).toMatchObject({ rows: 7, isDropped: true })
  expect(await refusal(verifyMonth(store, month, undefined))).toContain('dropped')
})

test('a month of usage is kept by any hold of a tenant that has records in it', async () => {
  await putRetention(store, home, 'usage', 90, by)
  const hold = await setHold(store, home, { table: people, reason: 'case' }, by)
  expect(await refusal(detachMonth(store, 'query_usage_2024_01', by))).toContain('1 legal hold')
  await releaseHold(store, home, hold.id, 'closed', by)
  await detach('query_usage_2024_01')
  expect((await monthOf('query_usage_2024_01')).detached?.rows).toBe(1)
  expect(await count(home, 'svc.query_usage')).toBe(0)
  // A month without rows is detached, too.
  await detach('query_usage_2024_02')
  expect((await monthOf('query_usage_2024_02')).detached?.rows).toBe(0)
})

test('a hold that is set while a month leaves stops it, and its release lets it go', async () => {
  const name = 'audit_log_2024_03'
  await commit(home, orders, 2)
  const page = () =>
    store.adminQuery<{ step: string }>(`select step from svc.detach_page('${name}', '{}', 1000)`)
  while ((await page())[0]?.step !== 'remove') {}
  const hold = await setHold(store, home, { table: orders, reason: 'case' }, by)
  expect(await refusal(detachMonth(store, name, by))).toContain('1 legal hold')
  expect(await count(home, '"INTENDED_WRITE"')).toBe(2)
  await releaseHold(store, home, hold.id, 'closed', by)
  await detach(name)
  expect(await count(home, '"INTENDED_WRITE"')).toBe(1)
})
