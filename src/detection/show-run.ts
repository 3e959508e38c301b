/** Shows a detection run with its attempts. */

import { Fault } from '../base/fault.ts'
import { readsAllRecords } from '../core/oversight.ts'
import type { Principal } from '../core/principal.ts'
import type { TenantId } from '../core/tenant.ts'
import { findRun } from '../store/detection/run-list.ts'
import type { Store } from '../store/store.ts'
import { attemptView, runView, sightsOfRuns } from './run-view.ts'

/** Throws `not_found`, also where the principal may not see the table. */
export async function showDetectionRun(store: Store, tenant: TenantId, principal: Principal, id: string) {
  const run = await findRun(store, tenant, id, !readsAllRecords(principal))
  if (run === undefined) throw new Fault('not_found', 'There is no such detection run.')
  const sight = (await sightsOfRuns(store, tenant, principal, [run]))(run)
  return { ...runView(run, sight), attempts: run.attempts.map((attempt) => attemptView(attempt, sight)) }
}
