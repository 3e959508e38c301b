/** Lists the events of which edges were refused, the newest first (docs/reference/lineage.md 6.3). */

import type { LineageName } from '../../core/lineage.ts'
import type { TenantId } from '../../core/tenant.ts'
import { afterCount, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Store } from '../store.ts'
import type { EventRefusal } from './events.ts'
import { isSeenJobNamed, isSeenRefusal } from './seen.ts'

interface RefusedEvent {
  readonly seq: string
  readonly producer: string
  readonly runId: string
  readonly job: LineageName | undefined
  readonly eventType: string | undefined
  readonly receivedAt: Date
  readonly refusal: EventRefusal
}

interface RefusedRow {
  readonly event_seq: string
  readonly producer: string
  readonly run_id: string
  readonly job_namespace: string | null
  readonly job_name: string | null
  readonly event_type: string | null
  readonly received_at: Date
  readonly refusal: EventRefusal
}

/**
 * Lists them.
 * @param readableOnly leaves out events of jobs, or about datasets, that are not seen by everybody. Default: false
 * @throws Fault `bad_request` for a bad page token or limit
 */
export async function listRefusedEvents(
  store: Store,
  tenant: TenantId,
  { readableOnly = false, ...page }: PageRequest & { readonly readableOnly?: boolean },
): Promise<Page<RefusedEvent>> {
  const limit = pageLimit(page)
  const after = afterCount(page)
  const before = after === undefined ? '' : 'and event_seq < $2::int8'
  const seen = readableOnly
    ? `and ${isSeenJobNamed('i.job_namespace', 'i.job_name')} and ${isSeenRefusal('i.refusal')}`
    : ''
  const part = (table: string) => `(select event_seq, producer, run_id, job_namespace, job_name, event_type,
      received_at, refusal from ${table} i where state = 'refused' ${before} ${seen} order by event_seq desc limit $1::int)`
  const rows = await store.tenantQuery<RefusedRow>(
    tenant,
    `select * from (${part('lineage_inbox')} union all ${part('lineage_event')}) refused
     order by event_seq desc limit $1::int`,
    after === undefined ? [limit + 1] : [limit + 1, after],
    { readOnly: true },
  )
  return toPage(rows.map(toRefusedEvent), limit, ({ seq }) => seq)
}

function toRefusedEvent(row: RefusedRow): RefusedEvent {
  return {
    seq: row.event_seq,
    producer: row.producer,
    runId: row.run_id,
    job: row.job_name === null ? undefined : { namespace: row.job_namespace ?? '', name: row.job_name },
    eventType: row.event_type ?? undefined,
    receivedAt: row.received_at,
    refusal: row.refusal,
  }
}
