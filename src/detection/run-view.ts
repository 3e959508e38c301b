/** Shows detection runs in the form of the API. */

import type { ScanReport } from '../core/detection.ts'
import { coverageOf, hitSources, runStates } from '../core/detection.ts'
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
  'What the scan covered; empty until there was one',
)
const runMembers = {
  id: uuid,
  metadata_location: text,
  source: oneOf(hitSources),
  table: maybe(tableIdentifier),
  state: oneOf(runStates),
  attempt: wholeNumber,
  reason: described(text, 'why it failed; empty otherwise'),
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

/** Shows a run. */
export function runView(run: DetectionRun) {
  return {
    id: run.id,
    metadata_location: run.metadataLocation,
    source: run.source,
    table: run.table,
    state: run.state,
    attempt: run.attempt,
    reason: run.reason,
    report: reportView(run.report),
    created_at: run.createdAt,
    finished_at: run.finishedAt,
  }
}

/** Shows one attempt of a run. */
export function attemptView(one: DetectionAttempt) {
  return {
    attempt: one.attempt,
    cause: one.cause,
    requested_by: one.requestedBy,
    started_at: one.startedAt,
    finished_at: one.finishedAt,
    outcome: one.outcome,
    reason: one.reason,
    report: reportView(one.report),
  }
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
