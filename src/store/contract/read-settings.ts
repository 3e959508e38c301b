/** Reads and writes a tenant's settings of the read path. A setting that was never set has its stricter value. */

import type { Actor } from '../../core/administration.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { Store } from '../store.ts'
import { lockContracts, recordChange } from './changes.ts'

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

/** Writes the tenant's settings and records the change. */
export async function putReadSettings(
  store: Store,
  tenant: TenantId,
  actor: Actor,
  settings: ReadSettings,
): Promise<void> {
  await store.tenantTransaction(tenant, async (tx) => {
    await lockContracts(tx)
    await tx.query(
      `insert into svc.read_setting (tenant_id, readable_without_contract) values ($1, $2)
       on conflict (tenant_id) do update set readable_without_contract = excluded.readable_without_contract`,
      [tenant, settings.readableWithoutContract],
    )
    const value = { readable_without_contract: settings.readableWithoutContract }
    await recordChange(tx, actor, { action: 'put-settings', subject: {}, value })
  })
}
