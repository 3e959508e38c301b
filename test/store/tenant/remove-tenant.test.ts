/** What is left of a tenant that was removed, on either store: nothing but the record of its removal. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Fault } from '../../../src/base/fault.ts'
import type { Actor } from '../../../src/core/administration.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { releaseHold, setHold } from '../../../src/store/history/holds.ts'
import { recordProviderEvent } from '../../../src/store/session/provider-events.ts'
import {
  askTenantRemoval,
  confirmTenantRemoval,
  dueTenantRemovals,
  listTenantRemovals,
  type TenantRemoval,
  withdrawTenantRemoval,
} from '../../../src/store/tenant/removals.ts'
import { removeTenant } from '../../../src/store/tenant/remove-tenant.ts'
import { getTenant, resumeTenant, suspendTenant } from '../../../src/store/tenant/tenants.ts'
import { actorOf } from '../../support/actor.ts'
import { dumpOf, foundIn } from '../../support/dump.ts'
import { seedTenant } from '../../support/seeded-tenant.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'

setDefaultTimeout(300_000)

const never = new AbortController().signal
const ann = actorOf('ann')
const bob = actorOf('bob')
const wanted = { waitDays: 30, exportSha256: undefined }

let store: TestStore

beforeAll(async () => {
  store = await openTestStore()
}, 300_000)
afterAll(() => store?.[Symbol.asyncDispose]())

const newTenant = async (name: string, organizationId?: string) =>
  (await makeTenant(store, { name, ...(organizationId !== undefined && { organizationId }) })).id

async function refusalOf(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => 'none',
    ({ kind, publicMessage }: Fault) => `${kind}: ${publicMessage}`,
  )
}

/** Lets the waiting time of a removal pass. */
async function passTime(tenant: TenantId): Promise<void> {
  await store.adminQuery(
    `update svc.tenant_removal set confirmed_at = confirmed_at - interval '400 days', due_at = due_at - interval '400 days'
     where tenant_id = $1`,
    [tenant],
  )
}

async function due(tenant: TenantId): Promise<TenantRemoval | undefined> {
  return (await dueTenantRemovals(store)).find((one) => one.tenant === tenant)
}

async function agreed(tenant: TenantId): Promise<TenantRemoval> {
  await askTenantRemoval(store, tenant, wanted, ann)
  await confirmTenantRemoval(store, tenant, bob)
  await passTime(tenant)
  const removal = await due(tenant)
  if (removal === undefined) throw new Error('the removal is not due')
  return removal
}

async function recordOf(tenant: TenantId): Promise<TenantRemoval | undefined> {
  return (await listTenantRemovals(store)).items.find((one) => one.tenant === tenant)
}

test('a removed tenant leaves no row, schema, graph or word; a tenant beside it loses nothing', async () => {
  const [gone, stays] = ['canary-goes', 'canary-stays']
  const home = await newTenant(gone, 'org_canarygoes')
  const foreign = await newTenant(stays, 'org_canarystays')
  for (const [tenant, word, organizationId] of [
    [home, gone, 'org_canarygoes'],
    [foreign, stays, 'org_canarystays'],
  ] as const) {
    await seedTenant(store, tenant, word)
    const hold = await setHold(store, tenant, { table: undefined, reason: word }, actorOf(word))
    await releaseHold(store, tenant, hold.id, word, actorOf(word))
    const event = {
      ...{ provider: 'identity-provider' as const, id: word, type: 'user.updated', organizationId, tenant },
      ...{ payload: JSON.stringify({ word }), effect: undefined },
    } as const
    expect(await recordProviderEvent(store, event, word, 60_000)).toBe('recorded')
  }
  const empty = await store.ownerTransaction(home, async (tx) => {
    await tx.query('set local role none')
    const tables = await tx.query<{ readonly name: string }>(
      `select distinct table_name::text as name from information_schema.columns
       where table_schema = 'svc' and column_name = 'tenant_id' and table_name !~ '^(audit_log|query_usage)_'
         and table_name <> 'tenant_removal'`,
    )
    const found: string[] = []
    for (const { name } of tables) {
      const rows = await tx.query(`select from svc."${name}" where tenant_id = $1 limit 1`, [home])
      if (rows.length === 0) found.push(name)
    }
    return found
  })
  // A table that has no row of the tenant before shows nothing afterwards.
  expect(empty).toEqual([])
  const before = await dumpOf(store, foreign)
  const [goneBefore, staysBefore] = [foundIn(before, gone), foundIn(before, stays)]
  expect(goneBefore.filter((at) => at.startsWith('svc.')).length).toBeGreaterThan(20)
  const texts = ({ length }: readonly unknown[]) => length
  const foreignRows = before.filter(({ text }) => text.includes(foreign)).map(({ text }) => text)

  await removeTenant(store, await agreed(home), never)

  const after = await dumpOf(store, foreign)
  expect(foundIn(after, gone)).toEqual([])
  expect(foundIn(after, 'org_canarygoes')).toEqual([])
  expect(foundIn(after, home)).toEqual(['svc.tenant_removal'])
  expect(foundIn(after, home.replaceAll('-', '_'))).toEqual([])
  expect(foundIn(after, stays)).toEqual(staysBefore)
  const foreignAfter = after.filter(({ text }) => text.includes(foreign)).map(({ text }) => text)
  expect(texts(foreignAfter)).toBe(texts(foreignRows))
  expect(foreignAfter.toSorted()).toEqual(foreignRows.toSorted())
  expect(await getTenant(store, home)).toBeUndefined()
})

test('the record that stays says who asked, who confirmed, when, and how many rows went of each table', async () => {
  const tenant = await newTenant('recorded')
  await askTenantRemoval(store, tenant, { waitDays: 7, exportSha256: 'ab'.repeat(32) }, ann)
  await confirmTenantRemoval(store, tenant, bob)
  await passTime(tenant)
  await removeTenant(store, (await due(tenant)) as TenantRemoval, never)
  const record = await recordOf(tenant)
  expect(record).toMatchObject({
    ...{ tenant, waitDays: 7, exportSha256: 'ab'.repeat(32) },
    ...{ asked: { by: { sub: 'ann' } }, confirmed: { by: { sub: 'bob' } } },
    counts: { tenant: 1, administration_log: 3 },
  })
  expect(record?.removedAt).toBeInstanceOf(Date)
  const deletion = store.ownerTransaction(tenant, (tx) => tx.query('delete from svc.tenant_removal'))
  expect(await deletion.catch(({ kind }: Fault) => kind)).toBe('internal')
})

test('one person does not remove a tenant: not the same subject, nor a session that the other made, nor the store at hand', async () => {
  const tenant = await newTenant('one person')
  const of = (sub: string, createdBy: string): Actor => ({
    ...actorOf(sub),
    session: { id: crypto.randomUUID(), kind: 'service', createdBy },
  })
  await askTenantRemoval(store, tenant, wanted, of('ann', 'eve'))
  for (const by of [of('ann', 'eve'), actorOf('ann'), of('bob', 'ann'), actorOf('eve'), of('bob', 'eve')])
    expect(await refusalOf(confirmTenantRemoval(store, tenant, by))).toBe(
      'forbidden: Who asked for the removal of a tenant may not confirm it.',
    )
  const operator: Actor = { ...actorOf('operator'), source: 'command_line' }
  for (const work of [
    askTenantRemoval(store, tenant, wanted, operator),
    confirmTenantRemoval(store, tenant, operator),
  ])
    expect(await refusalOf(work)).toStartWith('forbidden: The removal of a tenant takes two persons')
  expect((await getTenant(store, tenant))?.state).toBe('active')
})

test('it is suspended from the confirmation on, is not resumed, and is removed no day before its time', async () => {
  const tenant = await newTenant('waiting')
  await askTenantRemoval(store, tenant, wanted, ann)
  expect((await getTenant(store, tenant))?.state).toBe('active')
  const removal = await confirmTenantRemoval(store, tenant, bob)
  expect((await getTenant(store, tenant))?.state).toBe('suspended')
  expect(await refusalOf(resumeTenant(store, tenant))).toBe(
    'conflict: The removal of this tenant is confirmed: withdraw it first.',
  )
  expect(await due(tenant)).toBeUndefined()
  expect(await refusalOf(removeTenant(store, removal, never))).toBe('not_found: This removal is not due.')
  expect((await getTenant(store, tenant))?.state).toBe('suspended')
})

test('a removal that was withdrawn removes nothing, and the tenant is resumed', async () => {
  const tenant = await newTenant('withdrawn')
  const removal = await agreed(tenant)
  await withdrawTenantRemoval(store, tenant, ann)
  expect(await due(tenant)).toBeUndefined()
  expect(await refusalOf(removeTenant(store, removal, never))).toBe('not_found: This removal is not due.')
  expect(await resumeTenant(store, tenant)).toBe(true)
  expect(await refusalOf(withdrawTenantRemoval(store, tenant, ann))).toStartWith('not_found')
  await askTenantRemoval(store, tenant, wanted, ann)
  expect(await refusalOf(askTenantRemoval(store, tenant, wanted, bob))).toStartWith('conflict')
})

test('a legal hold refuses each step by its name, and what is on hold stays', async () => {
  const tenant = await newTenant('held')
  const table = { namespace: ['sales', 'eu'], name: 'orders' }
  const first = await setHold(store, tenant, { table: undefined, reason: 'Case 1' }, ann)
  const named = (id: string, what: string) =>
    `conflict: Legal holds keep this tenant; release them first: ${id} on ${what}.`
  expect(await refusalOf(askTenantRemoval(store, tenant, wanted, ann))).toBe(
    named(first.id, 'the whole tenant (Case 1)'),
  )
  await releaseHold(store, tenant, first.id, 'over', ann)
  await askTenantRemoval(store, tenant, wanted, ann)
  const second = await setHold(store, tenant, { table, reason: 'Case 2' }, ann)
  const byTable = named(second.id, 'a table (Case 2)')
  expect(await refusalOf(confirmTenantRemoval(store, tenant, bob))).toBe(byTable)
  await releaseHold(store, tenant, second.id, 'over', ann)
  await confirmTenantRemoval(store, tenant, bob)
  await passTime(tenant)
  const third = await setHold(store, tenant, { table, reason: 'Case 3' }, ann)
  expect(await refusalOf(removeTenant(store, (await due(tenant)) as TenantRemoval, never))).toBe(
    named(third.id, 'a table (Case 3)'),
  )
  expect(await recordOf(tenant)).toMatchObject({ startedAt: undefined, counts: {} })
})

test('a removal that was interrupted goes on, takes no hold any more, and is not withdrawn', async () => {
  const tenant = await newTenant('interrupted')
  await setHold(store, tenant, { table: undefined, reason: 'early' }, ann).then(({ id }) =>
    releaseHold(store, tenant, id, 'over', ann),
  )
  const removal = await agreed(tenant)
  const stopped = removeTenant(store, removal, AbortSignal.abort(new Error('stopped')))
  expect(await stopped.catch(({ message }: Error) => message)).toBe('stopped')
  expect(await refusalOf(setHold(store, tenant, { table: undefined, reason: 'late' }, ann))).toBe(
    'conflict: The removal of this tenant has begun: nothing of it can be held.',
  )
  expect(await refusalOf(withdrawTenantRemoval(store, tenant, ann))).toStartWith('conflict')
  await removeTenant(store, (await due(tenant)) as TenantRemoval, never)
  expect(await getTenant(store, tenant)).toBeUndefined()
})

test('a row that comes after its tenant is removed by the next run', async () => {
  const tenant = await newTenant('late')
  await removeTenant(store, await agreed(tenant), never)
  const late = store.ownerTransaction(tenant, (tx) =>
    tx.query(`insert into svc.breach (tenant_id, kind, subject, detail) values ($1, 'late', '', '{}')`, [
      tenant,
    ]),
  )
  await late
  const removal = await due(tenant)
  expect(removal?.removedAt).toBeInstanceOf(Date)
  await removeTenant(store, removal as TenantRemoval, never)
  expect(foundIn(await dumpOf(store, tenant), tenant)).toEqual(['svc.tenant_removal'])
})

test('without a removal that has begun, the owner of the tables deletes no row of a log', async () => {
  const tenant = await newTenant('append only')
  await suspendTenant(store, tenant, ann)
  const remove = () =>
    store
      .ownerTransaction(tenant, (tx) => tx.query('delete from svc.administration_log'))
      .then(
        () => 'deleted',
        () => 'refused',
      )
  expect(await remove()).toBe('refused')
  await askTenantRemoval(store, tenant, wanted, ann)
  await confirmTenantRemoval(store, tenant, bob)
  await passTime(tenant)
  expect(await remove()).toBe('refused')
})

test('a table whose rows the owner could not see is named, and nothing is removed', async () => {
  const tenant = await newTenant('hidden')
  const removal = await agreed(tenant)
  const asSuperuser = (text: string) =>
    store.ownerTransaction(tenant, async (tx) => {
      await tx.query('set local role none')
      await tx.script(text)
    })
  await asSuperuser(`create table svc.hidden (tenant_id uuid); alter table svc.hidden owner to svc_owner;
    alter table svc.hidden enable row level security, force row level security;`)
  expect(await refusalOf(removeTenant(store, removal, never))).toBe(
    "misconfigured: No row-level policy lets svc_owner remove a tenant's rows of: hidden.",
  )
  expect((await getTenant(store, tenant))?.state).toBe('suspended')
  await asSuperuser('drop table svc.hidden')
})
