/** Records and lists who changed contracts, filters, masks, tags, pins and read settings, and when. */

import type { TenantId } from '../../core/tenant.ts'
import { storableJson } from '../database/names.ts'
import { afterCount, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'

export const contractActions = [
  'put-contract',
  'delete-contract',
  'put-row-filter',
  'delete-row-filter',
  'put-mask',
  'delete-mask',
  'put-tag',
  'delete-tag',
  'pin',
  'unpin',
  'put-settings',
] as const
export type ContractAction = (typeof contractActions)[number]

export interface ContractChange {
  readonly action: ContractAction
  /** The changed table, column, tag or policy, by name. */
  readonly subject: Readonly<Record<string, unknown>>
  /** The new value; absent for a removal. */
  readonly value?: object
}

export interface RecordedChange extends ContractChange {
  readonly at: Date
  readonly actor: string
}

/** Serializes the changes of a tenant's contracts, because two that conflict only together must not both pass. */
export async function lockContracts(tx: Tx): Promise<void> {
  await tx.query(
    `select pg_advisory_xact_lock(hashtextextended('contracts ' || svc.current_tenant()::text, 0))`,
  )
}

/** Records a change in the transaction that makes it. @param actor subject of the verified principal */
export async function recordChange(tx: Tx, actor: string, change: ContractChange): Promise<void> {
  const { action, subject, value } = change
  await tx.query(
    `insert into svc.contract_change (tenant_id, actor_sub, action, subject, value)
     values (svc.current_tenant(), $1, $2, $3::text::jsonb, $4::text::jsonb)`,
    [actor, action, storableJson(subject), value === undefined ? null : storableJson(value)],
  )
}

interface Row {
  readonly change_seq: string
  readonly at: Date
  readonly actor_sub: string
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
  const after = afterCount(page)
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select change_seq, at, actor_sub, action, subject, value from svc.contract_change
     where tenant_id = $1 and ($2::int8 is null or change_seq < $2)
     order by change_seq desc limit $3::int`,
    [tenant, after ?? null, limit + 1],
  )
  const found = toPage(rows, limit, (row) => row.change_seq)
  return {
    ...found,
    items: found.items.map(({ at, actor_sub: actor, action, subject, value }) => {
      return { at, actor, action, subject, ...(value !== null && { value }) }
    }),
  }
}
