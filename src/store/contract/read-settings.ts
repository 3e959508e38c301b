/** Reads and writes a tenant's settings of reading. A setting that was never set has its default. */

import type { Actor } from '../../core/administration.ts'
import type { SampleAudience } from '../../core/detection.ts'
import type { TenantId } from '../../core/tenant.ts'
import { type Uncontracted, uncontractedDefault } from '../../core/uncontracted.ts'
import type { Store } from '../store.ts'
import { lockContracts, recordChange } from './changes.ts'

interface ReadSettings {
  /** Who may read tables without an active contract. Default: see core/uncontracted.ts. */
  readonly uncontracted: Uncontracted
  /** Who sees the samples of findings. Default: stewards. */
  readonly findingSamples: SampleAudience
}

/** The tenant's settings. */
export async function readSettings(store: Store, tenant: TenantId): Promise<ReadSettings> {
  const [row] = await store.tenantQuery<{
    uncontracted: Uncontracted
    finding_samples: SampleAudience
  }>(tenant, 'select uncontracted, finding_samples from svc.read_setting where tenant_id = $1', [tenant])
  return {
    uncontracted: row?.uncontracted ?? uncontractedDefault,
    findingSamples: row?.finding_samples ?? 'stewards',
  }
}

/** Writes those of the tenant's settings that are given, and records the change. */
export async function putReadSettings(
  store: Store,
  tenant: TenantId,
  actor: Actor,
  { uncontracted, findingSamples }: { readonly [K in keyof ReadSettings]?: ReadSettings[K] | undefined },
): Promise<void> {
  await store.tenantTransaction(tenant, async (tx) => {
    await lockContracts(tx)
    await tx.query(
      `insert into svc.read_setting as s (tenant_id, uncontracted, finding_samples)
       values ($1, coalesce($2, '${uncontractedDefault}'), coalesce($3, 'stewards'))
       on conflict (tenant_id) do update set uncontracted = coalesce($2, s.uncontracted),
         finding_samples = coalesce($3, s.finding_samples)`,
      [tenant, uncontracted ?? null, findingSamples ?? null],
    )
    const value = {
      ...(uncontracted !== undefined && { uncontracted }),
      ...(findingSamples !== undefined && { finding_samples: findingSamples }),
    }
    await recordChange(tx, actor, { action: 'put-settings', subject: {}, value })
  })
}
