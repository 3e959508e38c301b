/**
 * Stores grants of access to a table for a time. That a grant is over is decided by its times, wherever it is applied;
 * the end that is written here is the record of it, or a revocation. A grant is never removed.
 */

import type { Grantee, GrantLifts } from '../../core/access-grant.ts'
import type { Actor } from '../../core/administration.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { given } from '../database/conditions.ts'
import { nodeId, storableJson, storableText } from '../database/names.ts'
import {
  afterPosition,
  isUuid,
  type Page,
  type PageRequest,
  pageLimit,
  positionText,
  toPage,
} from '../database/page.ts'
import type { Tx } from '../database/session.ts'
import { appendEvent } from '../event/events.ts'
import type { Store } from '../store.ts'
import type { AccessFilter, Placed } from './access-requests.ts'

export interface NewGrant {
  readonly id: string
  readonly request: string
  readonly table: TableRef
  /** As in the request. */
  readonly tableUuid?: string | undefined
  readonly contract: string
  readonly grantee: Grantee
  readonly lifts: GrantLifts
  readonly purpose: string
  readonly ticket: string | undefined
  readonly grantedAt: Date
  readonly grantedBy: Actor
  readonly from: Date
  readonly until: Date
}

export interface Grant extends NewGrant {
  readonly endedAt: Date | undefined
  /** Undefined where its time was over. */
  readonly endedBy: Actor | undefined
  readonly endReason: string | undefined
}

/** Saves a grant. */
export async function insertGrant(tx: Tx, tenant: TenantId, grant: NewGrant): Promise<void> {
  const { table } = grant
  await tx.query(
    `insert into svc.access_grant (tenant_id, grant_id, request_id, table_id, table_ref, contract_id, grantee, lifts,
       purpose, ticket, granted_at, granted_by, from_at, until_at, table_uuid)
     values ($1, $2::uuid, $3::uuid, $4, $5::text::jsonb, $6, $7::text::jsonb, $8::text::jsonb, $9, $10,
       $11::timestamptz, $12::text::jsonb, $13::timestamptz, $14::timestamptz, $15)`,
    [
      ...[tenant, grant.id, grant.request, nodeId(tableKey(table))],
      ...[storableJson({ namespace: table.namespace, name: table.name }), grant.contract],
      ...[storableJson(grant.grantee), storableJson(grant.lifts), storableText(grant.purpose)],
      ...[grant.ticket === undefined ? null : storableText(grant.ticket), grant.grantedAt],
      ...[storableJson(grant.grantedBy), grant.from, grant.until, grant.tableUuid ?? null],
    ],
  )
}

interface Row {
  readonly grant_id: string
  readonly request_id: string
  readonly position: string
  readonly table_ref: TableRef
  readonly contract_id: string
  readonly grantee: Grantee
  readonly lifts: GrantLifts
  readonly purpose: string
  readonly ticket: string | null
  readonly granted_at: Date
  readonly granted_by: Actor
  readonly from_at: Date
  readonly until_at: Date
  readonly ended_at: Date | null
  readonly ended_by: Actor | null
  readonly end_reason: string | null
}

const columns = `grant_id, request_id,
  ${positionText('granted_at', 'grant_id')} as position,
  table_ref, contract_id, grantee, lifts, purpose, ticket, granted_at, granted_by, from_at, until_at, ended_at,
  ended_by, end_reason`

function grantOf(row: Row): Grant {
  const { grantee, lifts, purpose } = row
  return {
    ...{ id: row.grant_id, request: row.request_id, table: row.table_ref, contract: row.contract_id },
    ...{ grantee, lifts, purpose, ticket: row.ticket ?? undefined },
    ...{ grantedAt: row.granted_at, grantedBy: row.granted_by, from: row.from_at, until: row.until_at },
    ...{ endedAt: row.ended_at ?? undefined, endedBy: row.ended_by ?? undefined },
    endReason: row.end_reason ?? undefined,
  }
}

/** A grant, which nobody else may change in this transaction's time; undefined where the tenant has none of the id. */
export async function lockGrant(tx: Tx, tenant: TenantId, id: string): Promise<Grant | undefined> {
  if (!isUuid(id)) return undefined
  const [row] = await tx.query<Row>(
    `select ${columns} from svc.access_grant where tenant_id = $1 and grant_id = $2::uuid for update`,
    [tenant, id],
  )
  return row && grantOf(row)
}

/** The grant of a request, locked as by `lockGrant`; undefined where it has none. */
export async function lockGrantOf(tx: Tx, tenant: TenantId, request: string): Promise<Grant | undefined> {
  const [row] = await tx.query<Row>(
    `select ${columns} from svc.access_grant where tenant_id = $1 and request_id = $2::uuid for update`,
    [tenant, request],
  )
  return row && grantOf(row)
}

/** How many grants of a subject for a table are open at a time, or begin later. */
export async function countOpenGrants(
  tx: Tx,
  tenant: TenantId,
  table: TableRef,
  sub: string,
  at: Date,
): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `select count(*)::int as count from svc.access_grant
     where tenant_id = $1 and table_id = $2 and grantee ->> 'sub' = $3 and ended_at is null
       and until_at > $4::timestamptz`,
    [tenant, nodeId(tableKey(table)), storableText(sub), at],
  )
  return row?.count ?? 0
}

/** Of a request `q`: whether it was granted, and nobody has ended that. */
const isGrantOpen = `(q.state = 'granted' and exists (select from svc.access_grant r
  where r.tenant_id = q.tenant_id and r.request_id = q.request_id and r.ended_at is null))`

/** Whether a grant is renewed, or a request for that waits. */
export async function isRenewed(tx: Tx, tenant: TenantId, id: string): Promise<boolean> {
  const rows = await tx.query(
    `select 1 from svc.access_request q
     where q.tenant_id = $1 and q.renews = $2::uuid and (q.state = 'waiting' or ${isGrantOpen}) limit 1`,
    [tenant, id],
  )
  return rows.length > 0
}

/** The renewals of a grant that nobody ended, which stay locked. */
export async function openRenewals(tx: Tx, tenant: TenantId, id: string): Promise<readonly Grant[]> {
  const rows = await tx.query<Row>(
    `select ${columns} from svc.access_grant
     where tenant_id = $1 and ended_at is null and request_id in (
       select request_id from svc.access_request where tenant_id = $1 and renews = $2::uuid)
     order by from_at for update`,
    [tenant, id],
  )
  return rows.map(grantOf)
}

/** The tenant's grants, newest first. @param openAt those alone that hold at this time @throws Fault `bad_request` */
export async function listGrants(
  store: Store,
  tenant: TenantId,
  { sub, table, contract, roles = [] }: Omit<AccessFilter, 'state'> & { readonly roles?: readonly string[] },
  openAt: Date | undefined,
  page: PageRequest,
): Promise<Page<Grant & Placed>> {
  const limit = pageLimit(page)
  const { text, params } = given(
    [tenant, limit + 1],
    ['(granted_at, grant_id) < (?::timestamptz, ?::uuid)', ...afterPosition(page)],
    [
      `(grantee ->> 'sub' = ? or grantee ->> 'role' in (select jsonb_array_elements_text(?::text::jsonb)))`,
      ...(sub === undefined ? [undefined] : [storableText(sub), JSON.stringify(roles.map(storableText))]),
    ],
    ['table_id = ?', table && nodeId(tableKey(table))],
    ['contract_id = ?', contract === undefined ? undefined : storableText(contract)],
    ['ended_at is null and until_at > ?::timestamptz', openAt],
    ['from_at <= ?::timestamptz', openAt],
  )
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select ${columns} from svc.access_grant where tenant_id = $1${text}
     order by granted_at desc, grant_id desc limit $2::int`,
    params,
  )
  const found = toPage(rows, limit, (row) => row.position)
  return { ...found, items: found.items.map((row) => ({ ...grantOf(row), position: row.position })) }
}

/** Ends a grant, and tells so. @param by undefined where its time was over */
export async function endGrant(
  tx: Tx,
  tenant: TenantId,
  { id, table, request, grantee }: Pick<Grant, 'id' | 'table' | 'request' | 'grantee'>,
  end: { readonly at: Date; readonly by?: Actor | undefined; readonly reason: string },
): Promise<void> {
  await tx.query(
    `update svc.access_grant set ended_at = $3::timestamptz, ended_by = $4::text::jsonb, end_reason = $5
     where tenant_id = $1 and grant_id = $2::uuid and ended_at is null`,
    [tenant, id, end.at, end.by === undefined ? null : storableJson(end.by), storableText(end.reason)],
  )
  await appendEvent(tx, {
    type: 'access.ended',
    subject: tableKey(table),
    data: { grant: id, request, grantee, reason: end.reason, ...(end.by && { by: end.by.sub }) },
  })
}

/** Grants that one call ends or reminds of, at most. */
const dueMax = 500

/** Open grants whose time is over, which stay locked. */
export async function dueGrants(tx: Tx, tenant: TenantId, at: Date): Promise<readonly Grant[]> {
  const rows = await tx.query<Row>(
    `select ${columns} from svc.access_grant
     where tenant_id = $1 and ended_at is null and until_at <= $2::timestamptz
     order by until_at limit ${dueMax} for update skip locked`,
    [tenant, at],
  )
  return rows.map(grantOf)
}

/**
 * Tells of open grants that end within a day, or within a tenth of their time where that is less, and are not renewed. One
 * reminder for each.
 * @returns how many
 */
export async function remindOfGrants(tx: Tx, tenant: TenantId, at: Date): Promise<number> {
  const rows = await tx.query<Row>(
    `update svc.access_grant set reminded_at = $2::timestamptz
     where tenant_id = $1 and grant_id in (select grant_id from svc.access_grant
       where tenant_id = $1 and ended_at is null and reminded_at is null and until_at > $2::timestamptz
         and until_at - least(interval '1 day', (until_at - from_at) / 10) <= $2::timestamptz
         and not exists (select from svc.access_request q
           where q.tenant_id = $1 and q.renews = access_grant.grant_id and ${isGrantOpen})
       order by until_at limit ${dueMax} for update skip locked)
     returning ${columns}`,
    [tenant, at],
  )
  for (const { id, request, table, grantee, until } of rows.map(grantOf))
    await appendEvent(tx, {
      type: 'access.ends_soon',
      subject: tableKey(table),
      data: { grant: id, request, grantee, until: until.toISOString() },
    })
  return rows.length
}
