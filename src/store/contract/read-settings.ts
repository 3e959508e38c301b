/** Reads and writes a tenant's settings of reading. A setting that was never set has its default. */

import type { Actor } from '../../core/administration.ts'
import type { TenantId } from '../../core/tenant.ts'
import { type Uncontracted, uncontractedDefault } from '../../core/uncontracted.ts'
import type { Store } from '../store.ts'
import { lockContracts, recordChange } from './changes.ts'

export interface ReadSettings {
  /** Who may read tables without an active contract. */
  readonly uncontracted: Uncontracted
}

/** The tenant's settings. */
export async function readSettings(store: Store, tenant: TenantId): Promise<ReadSettings> {
  const [row] = await store.tenantQuery<ReadSettings>(
    tenant,
    'select uncontracted from svc.read_setting where tenant_id = $1',
    [tenant],
  )
  return { uncontracted: row?.uncontracted ?? uncontractedDefault }
}

/** Writes the tenant's settings and records the change. */
export async function putReadSettings(
  store: Store,
  tenant: TenantId,
  actor: Actor,
  { uncontracted }: ReadSettings,
): Promise<void> {
  await store.tenantTransaction(tenant, async (tx) => {
    await lockContracts(tx)
    await tx.query(
      `insert into svc.read_setting (tenant_id, uncontracted) values ($1, $2)
       on conflict (tenant_id) do update set uncontracted = excluded.uncontracted`,
      [tenant, uncontracted],
    )
    await recordChange(tx, actor, { action: 'put-settings', subject: {}, value: { uncontracted } })
  })
}
