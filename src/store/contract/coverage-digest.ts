/** Stores the event with the day's counts of coverage: one a day, by an index, however many replicas write it. */

import type { EventType } from '../../core/event.ts'
import type { TenantId } from '../../core/tenant.ts'
import { storableJson } from '../database/names.ts'
import type { Store } from '../store.ts'
import type { CoverageCounts } from './coverage.ts'

const type = 'contracts.coverage' as const satisfies EventType

/** Whether a webhook that is enabled names the digest, and the day has none yet. @param day as 2026-11-29 */
export async function isDigestDue(store: Store, tenant: TenantId, day: string): Promise<boolean> {
  const [row] = await store.tenantQuery<{ due: boolean }>(
    tenant,
    `select exists (select from svc.webhook_subscription s
        where s.tenant_id = $1 and s.state = 'enabled' and s.types @> '["${type}"]')
      and not exists (select from svc.event e
        where e.tenant_id = $1 and e.type = '${type}' and e.subject = $2) as due`,
    [tenant, day],
  )
  return row?.due === true
}

/** Appends the day's digest, unless there is one. @returns whether it did */
export async function appendDigest(
  store: Store,
  tenant: TenantId,
  day: string,
  counts: CoverageCounts,
): Promise<boolean> {
  const rows = await store.tenantQuery(
    tenant,
    `insert into svc.event (tenant_id, type, subject, data) values ($1, '${type}', $2, $3::text::jsonb)
     on conflict (tenant_id, subject) where type = 'contracts.coverage' do nothing returning event_id`,
    [tenant, day, storableJson({ day, counts })],
  )
  return rows.length > 0
}
