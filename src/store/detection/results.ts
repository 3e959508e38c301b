/**
 * Writes the result of a claimed run (docs/reference/detection.md 4): its evidence, the findings that follow from it and
 * their graph, its end, and the alert that is due. It takes no tag away (withdrawals.ts).
 */

import { classes, type Finding, type FindingClass } from '../../core/classification.ts'
import { alertConfidenceMin, coverageOf, type LiveFiles, type ScanReport } from '../../core/detection.ts'
import { tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import { nodeId, storableJson, storableText } from '../database/names.ts'
import type { Tx } from '../database/session.ts'
import { appendEvent } from '../event/events.ts'
import type { Store } from '../store.ts'
import { attemptEndOptions, type ClaimedRun } from './claims.ts'
import { type Verdicts, writeEvidence, writeVerdicts } from './evidence.ts'

/** A finding with its column. */
export interface ColumnFinding {
  readonly finding: Finding
  /** Undefined for a column of the file that is not in the schema. */
  readonly fieldId: bigint | undefined
  /** The column's dotted name; `finding.column` also has the path inside JSON values. */
  readonly columnName: string
}

/** A column, or a path inside its JSON, of which values were seen. */
export interface JudgedColumn {
  readonly fieldId: bigint | undefined
  readonly columnName: string
  readonly path: string
  /** Classes of which the name alone would be a finding. */
  readonly named: readonly FindingClass[]
  /** Classes of which it holds a value, which may be too few for a finding. */
  readonly traces: readonly FindingClass[]
}

interface FinishedScan {
  readonly findings: readonly ColumnFinding[]
  readonly judged?: readonly JudgedColumn[]
  readonly live?: LiveFiles | undefined
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
  /** Classifications for which nothing stands any more. Absent: none. */
  readonly withdrawable?: readonly string[]
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
  const verdicts = verdictsOf(claim, scan)
  if (scan.findings.length === 0 && verdicts === undefined) {
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
        if (run !== undefined) await writeEvidence(tx, claim, run, page)
        return run !== undefined
      })
      if (!isHeld) return notRecorded
    }
    const ended = await transact(async (tx): Promise<RecordedScan | LockedRun> => {
      const run = await lockRun(tx, claim)
      if (run === undefined) return notRecorded
      // Another trigger has set the run's table, so the findings are written again with the ids of its columns.
      if (run.table_id !== tableId) return run
      await writeEvidence(tx, claim, run, rows.slice(last))
      const withdrawable =
        verdicts === undefined
          ? []
          : await writeVerdicts(tx, claim, run, verdictRows(claim, tableId, scan, rows))
      await tx.query(endText, params)
      const alertDue = scan.alert && (await markAlertDue(tx, tenant, runId, run.attempt))
      if (alertDue) await tellAlert(tx, claim)
      return { recorded: true, alertDue, ...(withdrawable.length > 0 && { withdrawable }) }
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

const endText = `
  with ended as (
    update svc.detection_run set state = $4, reason = $5, report = $6::text::jsonb, finished_at = clock_timestamp(),
      lease_id = null, lease_until = null
    where tenant_id = $1 and run_id = $2 and lease_id = $3 returning attempt, table_id)
  update svc.detection_attempt a set outcome = $4, finished_at = clock_timestamp(), reason = $5, report = $6::text::jsonb
  from ended e where a.tenant_id = $1 and a.run_id = $2 and a.attempt = e.attempt returning e.attempt, e.table_id`

/**
 * Makes an alert due where a finding at 0.85 or more has no decision and was not told since it stands: no alert of another
 * run with it was sent or is due.
 * @returns whether an alert is due
 */
async function markAlertDue(tx: Tx, tenant: TenantId, runId: string, attempt: number): Promise<boolean> {
  const rows = await tx.query(
    `update svc.detection_run r set alert_due = clock_timestamp(), alert_tries = 0
     where r.tenant_id = $1 and r.run_id = $2 and exists (
       select from svc.detection_evidence e
       join svc.detection_finding f on f.tenant_id = e.tenant_id and f.classification_id = e.classification_id
       where e.tenant_id = $1 and e.run_id = $2 and e.attempt = $3::int and e.confidence >= $4::numeric and f.status = 'open'
         and not exists (select from svc.detection_evidence o
           join svc.detection_run t on t.tenant_id = o.tenant_id and t.run_id = o.run_id
           where o.tenant_id = $1 and o.classification_id = e.classification_id and o.run_id <> e.run_id
             and o.confidence >= $4::numeric and o.found_at > coalesce(f.withdrawn_at, '-infinity')
             and (t.alerted_at is not null or t.alert_due is not null)))
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

/** By the table's UUID, because it and so the decisions survive a rename. */
function ownerOf(claim: ClaimedRun, tableId: string | null, { report }: FinishedScan): string {
  return report.tableUuid ?? tableId ?? claim.metadataLocation
}

type Place = Pick<JudgedColumn, 'fieldId' | 'columnName' | 'path'>

function classificationOf(owner: string, { fieldId, columnName, path }: Place, each: FindingClass): string {
  return nodeId([owner, fieldId ?? columnName, path.slice(columnName.length), each].join('\u001f'))
}

function findingRows(claim: ClaimedRun, tableId: string | null, scan: FinishedScan) {
  const owner = ownerOf(claim, tableId, scan)
  const seen = new Set(scan.judged?.map(placeKey))
  // A file that was not read may hold values, which later files do not refute.
  const isUnread = scan.report.filesUnsupported + scan.report.filesFailed > 0
  const rows = scan.findings.map(({ finding, fieldId, columnName }) => {
    const place = { fieldId, columnName, path: finding.column }
    return {
      classification_id: classificationOf(owner, place, finding.class),
      owner: nodeId(owner),
      seen: finding.shape !== 'name' || isUnread || seen.has(placeKey(place)),
      snapshot_ids: scan.report.snapshotIds,
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
    }
  })
  // One order for all runs, so that two runs on one table wait for each other instead of deadlocking.
  const byId = new Map(rows.map((row) => [row.classification_id, row]))
  return [...byId.values()].sort((a, b) => (a.classification_id < b.classification_id ? -1 : 1))
}

function placeKey({ fieldId, columnName, path }: Place): string {
  return [fieldId ?? '', columnName, path].join('\u001f')
}

/** Whether every added file was read, so that what was not found is not there as far as samples tell. */
function readsAll({ report, reason }: FinishedScan): boolean {
  const { filesUnsupported, filesFailed, findingsLeftOut } = report
  return reason === '' && filesUnsupported + filesFailed + findingsLeftOut === 0
}

/** Undefined where the scan says nothing against any class. */
function verdictsOf(claim: ClaimedRun, scan: FinishedScan): true | undefined {
  const refutes = readsAll(scan) && scan.judged !== undefined && scan.judged.length > 0
  return refutes || (scan.live !== undefined && claim.table !== undefined) ? true : undefined
}

function verdictRows(
  claim: ClaimedRun,
  tableId: string | null,
  scan: FinishedScan,
  found: readonly { readonly classification_id: string; readonly shape: Finding['shape'] }[],
): Verdicts {
  const owner = ownerOf(claim, tableId, scan)
  const ids = new Set(found.map(({ classification_id }) => classification_id))
  const byValues = new Set(
    found.flatMap(({ classification_id, shape }) => (shape === 'name' ? [] : classification_id)),
  )
  const judged = scan.judged ?? []
  const refuted = readsAll(scan)
    ? judged.flatMap((column) =>
        [...new Set<FindingClass>([...column.named, ...classes])].map((each) => ({
          classification_id: classificationOf(owner, column, each),
          named: column.named.includes(each),
        })),
      )
    : []
  const traces = judged.flatMap((column) =>
    column.traces.map((each) => classificationOf(owner, column, each)),
  )
  return {
    owner: nodeId(owner),
    snapshotIds: scan.report.snapshotIds,
    refuted: refuted.filter(({ classification_id }) => !ids.has(classification_id)),
    // What the run found by values is evidence of its own.
    traces: [...new Set(traces)].filter((id) => !byValues.has(id)),
    live: scan.live,
    // What a file that was not read may have carried over stays.
    isWhole: readsAll(scan) && scan.report.filesLeftOut === 0,
  }
}
