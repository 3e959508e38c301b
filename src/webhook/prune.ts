/** Removes deliveries that ended long ago, for every tenant. */

import type { Store } from '../store/store.ts'
import { eachTenant } from '../store/tenant/tenants.ts'
import { pruneDeliveries } from '../store/webhook/deliveries.ts'

const dayMs = 86_400_000
/** How long ended deliveries are kept with their attempts. */
const kept = { deliveredMs: 7 * dayMs, deadMs: 30 * dayMs, limit: 1_000 }

/** One run of the job. */
export async function pruneWebhooks(store: Store, signal: AbortSignal): Promise<void> {
  for await (const tenant of eachTenant(store, signal))
    while ((await pruneDeliveries(store, tenant, kept)) === kept.limit) signal.throwIfAborted()
}
