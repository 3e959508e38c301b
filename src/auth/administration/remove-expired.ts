/** The job that removes history past its retention, of every tenant, as settings and holds allow. */

import type { Core } from '../../http/feature.ts'
import { removeExpiredKeys } from '../../store/commit/idempotency-keys.ts'
import { removedKinds, removeExpired } from '../../store/history/remove-expired.ts'
import { eachTenant } from '../../store/tenant/tenants.ts'

/** Removes what is past its retention of every tenant; what fails is logged and tried by the next run. */
export async function removeAllExpired({ store, metrics, log }: Core, signal: AbortSignal): Promise<void> {
  for await (const tenant of eachTenant(store, signal)) {
    await removeExpiredKeys(store, tenant, signal).catch((err: unknown) => {
      signal.throwIfAborted()
      log.error({ err, tenant }, 'expired Idempotency-Keys could not be removed; the next run retries')
    })
    for (const kind of removedKinds)
      try {
        const count = await removeExpired(store, tenant, kind, signal)
        if (count === 0) continue
        metrics.historyRemoved.inc({ kind }, count)
        log.info({ tenant, kind, count }, 'history past its retention was removed')
      } catch (err) {
        signal.throwIfAborted()
        log.error(
          { err, tenant, kind },
          'history past its retention could not be removed; the next run retries',
        )
      }
  }
}
