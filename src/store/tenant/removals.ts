/**
 * Records that a tenant is to be removed: who asked, who confirmed, and from when on. To remove it is not here
 * (remove-tenant.ts). A record is never deleted, and names no person of the tenant.
 */

import { Fault } from '../../base/fault.ts'
import { type Actor, type AdministrationAction, operator } from '../../core/administration.ts'
import { isSamePerson, type SessionPerson } from '../../core/same-person.ts'
import type { TenantId } from '../../core/tenant.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { storableJson } from '../database/names.ts'
import {
  afterPosition,
  type Page,
  type PageRequest,
  pageLimit,
  positionText,
  toPage,
} from '../database/page.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'

interface Step {
  readonly at: Date
  readonly by: SessionPerson
}

export interface TenantRemoval {
  readonly id: string
  readonly tenant: TenantId
  readonly waitDays: number
  /** Of the manifest of an export, in hex. */
  readonly exportSha256: string | undefined
  readonly asked: Step
  readonly confirmed: (Step & { readonly due: Date }) | undefined
  readonly withdrawn: Step | undefined
  readonly startedAt: Date | undefined
  readonly removedAt: Date | undefined
  /** Rows removed, by table. */
  readonly counts: Readonly<Record<string, number>>
}

interface Row {
  readonly removal_id: string
  readonly tenant_id: TenantId
  readonly wait_days: number
  readonly export_sha256: string | null
  readonly asked_at: Date
  readonly asked_by: SessionPerson
  readonly confirmed_at: Date | null
  readonly confirmed_by: SessionPerson | null
  readonly due_at: Date | null
  readonly withdrawn_at: Date | null
  readonly withdrawn_by: SessionPerson | null
  readonly started_at: Date | null
  readonly removed_at: Date | null
  readonly counts: Readonly<Record<string, number>>
}

const columns = `removal_id, tenant_id, wait_days, export_sha256, asked_at, asked_by, confirmed_at, confirmed_by, due_at,
  withdrawn_at, withdrawn_by, started_at, removed_at, counts`

function toRemoval(row: Row): TenantRemoval {
  const { confirmed_at, confirmed_by, due_at, withdrawn_at, withdrawn_by } = row
  const confirmed = confirmed_at && confirmed_by && due_at
  return {
    id: row.removal_id,
    tenant: row.tenant_id,
    waitDays: row.wait_days,
    exportSha256: row.export_sha256 ?? undefined,
    asked: { at: row.asked_at, by: row.asked_by },
    confirmed: confirmed ? { at: confirmed_at, by: confirmed_by, due: due_at } : undefined,
    withdrawn: withdrawn_at && withdrawn_by ? { at: withdrawn_at, by: withdrawn_by } : undefined,
    startedAt: row.started_at ?? undefined,
    removedAt: row.removed_at ?? undefined,
    counts: row.counts,
  }
}

function personOf({ sub, source, session }: Actor): SessionPerson {
  if (source === 'command_line')
    throw new Fault(
      'forbidden',
      'The removal of a tenant takes two persons, and the store at hand names none: call the service with the session of each.',
    )
  return { sub, ...(session?.createdBy !== undefined && { createdBy: session.createdBy }) }
}

/**
 * Asks for the removal of a tenant, which goes on serving until another person confirms.
 * @param wanted.exportSha256 of the manifest of an export, which the record then names
 * @throws Fault `forbidden` at the command line, `not_found`, `conflict` where a hold stands or it was asked already
 */
export async function askTenantRemoval(
  store: Store,
  tenant: TenantId,
  wanted: { readonly waitDays: number; readonly exportSha256: string | undefined },
  by: Actor,
): Promise<TenantRemoval> {
  const person = personOf(by)
  return await store.adminTransaction(async (tx) => {
    await lockTenant(tx, tenant)
    if ((await openRemoval(tx, tenant)) !== undefined)
      throw new Fault('conflict', 'The removal of this tenant was asked for already: confirm or withdraw it.')
    await refuseKept(tx, tenant)
    const [row] = await tx.query<Row>(
      `insert into svc.tenant_removal (tenant_id, wait_days, export_sha256, asked_by)
       values ($1, $2::int, $3, $4::text::jsonb) returning ${columns}`,
      [tenant, wanted.waitDays, wanted.exportSha256 ?? null, storableJson(person)],
    )
    return await recorded(tx, row, by, 'ask-tenant-removal')
  })
}

/**
 * Confirms what another person asked for: the tenant is suspended at once, and its waiting time begins.
 * @throws Fault `forbidden` for the person who asked, `not_found`, `conflict` where a hold stands or it is confirmed
 */
export async function confirmTenantRemoval(
  store: Store,
  tenant: TenantId,
  by: Actor,
): Promise<TenantRemoval> {
  const person = personOf(by)
  return await store.adminTransaction(async (tx) => {
    await lockTenant(tx, tenant)
    const open = await openRemoval(tx, tenant)
    if (open === undefined) throw new Fault('not_found', 'The removal of this tenant was not asked for.')
    if (open.confirmed !== undefined)
      throw new Fault('conflict', 'The removal of this tenant is confirmed already.')
    if (isOnePerson(open.asked.by, person))
      throw new Fault('forbidden', 'Who asked for the removal of a tenant may not confirm it.')
    await refuseKept(tx, tenant)
    await tx.query(`update svc.tenant set state = 'suspended' where tenant_id = $1`, [tenant])
    const [row] = await tx.query<Row>(
      `update svc.tenant_removal set confirmed_at = clock_timestamp(), confirmed_by = $2::text::jsonb,
         due_at = clock_timestamp() + make_interval(days => wait_days)
       where removal_id = $1 returning ${columns}`,
      [open.id, storableJson(person)],
    )
    return await recorded(tx, row, by, 'confirm-tenant-removal')
  })
}

/**
 * Withdraws a removal that has not begun. The tenant stays as suspended as it is.
 * @throws Fault `not_found` where none was asked for, `conflict` where it has begun
 */
export async function withdrawTenantRemoval(
  store: Store,
  tenant: TenantId,
  by: Actor,
): Promise<TenantRemoval> {
  const { sub, session } = by
  const person = { sub, ...(session?.createdBy !== undefined && { createdBy: session.createdBy }) }
  return await store.adminTransaction(async (tx) => {
    await lockTenant(tx, tenant)
    const open = await openRemoval(tx, tenant)
    if (open === undefined) throw new Fault('not_found', 'The removal of this tenant was not asked for.')
    if (open.startedAt !== undefined)
      throw new Fault('conflict', 'The removal of this tenant has begun and goes on to its end.')
    const [row] = await tx.query<Row>(
      `update svc.tenant_removal set withdrawn_at = clock_timestamp(), withdrawn_by = $2::text::jsonb
       where removal_id = $1 returning ${columns}`,
      [open.id, storableJson(person)],
    )
    return await recorded(tx, row, by, 'withdraw-tenant-removal')
  })
}

/** Every removal that was asked for, newest first. @throws Fault `bad_request` for a bad page token */
export async function listTenantRemovals(store: Store, page: PageRequest = {}): Promise<Page<TenantRemoval>> {
  const limit = pageLimit(page)
  const [time, id] = afterPosition(page)
  const rows = await store.adminQuery<Row & { readonly position: string }>(
    `select ${columns}, ${positionText('asked_at', 'removal_id')} as position from svc.tenant_removal
     where $1::text is null or (asked_at, removal_id) < ($1::text::timestamptz, $2::text::uuid)
     order by asked_at desc, removal_id desc limit $3::int`,
    [time ?? null, id ?? null, limit + 1],
  )
  const listed = toPage(rows, limit, ({ position }) => position)
  return { ...listed, items: listed.items.map(toRemoval) }
}

/** Removals to begin or go on with, and those that ended within a day, as a late row may have come. */
export async function dueTenantRemovals(store: Store): Promise<readonly TenantRemoval[]> {
  const rows = await store.adminQuery<Row>(
    `select ${columns} from svc.tenant_removal where withdrawn_at is null and due_at <= clock_timestamp()
       and (removed_at is null or removed_at > clock_timestamp() - interval '1 day') order by due_at, removal_id`,
  )
  return rows.map(toRemoval)
}

/**
 * Begins a removal whose time has come. From then on it is not withdrawn, and no hold is set.
 * @throws Fault `conflict` where a hold stands, `not_found` where it was withdrawn
 */
export async function beginTenantRemoval(store: Store, { id, tenant }: TenantRemoval): Promise<void> {
  await store.adminTransaction(async (tx) => {
    await lockTenant(tx, tenant)
    await refuseKept(tx, tenant)
    const begun = await tx.query(
      `update svc.tenant_removal set started_at = coalesce(started_at, clock_timestamp())
       where removal_id = $1 and withdrawn_at is null and due_at <= clock_timestamp() returning 1`,
      [id],
    )
    if (begun.length === 0) throw new Fault('not_found', 'This removal is not due.')
  })
}

/** Refuses to resume a tenant whose removal is confirmed. Its row is locked. */
export async function refuseResuming(tx: Tx, tenant: TenantId): Promise<void> {
  const open = await openRemoval(tx, tenant)
  if (open?.confirmed !== undefined)
    throw new Fault('conflict', 'The removal of this tenant is confirmed: withdraw it first.')
}

/** Locks the tenant's row, and its holds. @throws Fault `not_found` */
async function lockTenant(tx: Tx, tenant: TenantId): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('holds ' || $1::text, 0))`, [tenant])
  const found = await tx.query('select from svc.tenant where tenant_id = $1 for update', [tenant])
  if (found.length === 0) throw new Fault('not_found', 'There is no such tenant.')
}

async function openRemoval(tx: Tx, tenant: TenantId): Promise<TenantRemoval | undefined> {
  const rows = await tx.query<Row>(
    `select ${columns} from svc.tenant_removal where tenant_id = $1 and withdrawn_at is null for update`,
    [tenant],
  )
  return rows.map(toRemoval)[0]
}

/**
 * Whether both sessions may be of one person, or were made by one. Those of the operator, who owns the store, are of whom
 * they name.
 */
function isOnePerson(a: SessionPerson, b: SessionPerson): boolean {
  const isMadeByOne =
    a.createdBy !== undefined && a.createdBy !== operator().sub && a.createdBy === b.createdBy
  return isSamePerson(a, b) || isMadeByOne
}

/** Holds and months that a refusal names at most. */
const namedMax = 20

/** @throws Fault `conflict` where a legal hold of the tenant stands, or a detached month has rows of it */
async function refuseKept(tx: Tx, tenant: TenantId): Promise<void> {
  const keeping = await tx.query<{ readonly kind: 'hold' | 'month'; readonly name: string }>(
    'select kind, name from svc.what_keeps_tenant($1::uuid) limit $2::int',
    [tenant, namedMax],
  )
  const named = (kind: 'hold' | 'month') => keeping.filter((one) => one.kind === kind).map(({ name }) => name)
  const [holds, months] = [named('hold'), named('month')]
  if (holds.length > 0)
    throw new Fault('conflict', `Legal holds keep this tenant; release them first: ${holds.join('; ')}.`)
  if (months.length > 0)
    throw new Fault(
      'conflict',
      `Months that are detached, or being detached, have rows of this tenant; export and drop their tables first: ${months.join(', ')}.`,
    )
}

async function recorded(
  tx: Tx,
  row: Row | undefined,
  by: Actor,
  action: AdministrationAction,
): Promise<TenantRemoval> {
  if (row === undefined) throw new Error('a statement gave no row')
  const value = { wait_days: row.wait_days, due_at: row.due_at ?? undefined }
  const subject = { tenant: row.tenant_id, removal: row.removal_id }
  await recordAdministration(tx, by, { action, subject, value }, row.tenant_id)
  return toRemoval(row)
}
