/**
 * Appends events and reads them in sequence. A transaction appends without a number and waits for nobody. Who reads
 * numbers what was committed, so no number appears below one that was read. Decisions on commits are taken from the audit
 * log by the numbering: a commit appends nothing.
 */

import type { NewEvent, TenantEvent } from '../../core/event.ts'
import type { TenantId } from '../../core/tenant.ts'
import { storableJson, storableText } from '../database/names.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'

/** Appends an event in the transaction of what it tells. */
export async function appendEvent(tx: Tx, { type, subject, data }: NewEvent): Promise<void> {
  await tx.query(
    `insert into svc.event (tenant_id, type, subject, data)
     values (svc.current_tenant(), $1, $2, $3::text::jsonb)`,
    [type, storableText(subject), storableJson(data)],
  )
}

/** Events that one call numbers, of each origin, and the most that one call reads. */
const pageEvents = 1_000

interface Numbered {
  /** The last number. */
  readonly last: bigint
  /** Whether everything committed before the call has a number. */
  readonly isComplete: boolean
}

async function numberEvents(store: Store, tenant: TenantId): Promise<Numbered> {
  const [row] = await store.tenantCall<{ last: string; is_complete: boolean }>(tenant, 'number_events', [
    pageEvents,
  ])
  return { last: BigInt(row?.last ?? 0), isComplete: row?.is_complete !== false }
}

/** The number of the tenant's last event; 0 where there was none. What is committed later has a higher one. */
export async function lastEvent(store: Store, tenant: TenantId): Promise<bigint> {
  for (;;) {
    const { last, isComplete } = await numberEvents(store, tenant)
    if (isComplete) return last
  }
}

/**
 * The events after a number, in order, without gaps. Fewer than `limit` does not mean that there are no more: read again
 * from the last one until there is none.
 * @param after the number of the last event that was handled; 0 for all
 */
export async function readEvents(
  store: Store,
  tenant: TenantId,
  after: bigint,
  limit: number = pageEvents,
): Promise<readonly TenantEvent[]> {
  const { last } = await numberEvents(store, tenant)
  if (last <= after) return []
  const rows = await store.tenantCall<{
    sequence: string
    type: TenantEvent['type']
    subject: string
    data: TenantEvent['data']
    occurred_at: Date
  }>(tenant, 'read_events', [after, Math.min(limit, pageEvents)])
  return rows.map(({ sequence, occurred_at: occurredAt, ...event }) => ({
    ...event,
    sequence: BigInt(sequence),
    occurredAt,
  }))
}
