/**
 * Writes and reads the administration log (docs/reference/identity.md 5.6). A row is written in the transaction that
 * makes the change. The database lets nobody update or delete one.
 */

import type { Actor, AdministrationAction } from '../../core/administration.ts'
import type { TenantId } from '../../core/tenant.ts'
import { storableJson, storableText } from '../database/names.ts'
import { afterCount, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'

export interface AdministrationChange {
  readonly action: AdministrationAction
  /** What was changed, by name or id. */
  readonly subject: Readonly<Record<string, unknown>>
  /** What was put there, without secrets; absent for a removal. */
  readonly value?: object
}

export interface AdministrationEntry extends AdministrationChange {
  readonly at: Date
  readonly actor: Actor
}

export interface AdministrationFilter extends PageRequest {
  readonly action?: AdministrationAction | undefined
  /** Subject of the actor. */
  readonly actor?: string | undefined
  readonly requestId?: string | undefined
}

/**
 * Records a change in the transaction that makes it.
 * @param tenant whom the change concerns; absent: the transaction's tenant
 */
export async function recordAdministration(
  tx: Tx,
  actor: Actor,
  { action, subject, value }: AdministrationChange,
  tenant?: TenantId,
): Promise<void> {
  await tx.query(
    `insert into svc.administration_log (tenant_id, action, subject, value, actor_sub, actor, request_id)
     values (coalesce($1::uuid, svc.current_tenant()), $2, $3::text::jsonb, $4::text::jsonb, $5, $6::text::jsonb, $7)`,
    [
      tenant ?? null,
      action,
      storableJson(subject),
      value === undefined ? null : storableJson(value),
      storableText(actor.sub),
      storableJson(actor),
      actor.requestId,
    ],
  )
}

interface Row {
  readonly administration_seq: string
  readonly at: Date
  readonly action: AdministrationAction
  readonly subject: Readonly<Record<string, unknown>>
  readonly value: object | null
  readonly actor: Actor
}

/**
 * The changes of a tenant, newest first.
 * @throws Fault `bad_request` for a bad page token
 */
export async function listAdministration(
  store: Store,
  tenant: TenantId,
  filter: AdministrationFilter = {},
): Promise<Page<AdministrationEntry>> {
  const limit = pageLimit(filter)
  const params: (string | number)[] = [tenant, limit + 1]
  const wanted = (condition: (place: string) => string, value: string | undefined) =>
    value === undefined ? '' : ` and ${condition(`$${params.push(storableText(value))}`)}`
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select administration_seq, at, action, subject, value, actor from svc.administration_log
     where tenant_id = $1${wanted((place) => `administration_seq < ${place}::int8`, afterCount(filter))}${wanted((place) => `action = ${place}`, filter.action)}${wanted((place) => `md5(actor_sub) = md5(${place}) and actor_sub = ${place}`, filter.actor)}${wanted((place) => `request_id = ${place}`, filter.requestId)}
     order by administration_seq desc limit $2::int`,
    params,
  )
  const page = toPage(rows, limit, (row) => row.administration_seq)
  return {
    ...page,
    items: page.items.map(({ at, action, subject, value, actor }) => {
      return { at, action, subject, ...(value !== null && { value }), actor }
    }),
  }
}
