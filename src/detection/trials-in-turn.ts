/** Lets trials of classifiers on tables scan one at a time, so that they do not hold the workers of detection. */

import { FairTurns } from '../base/fair-turns.ts'
import { Fault } from '../base/fault.ts'
import type { TenantId } from '../core/tenant.ts'
import type { ScanTask } from './scan/scan-snapshot.ts'
import type { TrialParts } from './try-classifier.ts'
import type { ScanOutcome } from './worker-protocol.ts'

/**
 * Tenants take turns, each with one trial: a second one of a tenant is refused while its first waits or runs.
 * @param scan scans in a worker of this replica
 */
export function trialsInTurn(scan: (task: ScanTask) => Promise<ScanOutcome>): TrialParts['scan'] {
  const turns = new FairTurns<TenantId>(0, () => performance.now())
  const tenants = new Set<TenantId>()
  return async (tenant, task) => {
    if (tenants.has(tenant))
      throw new Fault('unavailable', 'Another trial on a table of yours is running. Try again later.')
    tenants.add(tenant)
    try {
      return await turns.take(tenant, () => scan(task))
    } finally {
      tenants.delete(tenant)
    }
  }
}
