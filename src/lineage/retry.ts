/** Retries events that were stored but could not be merged, so that clients need not send them again. */

import { Fault, toFault } from '../base/fault.ts'
import { type LastLooks, rememberLooks } from '../base/last-looks.ts'
import type { TenantId } from '../core/tenant.ts'
import { tenantChanges } from '../store/jobs/due-tenants.ts'
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

type PendingLooks = LastLooks<TenantId>

/** What a process remembers between two runs. */
export const rememberPending = (): PendingLooks => rememberLooks()

/** Retries every pending event that is due, of the tenants that had some or whose events have changed. */
export async function retryLineage(
  receiver: LineageReceiver,
  looks: PendingLooks,
  signal: AbortSignal,
): Promise<void> {
  const { store, metrics, log } = receiver.parts
  let pending = 0
  // Before the looks, so that a change during one is seen by the next run.
  const changes = await tenantChanges(store)
  for await (const tenant of eachTenant(store, signal)) {
    const state = changes?.get(tenant)?.lineage
    if (!looks.isDue(tenant, state)) continue
    try {
      const due = await duePendingEvents(store, tenant, eventsPerRun)
      for (const event of due) await retryOne(receiver, tenant, event)
      const left = await countPendingEvents(store, tenant)
      pending += left
      if (left === 0) looks.note(tenant, state)
    } catch (err) {
      log.error({ err, tenant }, 'the pending lineage events of the tenant could not be retried')
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
    // The event was valid when it was stored. A later, stricter version must not retry it for ever.
    if (fault instanceof Fault && fault.kind === 'bad_request')
      await refusePendingEvent(store, tenant, seq, fault.publicMessage)
    else await postponePendingEvent(store, tenant, seq, fault.detail ?? fault.kind)
  }
}
