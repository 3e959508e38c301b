/**
 * Claims and finishes alerts that are due (docs/reference/detection.md 5.2). A claim postpones an alert while one
 * replica sends it.
 */

import { alertConfidenceMin, type ScanReport } from '../../core/detection.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { Store } from '../store.ts'
import { type ListedFinding, listFindings } from './findings.ts'

export interface DueAlert {
  readonly tenant: TenantId
  readonly runId: string
  readonly tries: number
  /** What the run's scan covered. */
  readonly report: Partial<ScanReport>
}

/**
 * Claims alerts that are due: each is postponed by `leaseMs`, so that no other replica takes it. The commit waits for
 * the log, so the findings of an alert are durable before it is sent.
 * @param leaseMs milliseconds
 */
export async function claimAlerts(
  store: Store,
  limit: number,
  leaseMs: number,
): Promise<readonly DueAlert[]> {
  const rows = await store.adminQuery<{
    tenant_id: TenantId
    run_id: string
    alert_tries: number
    report: Partial<ScanReport>
  }>(
    `with due as (
       select tenant_id, run_id from svc.detection_run where alert_due <= clock_timestamp()
       order by alert_due limit $1::int for update skip locked)
     update svc.detection_run r set alert_due = clock_timestamp() + $2::float8 * interval '1 ms', alert_tries = alert_tries + 1
     from due d where r.tenant_id = d.tenant_id and r.run_id = d.run_id
     returning r.tenant_id, r.run_id, r.alert_tries, r.report`,
    [limit, leaseMs],
  )
  return rows.map((row) => ({
    tenant: row.tenant_id,
    runId: row.run_id,
    tries: row.alert_tries,
    report: row.report,
  }))
}

/**
 * Ends an attempt to send an alert. An alert that another scan of its run made due again stays due.
 * @param end `sent`, so that its findings count as told; `given up`, so that the next snapshot with them tells of them
 *   again; or milliseconds until the next attempt
 */
export async function finishAlert(
  store: Store,
  alert: DueAlert,
  end: 'sent' | 'given up' | number,
): Promise<void> {
  await store.tenantQuery(
    alert.tenant,
    `update svc.detection_run set
       alert_due = case when alert_tries = $4::int then clock_timestamp() + $3::float8 * interval '1 ms' else alert_due end,
       alerted_at = case when $5::boolean then clock_timestamp() else alerted_at end
     where tenant_id = $1 and run_id = $2 and (alert_tries = $4::int or $5::boolean)`,
    [alert.tenant, alert.runId, typeof end === 'number' ? end : null, alert.tries, end === 'sent'],
  )
}

/**
 * The findings that the alert of a run reports: those at 0.85 or more without a decision.
 * @returns at most `limit` of them, and whether there are more
 */
export async function alertFindings(
  store: Store,
  tenant: TenantId,
  runId: string,
  limit: number,
): Promise<{ readonly findings: readonly ListedFinding[]; readonly isCut: boolean }> {
  const page = await listFindings(store, tenant, {
    runId,
    status: 'open',
    confidenceMin: alertConfidenceMin,
    limit,
  })
  return { findings: page.items, isCut: page.next !== undefined }
}
