/** Reads and writes a tenant's settings of reading. A setting that was never set has its default. */

import type { Actor } from '../../core/administration.ts'
import type { GoneMode, SampleAudience } from '../../core/detection.ts'
import type { TenantId } from '../../core/tenant.ts'
import { type Uncontracted, uncontractedDefault } from '../../core/uncontracted.ts'
import type { Store } from '../store.ts'
import { lockContracts, recordChange } from './changes.ts'

interface ReadSettings {
  /** Who may read tables without an active contract. Default: see core/uncontracted.ts. */
  readonly uncontracted: Uncontracted
  /** Who sees the samples of findings. Default: stewards. */
  readonly findingSamples: SampleAudience
  /** Whether a tag falls whose values are gone. Default: history. */
  readonly withdrawGone: GoneMode
  /** Days after which it does. Default: 7. */
  readonly withdrawDays: number
}

/** The tenant's settings. */
export async function readSettings(store: Store, tenant: TenantId): Promise<ReadSettings> {
  const [row] = await store.tenantQuery<{
    uncontracted: Uncontracted
    finding_samples: SampleAudience
    withdraw_gone: GoneMode
    withdraw_days: number
  }>(
    tenant,
    'select uncontracted, finding_samples, withdraw_gone, withdraw_days from svc.read_setting where tenant_id = $1',
    [tenant],
  )
  return {
    uncontracted: row?.uncontracted ?? uncontractedDefault,
    findingSamples: row?.finding_samples ?? 'stewards',
    withdrawGone: row?.withdraw_gone ?? 'history',
    withdrawDays: row?.withdraw_days ?? 7,
  }
}

/** Writes those of the tenant's settings that are given, and records the change. */
export async function putReadSettings(
  store: Store,
  tenant: TenantId,
  actor: Actor,
  settings: { readonly [K in keyof ReadSettings]?: ReadSettings[K] | undefined },
): Promise<void> {
  await store.tenantTransaction(tenant, async (tx) => {
    await lockContracts(tx)
    const { uncontracted, findingSamples, withdrawGone, withdrawDays } = settings
    await tx.query(
      `insert into svc.read_setting as s (tenant_id, uncontracted, finding_samples, withdraw_gone, withdraw_days)
       values ($1, coalesce($2, '${uncontractedDefault}'), coalesce($3, 'stewards'), coalesce($4, 'history'), coalesce($5::int, 7))
       on conflict (tenant_id) do update set uncontracted = coalesce($2, s.uncontracted),
         finding_samples = coalesce($3, s.finding_samples), withdraw_gone = coalesce($4, s.withdraw_gone),
         withdraw_days = coalesce($5::int, s.withdraw_days)`,
      [tenant, uncontracted ?? null, findingSamples ?? null, withdrawGone ?? null, withdrawDays ?? null],
    )
    const value = {
      ...(uncontracted !== undefined && { uncontracted }),
      ...(findingSamples !== undefined && { finding_samples: findingSamples }),
      ...(withdrawGone !== undefined && { withdraw_gone: withdrawGone }),
      ...(withdrawDays !== undefined && { withdraw_days: withdrawDays }),
    }
    await recordChange(tx, actor, { action: 'put-settings', subject: {}, value })
  })
}
