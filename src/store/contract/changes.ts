/** Records and lists who changed contracts, filters, masks, tags, pins and read settings, and when. */

import type { Actor, ContractAction } from '../../core/administration.ts'
import type { TenantId } from '../../core/tenant.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { given } from '../database/conditions.ts'
import { storableJson } from '../database/names.ts'
import { afterCount, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'

export interface ContractChange {
  readonly action: ContractAction
  /** The changed table, column, tag or policy, by name. */
  readonly subject: Readonly<Record<string, unknown>>
  /** The new value; absent for a removal. */
  readonly value?: object
}

export interface RecordedChange extends ContractChange {
  /** Rises with each change of the tenant. */
  readonly number: bigint
  readonly at: Date
  /** Subject of who made the change. */
  readonly by: string
  /** Undefined for a change that was made before the actor was recorded. */
  readonly actor: Actor | undefined
}

/** Serializes the changes of a tenant's contracts, because two that conflict only together must not both pass. */
export async function lockContracts(tx: Tx): Promise<void> {
  await tx.query(
    `select pg_advisory_xact_lock(hashtextextended('contracts ' || svc.current_tenant()::text, 0))`,
  )
}

/** Records a change in the transaction that makes it, also in the administration log. */
export async function recordChange(tx: Tx, actor: Actor, change: ContractChange): Promise<void> {
  const { action, subject, value } = change
  await tx.query(
    `insert into svc.contract_change (tenant_id, actor_sub, action, subject, value, actor)
     values (svc.current_tenant(), $1, $2, $3::text::jsonb, $4::text::jsonb, $5::text::jsonb)`,
    [
      actor.sub,
      action,
      storableJson(subject),
      value === undefined ? null : storableJson(value),
      storableJson(actor),
    ],
  )
  await recordAdministration(tx, actor, change)
}

interface Row {
  readonly change_seq: string
  readonly at: Date
  readonly actor_sub: string
  readonly actor: Actor | null
  readonly action: ContractAction
  readonly subject: Readonly<Record<string, unknown>>
  readonly value: object | null
}

/**
 * The tenant's changes, newest first.
 * @throws Fault `bad_request` for a bad page token
 */
export async function listContractChanges(
  store: Store,
  tenant: TenantId,
  page: PageRequest,
): Promise<Page<RecordedChange>> {
  const limit = pageLimit(page)
  const { text, params } = given([tenant, limit + 1], ['change_seq < ?::int8', afterCount(page)])
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select change_seq, at, actor_sub, actor, action, subject, value from svc.contract_change
     where tenant_id = $1${text}
     order by change_seq desc limit $2::int`,
    params,
  )
  const found = toPage(rows, limit, (row) => row.change_seq)
  return {
    ...found,
    items: found.items.map(({ change_seq, at, actor_sub: by, actor, action, subject, value }) => {
      const number = BigInt(change_seq)
      return { number, at, by, actor: actor ?? undefined, action, subject, ...(value !== null && { value }) }
    }),
  }
}
