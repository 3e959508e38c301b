/** Reads what earlier runs of a statement took. */

import type { TenantId } from '../../core/tenant.ts'
import { storableText } from '../database/names.ts'
import type { Store } from '../store.ts'

/** What earlier runs of a statement took, at the median. */
export interface EarlierRuns {
  readonly runs: number
  readonly rowsOut: number
  readonly runMs: number
  /** Undefined where no run reported it, or where a filter or mask applied to one. */
  readonly bytesScanned: number | undefined
}

/** Runs that are looked at, the latest. */
const runsMax = 20

/**
 * What the principal's own completed runs of a statement took, on any surface.
 * @param fingerprint of the statement without its literals
 * @returns undefined where there was none
 */
export async function earlierRuns(
  store: Store,
  tenant: TenantId,
  principal: string,
  fingerprint: string,
): Promise<EarlierRuns | undefined> {
  const [row] = await store.tenantQuery<{
    readonly runs: string
    readonly rows_out: string | null
    readonly run_ms: number | null
    readonly bytes_scanned: string | null
    readonly is_restricted: boolean | null
  }>(
    tenant,
    `with latest as (
       select u.* from svc.query_usage u
       where u.tenant_id = $1 and md5(u.principal_sub) = md5($2) and u.principal_sub = $2 and u.fingerprint = $3 and u.outcome = 'completed'
       order by u.usage_seq desc limit ${runsMax})
     select count(*) as runs, percentile_disc(0.5) within group (order by rows_out) as rows_out,
       percentile_disc(0.5) within group (order by run_ms) as run_ms,
       percentile_disc(0.5) within group (order by bytes_scanned) as bytes_scanned,
       bool_or(policies <> '[]'::jsonb) as is_restricted
     from latest`,
    [tenant, storableText(principal), fingerprint],
  )
  if (row === undefined || row.runs === '0') return undefined
  const isShown = row.bytes_scanned !== null && row.is_restricted === false
  return {
    runs: Number(row.runs),
    rowsOut: Number(row.rows_out),
    runMs: Number(row.run_ms),
    bytesScanned: isShown ? Number(row.bytes_scanned) : undefined,
  }
}
