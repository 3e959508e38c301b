/** Writes down which grants of access are over, reminds of those that end soon and of break-glass that nobody reviewed, and ends requests that nobody decided. */

import type { Core, Job } from '../../http/feature.ts'
import { dueGrants, endGrant, remindOfGrants } from '../../store/contract/access-grants.ts'
import { expireAccessRequests, remindOfReviews } from '../../store/contract/access-requests.ts'
import { activeTenants } from '../../store/jobs/due-tenants.ts'
import { waitingDaysMax } from './review.ts'

/** The job. That a grant is over does not wait for it: its times decide that wherever it is applied. */
export function accessJob(core: Core): Job {
  return { name: 'end-access', schedule: '* * * * *', run: (signal) => endAccess(core, signal) }
}

/** One run over all tenants. */
export async function endAccess(
  { store, clock, log }: Pick<Core, 'store' | 'clock' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  for (const tenant of await activeTenants(store)) {
    signal.throwIfAborted()
    try {
      await store.tenantTransaction(tenant, async (tx) => {
        const at = new Date(clock.now())
        for (const grant of await dueGrants(tx, tenant, at))
          await endGrant(tx, tenant, grant, { at: grant.until, reason: 'its time was over' })
        await remindOfGrants(tx, tenant, at)
        await remindOfReviews(tx, tenant, at)
        await expireAccessRequests(tx, tenant, new Date(at.getTime() - waitingDaysMax * 86_400_000), at)
      })
    } catch (err) {
      signal.throwIfAborted()
      log.error({ err, tenant }, 'the grants of a tenant could not be looked after; the next run retries')
    }
  }
}
