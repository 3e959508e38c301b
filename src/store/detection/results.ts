/**
 * Writes the result of a claimed run (docs/reference/detection.md 4): its findings and their graph, its end, and the
 * alert that is due.
 */

import type { Finding } from '../../core/classification.ts'
import { alertConfidenceMin, coverageOf, type ScanReport } from '../../core/detection.ts'
import { tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import { nodeId, storableJson, storableText } from '../database/names.ts'
import type { Tx } from '../database/session.ts'
import { appendEvent } from '../event/events.ts'
import type { Store } from '../store.ts'
import { attemptEndOptions, type ClaimedRun } from './claims.ts'

/** A finding with its column. */
export interface ColumnFinding {
  readonly finding: Finding
  /** Undefined for a column of the file that is not in the schema. */
  readonly fieldId: bigint | undefined
  /** The column's dotted name; `finding.column` also has the path inside JSON values. */
  readonly columnName: string
}

interface FinishedScan {
  readonly findings: readonly ColumnFinding[]
  readonly report: ScanReport
  /** '' for a run that is done, else why it failed. The findings of a failed run are written too. */
  readonly reason: string
  /** Whether findings at 0.85 or more raise an alert (docs/reference/detection.md 5.1). */
  readonly alert: boolean
}

interface RecordedScan {
  /** False where the claim was lost in the meantime. Then the run's end was not written. */
  readonly recorded: boolean
  readonly alertDue: boolean
}

/** Runs a transaction. A caller may let other work run between two transactions. */
type InTurn = <T>(transact: () => Promise<T>) => Promise<T>

/** Findings written in one transaction. Each takes some milliseconds with its changes of the graph. */
const findingsPage = 50

/**
 * Ends a claimed run. It writes the findings and their graph in pages, and the last page together with the end, the
 * report and the alert that is due. If it stops between two pages, the run has not ended and is claimed again.
 * @throws Fault, `unavailable` also where two runs wrote the same column at once; retry
 */
export async function finishRun(
  store: Store,
  claim: ClaimedRun,
  scan: FinishedScan,
  inTurn: InTurn = (transact) => transact(),
): Promise<RecordedScan> {
  const { tenant, runId, leaseId } = claim
  const transact = <T>(work: (tx: Tx) => Promise<T>) =>
    inTurn(() => store.tenantTransaction(tenant, work, attemptEndOptions(claim)))
  const notRecorded = { recorded: false, alertDue: false }
  const params = [
    tenant,
    runId,
    leaseId,
    scan.reason !== '' ? 'failed' : coverageOf(scan.report).isPartial ? 'partial' : 'done',
    storableText(scan.reason),
    storableJson(scan.report),
  ]
  if (scan.findings.length === 0) {
    const ended = await inTurn(() => store.tenantQuery(tenant, endText, params, attemptEndOptions(claim)))
    return { recorded: ended.length === 1, alertDue: false }
  }
  for (let tableId = claim.table === undefined ? null : nodeId(tableKey(claim.table)); ; ) {
    const rows = findingRows(claim, tableId, scan)
    const last = Math.max(rows.length - findingsPage, 0)
    for (let at = 0; at < last; at += findingsPage) {
      const page = rows.slice(at, Math.min(at + findingsPage, last))
      const isHeld = await transact(async (tx) => {
        const run = await lockRun(tx, claim)
        if (run !== undefined) await writeFindings(tx, claim, run, page)
        return run !== undefined
      })
      if (!isHeld) return notRecorded
    }
    const ended = await transact(async (tx): Promise<RecordedScan | LockedRun> => {
      const run = await lockRun(tx, claim)
      if (run === undefined) return notRecorded
      // Another trigger has set the run's table, so the findings are written again with the ids of its columns.
      if (run.table_id !== tableId) return run
      await writeFindings(tx, claim, run, rows.slice(last))
      await tx.query(endText, params)
      const alertDue = scan.alert && (await markAlertDue(tx, tenant, runId, run.attempt))
      if (alertDue) await tellAlert(tx, claim)
      return { recorded: true, alertDue }
    })
    if ('recorded' in ended) return ended
    tableId = ended.table_id
  }
}

interface LockedRun {
  readonly attempt: number
  readonly table_id: string | null
}

/**
 * Locks the run until the transaction ends; undefined where the claim was lost. It also renews the lease, because
 * writing thousands of findings may take longer than the lease has left.
 */
async function lockRun(tx: Tx, { tenant, runId, leaseId }: ClaimedRun): Promise<LockedRun | undefined> {
  const [run] = await tx.query<LockedRun>(
    `update svc.detection_run set lease_until = greatest(lease_until, clock_timestamp() + $4::float8 * interval '1 ms')
     where tenant_id = $1 and run_id = $2 and lease_id = $3 returning attempt, table_id`,
    [tenant, runId, leaseId, limits.detectionLeaseMs],
  )
  return run
}

async function writeFindings(
  tx: Tx,
  { tenant, runId }: ClaimedRun,
  { attempt }: LockedRun,
  rows: readonly { readonly classification_id: string }[],
): Promise<void> {
  await tx.query(
    `insert into svc.detection_finding as f (tenant_id, run_id, attempt, classification_id, field_id, column_id, column_name, path,
       class, shape, confidence, matched, sampled, masked_sample)
     select $1, $2, $3::int, j ->> 'classification_id', (j ->> 'field_id')::bigint, j ->> 'column_id', j ->> 'column_name', j ->> 'path',
       j ->> 'class', j ->> 'shape', (j ->> 'confidence')::numeric, (j ->> 'matched')::int, (j ->> 'sampled')::int, j ->> 'masked_sample'
     from jsonb_array_elements($4::text::jsonb) j
     on conflict (tenant_id, run_id, classification_id) do update set attempt = excluded.attempt, field_id = excluded.field_id,
       column_id = excluded.column_id, column_name = excluded.column_name, path = excluded.path, shape = excluded.shape,
       confidence = excluded.confidence, matched = excluded.matched, sampled = excluded.sampled,
       masked_sample = excluded.masked_sample, found_at = clock_timestamp()`,
    [tenant, runId, attempt, storableJson(rows)],
  )
  for (const { classification_id } of rows) await projectClassification(tx, classification_id)
}

const endText = `
  with ended as (
    update svc.detection_run set state = $4, reason = $5, report = $6::text::jsonb, finished_at = clock_timestamp(),
      lease_id = null, lease_until = null
    where tenant_id = $1 and run_id = $2 and lease_id = $3 returning attempt, table_id)
  update svc.detection_attempt a set outcome = $4, finished_at = clock_timestamp(), reason = $5, report = $6::text::jsonb
  from ended e where a.tenant_id = $1 and a.run_id = $2 and a.attempt = e.attempt returning e.attempt, e.table_id`

/**
 * Makes an alert due where a finding at 0.85 or more has no decision and was not told: no alert of another run with it
 * was sent or is due.
 * @returns whether an alert is due
 */
async function markAlertDue(tx: Tx, tenant: TenantId, runId: string, attempt: number): Promise<boolean> {
  const rows = await tx.query(
    `update svc.detection_run r set alert_due = clock_timestamp(), alert_tries = 0
     where r.tenant_id = $1 and r.run_id = $2 and exists (
       select from svc.detection_finding f
       where f.tenant_id = $1 and f.run_id = $2 and f.attempt = $3::int and f.confidence >= $4::numeric
         and not exists (select from svc.detection_decision d where d.tenant_id = $1 and d.classification_id = f.classification_id)
         and not exists (select from svc.detection_finding e
           join svc.detection_run t on t.tenant_id = e.tenant_id and t.run_id = e.run_id
           where e.tenant_id = $1 and e.classification_id = f.classification_id and e.run_id <> f.run_id
             and e.confidence >= $4::numeric and (t.alerted_at is not null or t.alert_due is not null)))
     returning 1`,
    [tenant, runId, attempt, alertConfidenceMin],
  )
  return rows.length === 1
}

async function tellAlert(tx: Tx, { runId, table, metadataLocation }: ClaimedRun): Promise<void> {
  const data = {
    ...{ run_id: runId, metadata_location: metadataLocation },
    ...{ namespace: table?.namespace ?? null, table: table?.name ?? null },
  }
  await appendEvent(tx, { type: 'detection.alerted', subject: runId, data })
}

function findingRows(claim: ClaimedRun, tableId: string | null, { findings, report }: FinishedScan) {
  // By the table's UUID, because it and so the decisions survive a rename.
  const owner = report.tableUuid ?? tableId ?? claim.metadataLocation
  const rows = findings.map(({ finding, fieldId, columnName }) => ({
    classification_id: nodeId(
      [owner, fieldId ?? columnName, finding.column.slice(columnName.length), finding.class].join('\u001f'),
    ),
    field_id: fieldId ?? null,
    column_id: tableId === null || fieldId === undefined ? null : nodeId(`${tableId}\u001f${fieldId}`),
    column_name: columnName,
    path: finding.column,
    class: finding.class,
    shape: finding.shape,
    confidence: finding.confidence,
    matched: finding.matched,
    sampled: finding.sampled,
    masked_sample: finding.maskedSample ?? null,
  }))
  // One order for all runs, so that two runs on one table wait for each other instead of deadlocking.
  const byId = new Map(rows.map((row) => [row.classification_id, row]))
  return [...byId.values()].sort((a, b) => (a.classification_id < b.classification_id ? -1 : 1))
}

/** Updates a classification in the graph from its latest finding and decision. */
export function projectClassification(tx: Tx, classificationId: string): Promise<unknown> {
  return tx.query('select svc.project_classification($1)', [classificationId])
}
