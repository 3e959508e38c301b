/**
 * Writes decisions as CSV (RFC 4180) or JSON Lines. A cell that a spreadsheet would read as a formula gets an apostrophe
 * before it.
 */

import { type TableRef, tableName } from '../../core/table-ref.ts'
import { csvCell, type ExportFormat } from '../../http/export-formats.ts'
import type { ListedDecision } from '../../store/commit/decision-list.ts'
import { explainedDecisionView } from './views.ts'

type Shown = ReturnType<typeof explainedDecisionView>

const columns: Readonly<Record<string, (decision: Shown) => string | undefined>> = {
  commit_id: ({ commit_id }) => commit_id,
  created_at: ({ created_at }) => new Date(created_at).toISOString(),
  decision: ({ decision }) => decision,
  reason: ({ reason }) => reason,
  action: ({ action }) => action,
  committer: ({ committer }) => committer,
  roles: ({ principal }) => principal?.roles.join(' '),
  principal_source: ({ principal_source }) => principal_source,
  table: ({ table }) => tableName(table),
  request_id: ({ request_id }) => request_id,
  base_metadata_location: ({ base_metadata_location }) => base_metadata_location,
  metadata_location: ({ metadata_location }) => metadata_location,
  policies: ({ policies }) => policies?.map(({ id }) => id).join(' '),
  outcomes: ({ outcomes }) => JSON.stringify(outcomes ?? []),
  tenant_id: ({ tenant_id }) => tenant_id,
  base_held: ({ base_held }) => base_held,
  session_id: ({ session }) => session?.id,
  session_name: ({ session }) => session?.name,
  client: ({ client }) => client,
  application_id: ({ application_id }) => application_id,
  branch: ({ branch }) => branch,
}

/** What stands before the first decision. */
export function exportHead(format: ExportFormat): string {
  return format === 'csv' ? `${Object.keys(columns).join(',')}\r\n` : ''
}

/** A decision as one record, with its end of line. @param shown as {@link explainedDecisionView} gives it, or its JSON */
export function exportRecord(format: ExportFormat, shown: Shown): string {
  if (format === 'jsonl') return `${JSON.stringify(shown)}\n`
  return `${Object.values(columns)
    .map((of) => csvCell(of(shown) ?? ''))
    .join(',')}\r\n`
}

/** A page of decisions as text. @param shown whether values that were written into a table's commits are */
export function exportPage(
  format: ExportFormat,
  decisions: readonly ListedDecision[],
  shown: (table: TableRef) => boolean,
): string {
  return decisions
    .map((decision) => exportRecord(format, explainedDecisionView(decision, shown(decision.table))))
    .join('')
}
