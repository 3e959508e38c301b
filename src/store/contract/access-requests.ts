/** Stores requests for access to a table for a time, and what was decided of them. A request is never removed. */

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

export const requestStates = [
  ...(['waiting', 'granted', 'denied', 'withdrawn', 'expired'] as const),
  ...(['to_review', 'confirmed', 'condemned'] as const),
] as const
type RequestState = (typeof requestStates)[number]

/**
 * By what a decision is made. `plan`: by the contract's review plan, for who asked; `review`: about access that was taken
 * by break-glass.
 */
export const decisionLevels = ['first', 'second', 'plan', 'review'] as const
type DecisionLevel = (typeof decisionLevels)[number]

export interface AccessDecision {
  readonly approves: boolean
  readonly level: DecisionLevel
  readonly comment?: string
  /** RFC 3339. */
  readonly at: string
  readonly by: Actor
}

export interface NewAccessRequest {
  readonly id: string
  readonly requestedAt: Date
  /** Hex: what a decision decides. */
  readonly sha256: string
  readonly table: TableRef
  /** Of that table, in lower case; undefined where it is not known. */
  readonly tableUuid?: string | undefined
  readonly contract: { readonly id: string; readonly version: number }
  readonly grantee: Grantee
  readonly wanted: {
    readonly columns?: readonly string[]
    readonly filters?: readonly string[]
    readonly policies?: readonly string[]
  }
  readonly lifts: GrantLifts
  readonly purpose: string
  readonly ticket: string | undefined
  readonly seconds: number
  readonly requestedBy: Actor
  /** Whether access is taken at once, and reviewed afterwards. */
  readonly isBreakGlass: boolean
  /** The grant that it would renew. */
  readonly renews: string | undefined
  readonly state: RequestState
  readonly decisions: readonly AccessDecision[]
}

export interface AccessRequest extends NewAccessRequest {
  readonly endedAt: Date | undefined
}

/** Saves a request. */
export async function insertAccessRequest(
  tx: Tx,
  tenant: TenantId,
  request: NewAccessRequest,
): Promise<void> {
  const { table, contract, requestedBy } = request
  await tx.query(
    `insert into svc.access_request (tenant_id, request_id, requested_at, sha256, table_id, table_ref, contract_id,
       contract_version, grantee, wanted, lifts, purpose, ticket, seconds, requested_by, requested_by_sub, break_glass,
       renews, state, decisions, table_uuid, ended_at)
     values ($1, $2::uuid, $3::timestamptz, decode($4, 'hex'), $5, $6::text::jsonb, $7, $8::int8, $9::text::jsonb,
       $10::text::jsonb, $11::text::jsonb, $12, $13, $14::int8, $15::text::jsonb, $16, $17::bool, $18::uuid, $19,
       $20::text::jsonb, $21, case when $19 in ('waiting', 'to_review') then null else $3::timestamptz end)`,
    [
      ...[tenant, request.id, request.requestedAt, request.sha256],
      ...[nodeId(tableKey(table)), storableJson({ namespace: table.namespace, name: table.name })],
      ...[contract.id, contract.version],
      ...[storableJson(request.grantee), storableJson(request.wanted), storableJson(request.lifts)],
      ...[storableText(request.purpose), request.ticket === undefined ? null : storableText(request.ticket)],
      ...[request.seconds, storableJson(requestedBy), storableText(requestedBy.sub), request.isBreakGlass],
      ...[request.renews ?? null, request.state, storableJson(request.decisions), request.tableUuid ?? null],
    ],
  )
}

/** How many requests of a subject wait; it makes none beside this transaction. */
export async function countWaiting(tx: Tx, tenant: TenantId, sub: string): Promise<number> {
  await tx.query(
    `select pg_advisory_xact_lock(hashtextextended('access ' || svc.current_tenant()::text || $1, 0))`,
    [storableText(sub)],
  )
  const [row] = await tx.query<{ count: number }>(
    `select count(*)::int as count from svc.access_request
     where tenant_id = $1 and requested_by_sub = $2 and state = 'waiting'`,
    [tenant, storableText(sub)],
  )
  return row?.count ?? 0
}

/** Saves what was decided: another approval, or the end of the request. */
export async function updateAccessRequest(
  tx: Tx,
  tenant: TenantId,
  { id, state, decisions, endedAt }: Pick<AccessRequest, 'id' | 'state' | 'decisions' | 'endedAt'>,
): Promise<void> {
  await tx.query(
    `update svc.access_request set state = $3, decisions = $4::text::jsonb, ended_at = $5::timestamptz
     where tenant_id = $1 and request_id = $2::uuid`,
    [tenant, id, state, storableJson(decisions), endedAt ?? null],
  )
}

interface Row {
  readonly request_id: string
  readonly requested_at: Date
  readonly position: string
  readonly sha256: string
  readonly table_ref: TableRef
  readonly table_uuid: string | null
  readonly contract_id: string
  readonly contract_version: string
  readonly grantee: Grantee
  readonly wanted: AccessRequest['wanted']
  readonly lifts: GrantLifts
  readonly purpose: string
  readonly ticket: string | null
  readonly seconds: string
  readonly requested_by: Actor
  readonly break_glass: boolean
  readonly renews: string | null
  readonly state: RequestState
  readonly decisions: readonly AccessDecision[]
  readonly ended_at: Date | null
}

const columns = `request_id, requested_at,
  ${positionText('requested_at', 'request_id')} as position,
  encode(sha256, 'hex') as sha256, table_ref, table_uuid, contract_id, contract_version, grantee, wanted, lifts, purpose,
  ticket, seconds, requested_by, break_glass, renews, state, decisions, ended_at`

function requestOf(row: Row): AccessRequest {
  const { sha256, grantee, wanted, lifts, purpose, state, decisions } = row
  return {
    ...{ id: row.request_id, requestedAt: row.requested_at, sha256, table: row.table_ref },
    tableUuid: row.table_uuid ?? undefined,
    contract: { id: row.contract_id, version: Number(row.contract_version) },
    ...{ grantee, wanted, lifts, purpose, ticket: row.ticket ?? undefined, seconds: Number(row.seconds) },
    ...{ requestedBy: row.requested_by, isBreakGlass: row.break_glass, renews: row.renews ?? undefined },
    ...{ state, decisions, endedAt: row.ended_at ?? undefined },
  }
}

/**
 * A request; undefined where the tenant has none of the id.
 * @param locks whether nobody else may change it in this transaction's time
 */
export async function findAccessRequest(
  query: Pick<Tx, 'query'>,
  tenant: TenantId,
  id: string,
  { locks = false }: { readonly locks?: boolean } = {},
): Promise<AccessRequest | undefined> {
  if (!isUuid(id)) return undefined
  const text = `select ${columns} from svc.access_request where tenant_id = $1 and request_id = $2::uuid`
  const [row] = await query.query<Row>(`${text}${locks ? ' for update' : ''}`, [tenant, id])
  return row && requestOf(row)
}

/** An item of a page. */
export interface Placed {
  /** What the page after it begins with. */
  readonly position: string
}

export interface AccessFilter {
  /** Subject of who asked, or for grants of who has it. */
  readonly sub?: string | undefined
  readonly state?: RequestState | undefined
  readonly table?: TableRef | undefined
  /** The contract that governed the table when access was asked for. */
  readonly contract?: string | undefined
}

/** The tenant's requests, newest first. @throws Fault `bad_request` for a bad page token */
export async function listAccessRequests(
  store: Store,
  tenant: TenantId,
  { sub, state, table, contract }: AccessFilter,
  page: PageRequest,
): Promise<Page<AccessRequest & Placed>> {
  const limit = pageLimit(page)
  const { text, params } = given(
    [tenant, limit + 1],
    ['(requested_at, request_id) < (?::timestamptz, ?::uuid)', ...afterPosition(page)],
    ['requested_by_sub = ?', sub === undefined ? undefined : storableText(sub)],
    ['state = ?', state],
    ['table_id = ?', table && nodeId(tableKey(table))],
    ['contract_id = ?', contract === undefined ? undefined : storableText(contract)],
  )
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select ${columns} from svc.access_request where tenant_id = $1${text}
     order by requested_at desc, request_id desc limit $2::int`,
    params,
  )
  const found = toPage(rows, limit, (row) => row.position)
  return { ...found, items: found.items.map((row) => ({ ...requestOf(row), position: row.position })) }
}

/** Requests that one call ends, at most. */
const expiredMax = 500

/** Ends requests that have waited since before a time, and tells so. @returns how many */
export async function expireAccessRequests(
  tx: Tx,
  tenant: TenantId,
  before: Date,
  at: Date,
): Promise<number> {
  const rows = await tx.query<Row>(
    `update svc.access_request set state = 'expired', ended_at = $3::timestamptz
     where tenant_id = $1 and request_id in (select request_id from svc.access_request
       where tenant_id = $1 and state = 'waiting' and requested_at < $2::timestamptz
       order by requested_at limit ${expiredMax} for update skip locked)
     returning ${columns}`,
    [tenant, before, at],
  )
  for (const { id, table, grantee } of rows.map(requestOf))
    await appendEvent(tx, {
      type: 'access.expired',
      subject: tableKey(table),
      data: { request: id, grantee, reason: 'nobody decided in time' },
    })
  return rows.length
}

/** Reminders that one call gives, at most. */
const remindersMax = 500

/**
 * Tells of access by break-glass that nobody reviewed for a day, once a day for each.
 * @returns how many
 */
export async function remindOfReviews(tx: Tx, tenant: TenantId, at: Date): Promise<number> {
  const rows = await tx.query<Row>(
    `update svc.access_request set reminded_at = $2::timestamptz
     where tenant_id = $1 and request_id in (select request_id from svc.access_request
       where tenant_id = $1 and state = 'to_review'
         and coalesce(reminded_at, requested_at) <= $2::timestamptz - interval '1 day'
       order by requested_at limit ${remindersMax} for update skip locked)
     returning ${columns}`,
    [tenant, at],
  )
  for (const { id, table, grantee, purpose, requestedAt } of rows.map(requestOf))
    await appendEvent(tx, {
      type: 'access.review_overdue',
      subject: tableKey(table),
      data: { request: id, grantee, purpose, since: requestedAt.toISOString() },
    })
  return rows.length
}
