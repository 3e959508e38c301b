/** Shows a detection run with its attempts. */

import { Fault } from '../base/fault.ts'
import type { TenantId } from '../core/tenant.ts'
import { findRun } from '../store/detection/run-list.ts'
import type { Store } from '../store/store.ts'
import { attemptView, runView } from './run-view.ts'

/** Throws `not_found`. */
export async function showDetectionRun(store: Store, tenant: TenantId, id: string) {
  const run = await findRun(store, tenant, id)
  if (run === undefined) throw new Fault('not_found', 'There is no such detection run.')
  return { ...runView(run), attempts: run.attempts.map(attemptView) }
}
