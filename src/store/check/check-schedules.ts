/** Stores up to which moment and event the schedules of a contract were looked at. */

import type { TenantId } from '../../core/tenant.ts'
import { storableText } from '../database/names.ts'
import type { Store } from '../store.ts'

interface CheckCursor {
  readonly lookedAtMs: number
  /** The last event that was handled. */
  readonly sequence: bigint
}

/** Where the look at a contract's schedules goes on; undefined where it was never looked at. */
export async function findCheckCursor(
  store: Store,
  tenant: TenantId,
  contract: string,
): Promise<CheckCursor | undefined> {
  const [row] = await store.tenantQuery<{ looked_at: Date; event_sequence: string }>(
    tenant,
    'select looked_at, event_sequence from svc.check_schedule where tenant_id = $1 and contract_id = $2',
    [tenant, storableText(contract)],
  )
  return row && { lookedAtMs: row.looked_at.getTime(), sequence: BigInt(row.event_sequence) }
}

/** Says up to where the schedules of a contract were looked at. */
export async function saveCheckCursor(
  store: Store,
  tenant: TenantId,
  contract: string,
  { lookedAtMs, sequence }: CheckCursor,
): Promise<void> {
  await store.tenantQuery(
    tenant,
    `insert into svc.check_schedule (tenant_id, contract_id, looked_at, event_sequence) values ($1, $2, $3, $4::int8)
     on conflict (tenant_id, contract_id)
       do update set looked_at = excluded.looked_at, event_sequence = excluded.event_sequence`,
    [tenant, storableText(contract), new Date(lookedAtMs), sequence],
  )
}
