/** Reads and writes a tenant's settings of the read path. A setting that was never set has its default value. */

import type { Actor } from '../../core/administration.ts'
import type { SampleAudience } from '../../core/detection.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { Store } from '../store.ts'
import { lockContracts, recordChange } from './changes.ts'

export interface ReadSettings {
  /** Whether tables without an active contract may be read. Default: no. */
  readonly readableWithoutContract: boolean
  /** Who sees the samples of findings. Default: stewards. */
  readonly findingSamples: SampleAudience
}

/** The tenant's settings. */
export async function readSettings(store: Store, tenant: TenantId): Promise<ReadSettings> {
  const [row] = await store.tenantQuery<{
    readable_without_contract: boolean
    finding_samples: SampleAudience
  }>(tenant, 'select readable_without_contract, finding_samples from svc.read_setting where tenant_id = $1', [
    tenant,
  ])
  return {
    readableWithoutContract: row?.readable_without_contract === true,
    findingSamples: row?.finding_samples ?? 'stewards',
  }
}

/** Writes those of the tenant's settings that are given, and records the change. */
export async function putReadSettings(
  store: Store,
  tenant: TenantId,
  actor: Actor,
  {
    readableWithoutContract,
    findingSamples,
  }: Omit<ReadSettings, 'findingSamples'> & { readonly findingSamples?: SampleAudience | undefined },
): Promise<void> {
  await store.tenantTransaction(tenant, async (tx) => {
    await lockContracts(tx)
    await tx.query(
      `insert into svc.read_setting as s (tenant_id, readable_without_contract, finding_samples)
       values ($1, $2, coalesce($3, 'stewards'))
       on conflict (tenant_id) do update set readable_without_contract = excluded.readable_without_contract,
         finding_samples = coalesce($3, s.finding_samples)`,
      [tenant, readableWithoutContract, findingSamples ?? null],
    )
    const value = {
      readable_without_contract: readableWithoutContract,
      ...(findingSamples !== undefined && { finding_samples: findingSamples }),
    }
    await recordChange(tx, actor, { action: 'put-settings', subject: {}, value })
  })
}
