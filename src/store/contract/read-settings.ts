/** A tenant's settings of the read path; what was never set is the stricter. */

import type { TenantId } from '../../core/tenant.ts'
import type { Store } from '../store.ts'
import { holdContracts, recordChange } from './changes.ts'

export interface ReadSettings {
  /** Whether tables without an active contract may be read. */
  readonly readableWithoutContract: boolean
}

/** The tenant's settings. */
export async function readSettings(store: Store, tenant: TenantId): Promise<ReadSettings> {
  const [row] = await store.tenantQuery<{ readable_without_contract: boolean }>(
    tenant,
    'select readable_without_contract from svc.read_setting where tenant_id = $1',
    [tenant],
  )
  return { readableWithoutContract: row?.readable_without_contract === true }
}

/** Sets the tenant's settings and records who did. @param actor subject of the verified principal */
export async function putReadSettings(
  store: Store,
  tenant: TenantId,
  actor: string,
  settings: ReadSettings,
): Promise<void> {
  await store.tenantTransaction(tenant, async (tx) => {
    await holdContracts(tx)
    await tx.query(
      `insert into svc.read_setting (tenant_id, readable_without_contract) values ($1, $2)
       on conflict (tenant_id) do update set readable_without_contract = excluded.readable_without_contract`,
      [tenant, settings.readableWithoutContract],
    )
    const value = { readable_without_contract: settings.readableWithoutContract }
    await recordChange(tx, actor, { action: 'put-settings', subject: {}, value })
  })
}
