/** The dead-letter job: events that were stored and could not be merged, so that a client need not retry. */

import { Fault, toFault } from '../base/fault.ts'
import type { TenantId } from '../core/tenant.ts'
import {
  countPendingEvents,
  duePendingEvents,
  type PendingEvent,
  postponePendingEvent,
  refusePendingEvent,
} from '../store/lineage/events.ts'
import { eachTenant } from '../store/tenant/tenants.ts'
import { parseLineageEvent } from './parse-event.ts'
import type { LineageReceiver } from './receiver.ts'

const eventsPerRun = 100

/** Tries every pending event that is due once more, of every tenant. */
export async function retryLineage(receiver: LineageReceiver, signal: AbortSignal): Promise<void> {
  const { store, metrics, log } = receiver.parts
  let pending = 0
  for await (const tenant of eachTenant(store, signal)) {
    try {
      const due = await duePendingEvents(store, tenant, eventsPerRun)
      for (const event of due) await retryOne(receiver, tenant, event)
      pending += await countPendingEvents(store, tenant)
    } catch (err) {
      log.error({ err, tenant }, 'pending lineage events could not be looked at')
    }
  }
  metrics.lineagePending.set(pending)
}

async function retryOne(
  receiver: LineageReceiver,
  tenant: TenantId,
  { seq, body, receivedAtMs, identified }: PendingEvent,
): Promise<void> {
  const { store, log } = receiver.parts
  try {
    const event = parseLineageEvent(body, receivedAtMs)
    const outcome = await receiver.receive(tenant, { event, identified })
    if (outcome.kind === 'refused') log.warn({ tenant, event: seq }, 'a pending lineage event closes a cycle')
  } catch (thrown) {
    const fault = toFault(thrown)
    // It was readable once; a later version that reads more strictly must not try it for ever.
    if (fault instanceof Fault && fault.kind === 'bad_request')
      await refusePendingEvent(store, tenant, seq, fault.publicMessage)
    else await postponePendingEvent(store, tenant, seq, fault.detail ?? fault.kind)
  }
}
