/** What detection found (SPEC 2.9), what stewards decided about it, and both in the graph. */

import { Fault } from '../base/fault.ts'
import type { Finding, SensitiveClass } from '../core/classification.ts'
import {
  alertConfidenceMin,
  type DetectionDecision,
  type FindingStatus,
  type ScanReport,
} from '../core/detection.ts'
import { type TableRef, tableKey } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { afterPosition } from './detection-run-list.ts'
import { type ClaimedRun, endOfAttempt } from './detection-runs.ts'
import { nodeId, storableJson, storableText } from './names.ts'
import { isUuid, type Page, type PageRequest, pageLimit, toPage } from './page.ts'
import type { Tx } from './session.ts'
import type { Store } from './store.ts'

/** A finding with the column that it is about. */
export interface ColumnFinding {
  readonly finding: Finding
  /** Undefined for a column of the file that the schema does not name. */
  readonly fieldId: bigint | undefined
  /** The column's own dotted name; `finding.column` goes on into JSON values. */
  readonly columnName: string
}

export interface FinishedScan {
  readonly findings: readonly ColumnFinding[]
  readonly report: ScanReport
  /** '' for a run that is done, else why it failed; what it found counts all the same. */
  readonly reason: string
  /** Whether findings at 0.85 or more are to be told (SPEC 6). */
  readonly alert: boolean
}

export interface RecordedScan {
  /** False where the claim was lost meanwhile: nothing was written then. */
  readonly recorded: boolean
  readonly alertDue: boolean
}

/**
 * Ends a claimed run: findings, graph, report and the alert that is due, all or none.
 * @throws Fault `unavailable` among others where two runs met on the same column; try again
 */
export function finishRun(store: Store, claim: ClaimedRun, scan: FinishedScan): Promise<RecordedScan> {
  const { tenant, runId } = claim
  const params = [
    tenant,
    runId,
    claim.leaseId,
    scan.reason === '' ? 'done' : 'failed',
    storableText(scan.reason),
    storableJson(scan.report),
  ]
  if (scan.findings.length === 0)
    return store
      .tenantQuery(tenant, endText, params, endOfAttempt(claim))
      .then((rows) => ({ recorded: rows.length === 1, alertDue: false }))
  const work = async (tx: Tx): Promise<RecordedScan> => {
    const [run] = await tx.query<{ attempt: number; table_id: string | null }>(endText, params)
    if (run === undefined) return { recorded: false, alertDue: false }
    const rows = findingRows(claim, run.table_id, scan)
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
      [tenant, runId, run.attempt, storableJson(rows)],
    )
    for (const { classification_id } of rows) await projectClassification(tx, classification_id)
    const alertDue = scan.alert && (await markAlertDue(tx, tenant, runId, run.attempt))
    return { recorded: true, alertDue }
  }
  return store.tenantTransaction(tenant, work, endOfAttempt(claim))
}

const endText = `
  with ended as (
    update svc.detection_run set state = $4, reason = $5, report = $6::text::jsonb, finished_at = clock_timestamp(),
      lease_id = null, lease_until = null
    where tenant_id = $1 and run_id = $2 and lease_id = $3 returning attempt, table_id)
  update svc.detection_attempt a set outcome = $4, finished_at = clock_timestamp(), reason = $5, report = $6::text::jsonb
  from ended e where a.tenant_id = $1 and a.run_id = $2 and a.attempt = e.attempt returning e.attempt, e.table_id`

function projectClassification(tx: Tx, classificationId: string): Promise<unknown> {
  return tx.query('select svc.project_classification($1)', [classificationId])
}

/** Decided columns are no news, and a column that was told of once is not told of for every snapshot. */
async function markAlertDue(tx: Tx, tenant: TenantId, runId: string, attempt: number): Promise<boolean> {
  const rows = await tx.query(
    `update svc.detection_run r set alert_due = clock_timestamp(), alert_tries = 0
     where r.tenant_id = $1 and r.run_id = $2 and exists (
       select from svc.detection_finding f
       where f.tenant_id = $1 and f.run_id = $2 and f.attempt = $3::int and f.confidence >= $4::numeric
         and not exists (select from svc.detection_decision d where d.tenant_id = $1 and d.classification_id = f.classification_id)
         and not exists (select from svc.detection_finding e where e.tenant_id = $1 and e.classification_id = f.classification_id
           and e.run_id <> f.run_id and e.confidence >= $4::numeric))
     returning 1`,
    [tenant, runId, attempt, alertConfidenceMin],
  )
  return rows.length === 1
}

function findingRows(claim: ClaimedRun, tableId: string | null, { findings, report }: FinishedScan) {
  // A table's UUID outlives renames, so that decisions do too.
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
  // One order for all, so that runs which meet on a table wait for each other and do not deadlock.
  const byId = new Map(rows.map((row) => [row.classification_id, row]))
  return [...byId.values()].sort((a, b) => (a.classification_id < b.classification_id ? -1 : 1))
}

export interface ListedFinding extends Finding {
  readonly id: string
  readonly runId: string
  readonly table: TableRef | undefined
  readonly status: FindingStatus
  readonly decision:
    | { readonly reason: string; readonly decidedBy: string; readonly decidedAt: Date }
    | undefined
  readonly foundAt: Date
}

export interface FindingFilter extends PageRequest {
  readonly table?: TableRef | undefined
  readonly runId?: string | undefined
  readonly status?: FindingStatus | undefined
  readonly class?: SensitiveClass | undefined
  readonly confidenceMin?: number | undefined
}

interface FindingRow {
  readonly finding_id: string
  readonly run_id: string
  readonly namespace: readonly string[] | null
  readonly table_name: string | null
  readonly path: string
  readonly class: SensitiveClass
  readonly shape: Finding['shape']
  readonly confidence: string
  readonly matched: number
  readonly sampled: number
  readonly masked_sample: string | null
  readonly status: FindingStatus
  readonly decision_reason: string | null
  readonly decided_by: string | null
  readonly decided_at: Date | null
  readonly found_at: Date
  readonly position: string
}

const statusText = `case d.decision when 'confirm' then 'confirmed' when 'reject' then 'rejected' when 'exempt' then 'exempt' else 'open' end`

const listText = `
  select f.finding_id, f.run_id, r.namespace, r.table_name, f.path, f.class, f.shape, f.confidence, f.matched, f.sampled,
    f.masked_sample, ${statusText} as status, d.reason as decision_reason, d.decided_by, d.decided_at, f.found_at,
    to_char(f.found_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '.' || f.finding_id as position, r.table_id
  from svc.detection_finding f join svc.detection_run r on r.tenant_id = f.tenant_id and r.run_id = f.run_id
  left join lateral (select * from svc.detection_decision d where d.tenant_id = f.tenant_id
    and d.classification_id = f.classification_id order by d.decision_seq desc limit 1) d on true
  where f.tenant_id = $1`

function toFinding(row: FindingRow): ListedFinding {
  return {
    id: row.finding_id,
    runId: row.run_id,
    table:
      row.namespace === null || row.table_name === null
        ? undefined
        : { namespace: row.namespace, name: row.table_name },
    column: row.path,
    class: row.class,
    shape: row.shape,
    confidence: Number(row.confidence) as Finding['confidence'],
    matched: row.matched,
    sampled: row.sampled,
    maskedSample: row.masked_sample ?? undefined,
    status: row.status,
    decision:
      row.decided_by === null || row.decided_at === null
        ? undefined
        : { reason: row.decision_reason ?? '', decidedBy: row.decided_by, decidedAt: row.decided_at },
    foundAt: row.found_at,
  }
}

/**
 * The tenant's findings, newest first.
 * @throws Fault `bad_request` for a bad page token
 */
export async function listFindings(
  store: Store,
  tenant: TenantId,
  filter: FindingFilter = {},
): Promise<Page<ListedFinding>> {
  const limit = pageLimit(filter)
  if (filter.runId !== undefined && !isUuid(filter.runId)) return { items: [] }
  const rows = await store.tenantQuery<FindingRow>(
    tenant,
    `select * from (${listText}) x
     where ($2::text is null or table_id = $2) and ($3::uuid is null or run_id = $3) and ($4::text is null or status = $4)
       and ($5::text is null or class = $5) and confidence >= $6::numeric
       and ($7::timestamptz is null or (found_at, finding_id) < ($7::timestamptz, $8::uuid))
     order by found_at desc, finding_id desc limit $9::int`,
    [
      tenant,
      filter.table === undefined ? null : nodeId(tableKey(filter.table)),
      filter.runId ?? null,
      filter.status ?? null,
      filter.class ?? null,
      filter.confidenceMin ?? 0,
      ...afterPosition(filter),
      limit + 1,
    ],
  )
  const page = toPage(rows, limit, (row) => row.position)
  return { ...page, items: page.items.map(toFinding) }
}

export interface NewDecision {
  readonly decision: DetectionDecision
  readonly reason: string
  readonly decidedBy: string
}

/**
 * Decides about a finding's column and class: now, and for every later scan until somebody decides anew.
 * Rejecting and exempting write an Attestation and take the Tag away.
 * @returns the finding as it stands then, or undefined where there is none
 */
export function decideFinding(
  store: Store,
  tenant: TenantId,
  findingId: string,
  { decision, reason, decidedBy }: NewDecision,
): Promise<ListedFinding | undefined> {
  if (!isUuid(findingId)) return Promise.resolve(undefined)
  return store.tenantTransaction(tenant, async (tx) => {
    const [made] = await tx.query<{ classification_id: string }>(
      `insert into svc.detection_decision (tenant_id, classification_id, finding_id, decision, reason, decided_by)
       select tenant_id, classification_id, finding_id, $3, $4, $5 from svc.detection_finding
       where tenant_id = $1 and finding_id = $2 returning classification_id`,
      [tenant, findingId, decision, storableText(reason), decidedBy],
    )
    if (made === undefined) return undefined
    await projectClassification(tx, made.classification_id)
    const rows = await tx.query<FindingRow>(`${listText} and f.finding_id = $2`, [tenant, findingId])
    return rows.map(toFinding)[0]
  })
}

/**
 * Draws the graph of a run's findings once more, after its table became known.
 * @throws Fault
 */
export function linkFindings(store: Store, tenant: TenantId, runId: string): Promise<void> {
  return store.tenantTransaction(tenant, async (tx) => {
    const rows = await tx.query<{ classification_id: string; field_id: string | null }>(
      `select f.classification_id, f.field_id from svc.detection_finding f
       where f.tenant_id = $1 and f.run_id = $2 order by f.classification_id`,
      [tenant, runId],
    )
    const [run] = await tx.query<{ table_id: string | null }>(
      'select table_id from svc.detection_run where tenant_id = $1 and run_id = $2',
      [tenant, runId],
    )
    if (run?.table_id == null) return
    for (const { classification_id, field_id } of rows) {
      if (field_id === null) continue
      await tx.query(
        `update svc.detection_finding set column_id = $4 where tenant_id = $1 and run_id = $2 and classification_id = $3`,
        [tenant, runId, classification_id, nodeId(`${run.table_id}\u001f${field_id}`)],
      )
      await projectClassification(tx, classification_id)
    }
  })
}

export interface DueAlert {
  readonly tenant: TenantId
  readonly runId: string
  readonly tries: number
}

/**
 * Alerts that are due, each put off by `leaseMs` so that another replica leaves it alone meanwhile. Its commit
 * waits for the log, so the findings that an alert tells of are durable before it is sent.
 * @param leaseMs milliseconds
 */
export async function claimAlerts(
  store: Store,
  limit: number,
  leaseMs: number,
): Promise<readonly DueAlert[]> {
  const rows = await store.adminQuery<{ tenant_id: TenantId; run_id: string; alert_tries: number }>(
    `with due as (
       select tenant_id, run_id from svc.detection_run where alert_due <= clock_timestamp()
       order by alert_due limit $1::int for update skip locked)
     update svc.detection_run r set alert_due = clock_timestamp() + $2::float8 * interval '1 ms', alert_tries = alert_tries + 1
     from due d where r.tenant_id = d.tenant_id and r.run_id = d.run_id
     returning r.tenant_id, r.run_id, r.alert_tries`,
    [limit, leaseMs],
  )
  return rows.map((row) => ({ tenant: row.tenant_id, runId: row.run_id, tries: row.alert_tries }))
}

/** @param delayMs milliseconds until it is due again; undefined where it was told or given up */
export async function settleAlert(store: Store, alert: DueAlert, delayMs: number | undefined): Promise<void> {
  await store.tenantQuery(
    alert.tenant,
    `update svc.detection_run set alert_due = clock_timestamp() + $3::float8 * interval '1 ms'
     where tenant_id = $1 and run_id = $2`,
    [alert.tenant, alert.runId, delayMs ?? null],
  )
}

/** What an alert of a run tells of: findings at 0.85 or more about which nobody has decided. */
export async function alertFindings(
  store: Store,
  tenant: TenantId,
  runId: string,
): Promise<readonly ListedFinding[]> {
  const page = await listFindings(store, tenant, {
    runId,
    status: 'open',
    confidenceMin: alertConfidenceMin,
    limit: 50,
  })
  return page.items
}

/** Keeps a storage event that nobody could read. A message that was kept before is kept once. */
export async function setAside(
  store: Store,
  tenant: TenantId,
  message: { readonly id: string; readonly reason: string; readonly sealed: Uint8Array },
): Promise<void> {
  if (message.id === '') throw new Fault('internal', 'Internal error.', { detail: 'a message without an id' })
  await store.tenantQuery(
    tenant,
    `insert into svc.detection_set_aside (tenant_id, message_id, reason, sealed) values ($1, $2, $3, $4) on conflict do nothing`,
    [tenant, nodeId(message.id).slice(0, 256), message.reason, message.sealed],
  )
}
