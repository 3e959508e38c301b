/** The job that removes tenants whose removal was confirmed and whose waiting time is over. */

import { Fault } from '../../base/fault.ts'
import type { Core, Job } from '../../http/feature.ts'
import { dueTenantRemovals } from '../../store/tenant/removals.ts'
import { removeTenant } from '../../store/tenant/remove-tenant.ts'

/** The job; what fails is logged and tried by the next run. */
export function removeTenants({ store, log }: Pick<Core, 'store' | 'log'>): Job {
  return {
    name: 'remove-tenants',
    schedule: '41 * * * *',
    async run(signal) {
      for (const removal of await dueTenantRemovals(store)) {
        const { tenant, id } = removal
        try {
          await removeTenant(store, removal, signal)
          if (removal.removedAt === undefined) log.info({ tenant, removal: id }, 'a tenant was removed')
        } catch (err) {
          signal.throwIfAborted()
          const isKept = err instanceof Fault && err.kind === 'conflict'
          log.error(
            { err, tenant, removal: id, ...(isKept && { why: err.publicMessage }) },
            'a tenant could not be removed; the next run retries',
          )
        }
      }
    },
  }
}
