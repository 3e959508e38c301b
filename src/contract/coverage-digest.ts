/** Tells receivers once a day how well contracts cover the tables of a tenant, where a webhook names that event. */

import type { Core, Job } from '../http/feature.ts'
import { coverageCounts } from '../store/contract/coverage.ts'
import { appendDigest, isDigestDue } from '../store/contract/coverage-digest.ts'
import { activeTenants } from '../store/jobs/due-tenants.ts'

/** The job. It runs each hour, so that a day on which a service was down has its digest later. */
export function coverageJob(core: Core): Job {
  return { name: 'digest-coverage', schedule: '23 * * * *', run: (signal) => digestCoverage(core, signal) }
}

async function digestCoverage(
  { store, clock, log }: Pick<Core, 'store' | 'clock' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  const nowMs = clock.now()
  const day = new Date(nowMs).toISOString().slice(0, 10)
  for (const tenant of await activeTenants(store)) {
    signal.throwIfAborted()
    try {
      if (!(await isDigestDue(store, tenant, day))) continue
      await appendDigest(store, tenant, day, await coverageCounts(store, tenant, nowMs))
    } catch (err) {
      signal.throwIfAborted()
      log.error({ err, tenant }, 'the coverage of a tenant could not be counted; the next run retries')
    }
  }
}
