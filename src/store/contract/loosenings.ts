/**
 * Stores requests for the sign-off of changes that loosen what a deployed contract promises. A request is never removed;
 * it holds for some days, and is used once.
 */

import type { Actor } from '../../core/administration.ts'
import type { TenantId } from '../../core/tenant.ts'
import { given } from '../database/conditions.ts'
import { storableJson } from '../database/names.ts'
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
import { lockContracts, recordChange } from './changes.ts'

/** Who changes what a tenant's contracts promise. */
export interface SignedContext {
  readonly store: Store
  readonly tenant: TenantId
  readonly actor: Actor
}

/** A change as it is asked for. The same call gives the same one. */
export interface AskedChange {
  readonly action: string
  readonly subject: Readonly<Record<string, unknown>>
  readonly value?: object
}

/** What a sign-off is asked for. */
export interface WantedSignOff {
  readonly sha256: string
  readonly contracts: readonly string[]
  readonly findings: readonly string[]
}

interface LooseningSignOff {
  readonly level: 'first' | 'second'
  readonly comment?: string
  readonly at: string
  readonly by: Actor
}

/** A change that waits for sign-off, or was made with one. */
export interface Loosening {
  readonly id: string
  readonly requestedAt: Date
  /** Hex, of the change, the contracts and the findings. */
  readonly sha256: string
  readonly change: AskedChange
  readonly contracts: readonly string[]
  /** What becomes looser, in words. */
  readonly findings: readonly string[]
  readonly requestedBy: Actor
  readonly signOffs: readonly LooseningSignOff[]
  readonly signedAt: Date | undefined
  readonly usedAt: Date | undefined
  readonly usedBy: Actor | undefined
}

/** Days for which a request, and the sign-offs on it, hold. */
export const looseningDaysMax = 7

/** Saves a request, or finds the one that waits. @returns its id */
export function requestSignOff(
  on: SignedContext,
  asked: AskedChange,
  wanted: WantedSignOff,
): Promise<string> {
  const { store, tenant, actor } = on
  return store.tenantTransaction(tenant, async (tx) => {
    await lockContracts(tx)
    const [open] = await tx.query<{ loosening_id: string }>(
      `select loosening_id from svc.loosening
       where tenant_id = $1 and sha256 = decode($2, 'hex') and used_at is null
         and requested_at > clock_timestamp() - make_interval(days => ${looseningDaysMax})
       order by requested_at desc limit 1`,
      [tenant, wanted.sha256],
    )
    if (open !== undefined) return open.loosening_id
    const id = crypto.randomUUID()
    const { action, subject, value } = asked
    await tx.query(
      `insert into svc.loosening (tenant_id, loosening_id, sha256, action, subject, value, contracts, findings,
         actor_sub, actor)
       values ($1, $2::uuid, decode($3, 'hex'), $4, $5::text::jsonb, $6::text::jsonb, $7::text::jsonb,
         $8::text::jsonb, $9, $10::text::jsonb)`,
      [
        ...[tenant, id, wanted.sha256, action, storableJson(subject)],
        ...[value === undefined ? null : storableJson(value), storableJson(wanted.contracts)],
        ...[storableJson(wanted.findings), actor.sub, storableJson(actor)],
      ],
    )
    const made = { action: 'request-loosening', subject: { loosening: id, ...subject } } as const
    await recordChange(tx, actor, { ...made, value: { action, ...wanted } })
    for (const contract of wanted.contracts)
      await appendEvent(tx, {
        type: 'contract.loosening_requested',
        subject: contract,
        data: { loosening: id, action, by: actor.sub },
      })
    return id
  })
}

/** Appends a sign-off to a request in the caller's transaction, under the lock of contracts. */
export async function addLooseningSignOff(
  tx: Tx,
  { tenant, actor }: Pick<SignedContext, 'tenant' | 'actor'>,
  { id, contracts, signOffs }: Loosening,
  given: {
    readonly level: 'first' | 'second'
    readonly comment: string | undefined
    readonly isLast: boolean
    readonly at: Date
  },
): Promise<void> {
  const { level, comment, isLast, at } = given
  const added = { level, ...(comment !== undefined && { comment }), at: at.toISOString(), by: actor }
  await tx.query(
    `update svc.loosening set sign_offs = $3::text::jsonb, signed_at = case when $4::bool then clock_timestamp() end
     where tenant_id = $1 and loosening_id = $2::uuid`,
    [tenant, id, storableJson([...signOffs, added]), isLast],
  )
  await recordChange(tx, actor, {
    action: 'sign-off-loosening',
    subject: { loosening: id },
    value: { level },
  })
  for (const contract of contracts)
    await appendEvent(tx, {
      type: 'contract.loosening_signed',
      subject: contract,
      data: { loosening: id, level, by: actor.sub },
    })
}

interface Row {
  readonly loosening_id: string
  readonly requested_at: Date
  readonly position: string
  readonly sha256: string
  readonly action: string
  readonly subject: Readonly<Record<string, unknown>>
  readonly value: object | null
  readonly contracts: readonly string[]
  readonly findings: readonly string[]
  readonly actor: Actor
  readonly sign_offs: readonly LooseningSignOff[]
  readonly signed_at: Date | null
  readonly used_at: Date | null
  readonly used_by: Actor | null
}

const columns = `loosening_id, requested_at,
  ${positionText('requested_at', 'loosening_id')} as position,
  encode(sha256, 'hex') as sha256, action, subject, value, contracts, findings, actor, sign_offs, signed_at, used_at,
  used_by`

function looseningOf(row: Row): Loosening {
  const { action, subject, value, contracts, findings, sha256 } = row
  return {
    ...{ id: row.loosening_id, requestedAt: row.requested_at, sha256, contracts, findings },
    change: { action, subject, ...(value !== null && { value }) },
    requestedBy: row.actor,
    signOffs: row.sign_offs,
    signedAt: row.signed_at ?? undefined,
    usedAt: row.used_at ?? undefined,
    usedBy: row.used_by ?? undefined,
  }
}

/** A request; undefined where the tenant has none of the id. */
export async function findLoosening(
  query: Pick<Tx, 'query'>,
  tenant: TenantId,
  id: string,
): Promise<Loosening | undefined> {
  if (!isUuid(id)) return undefined
  const text = `select ${columns} from svc.loosening where tenant_id = $1 and loosening_id = $2::uuid`
  const [row] = await query.query<Row>(text, [tenant, id])
  return row && looseningOf(row)
}

/** The tenant's requests, newest first. @throws Fault `bad_request` for a bad page token */
export async function listLoosenings(
  store: Store,
  tenant: TenantId,
  page: PageRequest,
): Promise<Page<Loosening>> {
  const limit = pageLimit(page)
  const { text, params } = given(
    [tenant, limit + 1],
    ['(requested_at, loosening_id) < (?::timestamptz, ?::uuid)', ...afterPosition(page)],
  )
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select ${columns} from svc.loosening where tenant_id = $1${text}
     order by requested_at desc, loosening_id desc limit $2::int`,
    params,
  )
  const found = toPage(rows, limit, (row) => row.position)
  return { ...found, items: found.items.map(looseningOf) }
}
