/**
 * Shows detection runs in the form of the API, as one principal sees them. What a scan read counts rows and values, and
 * names files. Where a filter or mask hides some of them, only those who look after the tenant's tables see it, and not
 * how many values there were.
 */

import type { ScanReport } from '../core/detection.ts'
import { coverageOf, hitSources, runStates } from '../core/detection.ts'
import { isSteward, overseesTables } from '../core/oversight.ts'
import type { Principal } from '../core/principal.ts'
import { tableKey } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import {
  described,
  list,
  maybe,
  number,
  object,
  oneOf,
  tableIdentifier,
  text,
  time,
  uuid,
  wholeNumber,
} from '../http/schemas.ts'
import type { DetectionAttempt, DetectionRun } from '../store/detection/run-list.ts'
import { sightsOf } from '../store/governance/table-sight.ts'
import type { Store } from '../store/store.ts'

const report = described(
  object({
    snapshot_ids: maybe(described(list(text), 'decimal')),
    table_uuid: maybe(text),
    files_added: maybe(wholeNumber),
    files_scanned: maybe(wholeNumber),
    files_left_out: maybe(described(wholeNumber, 'by the file and byte budgets')),
    files_unsupported: maybe(described(wholeNumber, 'ORC and encrypted files')),
    files_failed: maybe(wholeNumber),
    coverage: maybe(described(number, 'share of the added files that was scanned, 0 to 1')),
    bytes_read: maybe(wholeNumber),
    values_sampled: maybe(wholeNumber),
    columns: maybe(wholeNumber),
    unjudged: maybe(
      described(wholeNumber, 'columns times classifiers that were not judged, for what the patterns cost'),
    ),
    findings_left_out: maybe(
      described(wholeNumber, 'of the least confidence, where there were more than 2,000'),
    ),
    problems: maybe(described(list(object({ file: text, reason: text })), 'the first of them')),
  }),
  'What the scan covered; empty until there was one, and where a filter or mask hides values from you',
)
const runMembers = {
  id: uuid,
  metadata_location: maybe(described(text, 'absent where a filter or mask hides values from you')),
  source: oneOf(hitSources),
  table: maybe(tableIdentifier),
  state: oneOf(runStates),
  attempt: wholeNumber,
  reason: described(text, 'why it failed, where you see its report; empty otherwise'),
  report,
  created_at: time,
  finished_at: maybe(time),
}
const attempt = object({
  attempt: wholeNumber,
  cause: oneOf(['trigger', 'retry', 'rescan']),
  requested_by: maybe(text),
  started_at: time,
  finished_at: maybe(time),
  outcome: maybe(oneOf(['done', 'partial', 'failed', 'lost'])),
  reason: text,
  report,
})

export const runSchema = object(runMembers)
export const runWithAttemptsSchema = object({ ...runMembers, attempts: list(attempt) })

/**
 * What a principal sees of a run:
 * - `whole`
 * - `operation`: all but how many values there were
 * - `state`: nothing of what was read
 */
type RunSight = 'whole' | 'operation' | 'state'

/** Tells how a principal sees each of these runs. @throws Fault where the governance cannot be loaded */
export async function sightsOfRuns(
  store: Store,
  tenant: TenantId,
  principal: Principal,
  runs: readonly DetectionRun[],
): Promise<(run: DetectionRun) => RunSight> {
  if (isSteward(principal)) return () => 'whole'
  const sights = await sightsOf(
    store,
    tenant,
    principal,
    runs.flatMap(({ table }) => table ?? []),
  )
  return ({ table }) => {
    if (table !== undefined && sights.get(tableKey(table))?.isWhole === true) return 'whole'
    return overseesTables(principal) ? 'operation' : 'state'
  }
}

/** Shows a run. */
export function runView(run: DetectionRun, sight: RunSight) {
  return {
    id: run.id,
    ...(sight !== 'state' && { metadata_location: run.metadataLocation }),
    source: run.source,
    table: run.table,
    state: run.state,
    attempt: run.attempt,
    ...scanView(run, sight),
    created_at: run.createdAt,
    finished_at: run.finishedAt,
  }
}

/** Shows one attempt of a run. */
export function attemptView(one: DetectionAttempt, sight: RunSight) {
  return {
    attempt: one.attempt,
    cause: one.cause,
    requested_by: one.requestedBy,
    started_at: one.startedAt,
    finished_at: one.finishedAt,
    outcome: one.outcome,
    ...scanView(one, sight),
  }
}

function scanView({ reason, report: scan }: Pick<DetectionRun, 'reason' | 'report'>, sight: RunSight) {
  if (sight === 'state') return { reason: '', report: {} }
  const { values_sampled, ...operation } = reportView(scan)
  return { reason, report: sight === 'whole' ? { ...operation, values_sampled } : operation }
}

function reportView(scan: Partial<ScanReport>) {
  return {
    snapshot_ids: scan.snapshotIds,
    table_uuid: scan.tableUuid,
    files_added: scan.filesAdded,
    files_scanned: scan.filesScanned,
    files_left_out: scan.filesLeftOut,
    files_unsupported: scan.filesUnsupported,
    files_failed: scan.filesFailed,
    coverage: scan.filesAdded === undefined ? undefined : coverageOf(scan).share,
    bytes_read: scan.bytesRead,
    values_sampled: scan.valuesSampled,
    columns: scan.columns,
    unjudged: scan.unjudged,
    findings_left_out: scan.findingsLeftOut,
    problems: scan.problems?.map(({ file, reason }) => ({ file, reason })),
  }
}
