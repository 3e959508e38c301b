/** Shows the events of a run in the form of the API, each with its body as far as the caller may see it. */

import { Fault } from '../base/fault.ts'
import type { Caller } from '../core/operation.ts'
import { isSteward, overseesTables, seesLineageText } from '../core/oversight.ts'
import { pageView } from '../http/page-view.ts'
import { isUuid, type PageRequest } from '../store/database/page.ts'
import { datasetId, listRunEvents, type StoredEvent } from '../store/lineage/events.ts'
import { hiddenTableNames, seenDatasets } from '../store/lineage/seen.ts'
import type { Store } from '../store/store.ts'
import { cutEvent, type EventSight, namesIn, namesTable, wordsIn } from './cut-event.ts'

/** Reads one page of events in the order in which they were received. Throws `bad_request` or `not_found`. */
export async function showLineageRun(
  store: Store,
  caller: Pick<Caller, 'tenant' | 'principal' | 'session'>,
  { producer, run_id }: { readonly producer: string; readonly run_id: string },
  page: PageRequest,
) {
  const runId = run_id.toLowerCase()
  if (producer === '' || producer.includes('\0') || !isUuid(runId))
    throw new Fault('bad_request', 'The path is /api/v1/lineage/runs/{producer}/{run_id}; run_id is a UUID.')
  const readableOnly = !overseesTables(caller.principal)
  const events = await listRunEvents(store, caller.tenant, { producer, runId, readableOnly, ...page })
  if (events.items.length === 0 && page.after === undefined)
    throw new Fault('not_found', 'No event of this run was received.')
  const bodies = events.items.map(({ body }) => textOf(body))
  const isWhole = isSteward(caller.principal) && seesLineageText(caller)
  const sight = isWhole ? undefined : await sightOf(store, caller, bodies)
  return { producer, run_id: runId, ...pageView(events, (event) => eventView(event, sight)) }
}

/** How somebody who does not see whole bodies sees these. */
async function sightOf(
  store: Store,
  caller: Pick<Caller, 'tenant' | 'principal' | 'session'>,
  bodies: readonly string[],
): Promise<EventSight> {
  const text = seesLineageText(caller)
  // Whether a table may be read is nothing that they need to be told.
  if (overseesTables(caller.principal)) return { text, isSeen: () => true, namesHidden: () => false }
  const [seen, hidden] = await Promise.all([
    seenDatasets(store, caller.tenant, bodies.flatMap(namesIn).map(datasetId)),
    text ? hiddenTableNames(store, caller.tenant, bodies.flatMap(wordsIn)) : new Set<string>(),
  ])
  return { text, isSeen: (name) => seen.has(datasetId(name)), namesHidden: namesTable(hidden) }
}

/** Only strict UTF-8 is accepted, so the decoded text encodes to the same bytes. */
function textOf(body: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
}

/** @param sight undefined: of somebody who sees it whole */
function eventView(event: StoredEvent, sight: EventSight | undefined) {
  const body = textOf(event.body)
  const cut = sight === undefined || body === '' ? undefined : cutEvent(body, sight)
  const { refusal } = event
  const isTold = sight === undefined || namesOfRefusal(refusal).every(sight.isSeen)
  return {
    kind: event.kind,
    event_type: event.eventType,
    event_time: event.eventTime,
    received_at: event.receivedAt,
    job: event.job,
    principal: event.principal,
    principal_source: event.principalSource,
    session: event.origin?.session,
    client: event.origin?.client,
    state: event.state,
    ...(isTold && { refusal }),
    is_cut: cut !== undefined,
    ...(cut === undefined && { body_sha256: event.bodySha256 }),
    body: cut ?? body,
  }
}

function namesOfRefusal(refusal: StoredEvent['refusal']) {
  const { refused = [], cycle = [] } = refusal ?? {}
  return [...cycle, ...refused.flatMap((edge) => [edge.from, edge.to, ...edge.cycle])]
}
