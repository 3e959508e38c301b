/** Graph queries, and the job that compares the graph with its relational projection. */

import type { TenantId } from '../core/tenant.ts'
import { bind } from '../http/declare.ts'
import type { Core, Feature } from '../http/feature.ts'
import { reconcileTenant } from '../store/jobs/reconcile.ts'
import { eachTenant } from '../store/tenant/tenants.ts'
import { graphQueryOperations } from './operations.ts'

/** Graph queries, and the comparison of the graph. */
export function graphFeature(core: Core): Feature {
  return {
    operations: bind(graphQueryOperations, core),
    jobs: [
      {
        name: 'reconcile',
        schedule: '7 * * * *',
        run: (signal) => reconcile(core, signal),
        gauge: core.metrics.reconciliationCoverage,
      },
    ],
  }
}

/**
 * Compares the graph of each tenant with its relational projection. Drift is a `breach` (docs/reference/operations.md
 * 3.2).
 */
async function reconcile(core: Core, signal: AbortSignal): Promise<void> {
  let covered = 1
  for await (const tenant of eachTenant(core.store, signal)) {
    try {
      covered = Math.min(covered, await reconcileOne(core, tenant, signal))
    } catch (err) {
      signal.throwIfAborted()
      covered = 0
      // The other tenants must still be compared.
      core.log.error({ err, tenant }, 'a tenant could not be reconciled; the next run retries')
    }
  }
  core.metrics.reconciliationCoverage.set(covered)
}

/** @returns the share of the tenant's history that was compared within a week */
async function reconcileOne(
  { store, metrics, log }: Core,
  tenant: TenantId,
  signal: AbortSignal,
): Promise<number> {
  const { breaches, coverage } = await reconcileTenant(store, tenant, signal)
  for (const breach of breaches) {
    if (!breach.isNew) continue
    metrics.reconciliationBreaches.inc()
    log.error({ breach }, 'breach: the graph and its relational projection differ')
  }
  return coverage
}
