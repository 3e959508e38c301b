/**
 * Records queries before their rows leave, so that a sweep can write the usage record if the process dies. The lease
 * is longer than any run may be, so nothing renews it.
 */

import type { TenantId } from '../../core/tenant.ts'
import type { UsageRecord } from '../../core/usage.ts'
import { limits } from '../../limits.ts'
import { storableJson } from '../database/names.ts'
import type { Store } from '../store.ts'
import { type UsageColumn, usageColumns, usageParams } from './usage.ts'

/**
 * Records that a query is running. The row is durable when this resolves.
 * @param usage the usage record to write if the process dies now
 * @param leaseMs milliseconds by the database's clock after which the process has surely died or ended the query
 * @throws Fault of the store: the row was not written, or that is unknown
 */
export async function openUsage(
  store: Store,
  tenant: TenantId,
  usage: UsageRecord,
  leaseMs: number = limits.queryLeaseMs,
): Promise<void> {
  await store.tenantQuery(
    tenant,
    `insert into svc.query_under_way (tenant_id, query_id, lease_until, usage)
     values ($1, $2, clock_timestamp() + $3::float8 * interval '1 ms', $4::text::jsonb)`,
    [tenant, usage.queryId, leaseMs, storableJson(rowOf(tenant, usage))],
  )
}

/** The record in the form of `jsonb_populate_record`. */
function rowOf(tenant: TenantId, usage: UsageRecord): Readonly<Record<UsageColumn, unknown>> {
  const values = usageParams(tenant, usage)
  const row = Object.fromEntries(usageColumns.map((column, index) => [column, values[index]]))
  const json = (column: UsageColumn) => JSON.parse(String(row[column])) as unknown
  return {
    ...(row as Record<UsageColumn, unknown>),
    started_at: new Date(usage.startedAtMs).toISOString(),
    contracts: json('contracts'),
    reads: json('reads'),
    policies: json('policies'),
  }
}

/**
 * Writes the usage records of queries whose lease has expired, each once even if several replicas sweep.
 * @returns how many
 * @throws Fault of the store
 */
export async function closeDeadQueries(store: Store, signal?: AbortSignal): Promise<number> {
  const tenants = await store.adminQuery<{ tenant_id: TenantId }>(
    'select distinct tenant_id from svc.query_under_way where lease_until < clock_timestamp()',
  )
  let count = 0
  for (const { tenant_id: tenant } of tenants) {
    if (signal?.aborted) break
    const columns = usageColumns.join(', ')
    const closed = await store.tenantQuery(
      tenant,
      `with dead as (
         delete from svc.query_under_way where tenant_id = $1 and lease_until < clock_timestamp() returning usage)
       insert into svc.query_usage (${columns})
       select ${columns} from dead, jsonb_populate_record(null::svc.query_usage, dead.usage)
       on conflict (tenant_id, query_id, started_at) do nothing returning 1`,
      [tenant],
    )
    count += closed.length
  }
  return count
}
