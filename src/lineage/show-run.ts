/** Shows the events of a run, each with its raw body, in the form of the API. */

import { Fault } from '../base/fault.ts'
import type { TenantId } from '../core/tenant.ts'
import { pageView } from '../http/page-view.ts'
import { isUuid, type PageRequest } from '../store/database/page.ts'
import { listRunEvents, type StoredEvent } from '../store/lineage/events.ts'
import type { Store } from '../store/store.ts'

/** Reads one page of events in the order in which they were received. Throws `bad_request` or `not_found`. */
export async function showLineageRun(
  store: Store,
  tenant: TenantId,
  { producer, run_id }: { readonly producer: string; readonly run_id: string },
  page: PageRequest,
) {
  const runId = run_id.toLowerCase()
  if (producer === '' || producer.includes('\0') || !isUuid(runId))
    throw new Fault('bad_request', 'The path is /api/v1/lineage/runs/{producer}/{run_id}; run_id is a UUID.')
  const events = await listRunEvents(store, tenant, { producer, runId, ...page })
  if (events.items.length === 0 && page.after === undefined)
    throw new Fault('not_found', 'No event of this run was received.')
  return { producer, run_id: runId, ...pageView(events, eventView) }
}

function eventView(event: StoredEvent) {
  const { refusal } = event
  return {
    kind: event.kind,
    event_type: event.eventType,
    event_time: event.eventTime,
    received_at: event.receivedAt,
    job: event.job,
    principal: event.principal,
    principal_source: event.principalSource,
    state: event.state,
    refusal,
    body_sha256: event.bodySha256,
    // Only strict UTF-8 is accepted, so the decoded text encodes to the same bytes.
    body: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(event.body),
  }
}
