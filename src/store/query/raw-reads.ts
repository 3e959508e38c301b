/** Writes raw reads of the Iceberg surface as usage records. They are listed and added up with those of queries. */

import { type RawReads, rawReadSurface } from '../../core/raw-read.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { AppliedGovernance } from '../../core/usage.ts'
import { storableJson } from '../database/names.ts'
import type { Store } from '../store.ts'

/** Records of one transaction. */
const writtenMax = 500

/** Writes records of one tenant. One that was written already is left as it is, so that a failed call can be repeated. */
export async function addRawReads(store: Store, tenant: TenantId, all: readonly RawReads[]): Promise<void> {
  for (let from = 0; from < all.length; from += writtenMax) {
    const rows = all.slice(from, from + writtenMax).map(rowOf)
    await store.tenantTransaction(tenant, async (tx) => {
      // Before the numbers of the records, on which svc.roll_usage relies.
      await tx.query('select pg_current_xact_id()')
      await tx.query(
        `insert into svc.query_usage (tenant_id, query_id, started_at, last_at, principal_sub, principal_source, surface,
           catalog, contracts, reads, policies, rows_out, bytes_out, queue_ms, plan_ms, run_ms, outcome, session_id, given,
           given_times, protection, purpose)
         select $1, r.id, to_timestamp(r.first_ms / 1000), to_timestamp(r.last_ms / 1000), r.principal, r.source, $2,
           r.catalog, r.contracts, r.reads, '[]', 0, 0, 0, 0, 0, 'completed', r.session_id, r.given, r.times, r.protection, r.purpose
         from jsonb_to_recordset($3::text::jsonb) r (id uuid, first_ms float8, last_ms float8, principal text, source text,
           catalog text, contracts jsonb, reads jsonb, session_id uuid, given text, times int8, protection text, purpose text)
         on conflict (tenant_id, query_id, started_at) do nothing`,
        [tenant, rawReadSurface, storableJson(rows)],
      )
    })
  }
}

function rowOf({ table: { namespace, name }, snapshotIds, contract, ...read }: RawReads) {
  const ids = snapshotIds.length === 0 ? [undefined] : snapshotIds
  const reads: AppliedGovernance['reads'] = ids.map((id) => ({
    ...{ namespace, name, columns: [] },
    ...(id !== undefined && { snapshot_id: id }),
  }))
  return {
    id: read.id,
    first_ms: read.firstMs,
    last_ms: read.lastMs,
    principal: read.principal,
    source: read.principalSource,
    catalog: read.catalog,
    contracts: contract === undefined ? [] : [contract],
    reads,
    session_id: read.sessionId ?? null,
    given: read.given,
    times: read.times,
    protection: read.protection,
    purpose: read.purpose ?? null,
  }
}
