/** Streams usage records to a client as CSV or JSON Lines, a page at a time, newest first. */

import type { Principal } from '../../core/principal.ts'
import { tableName } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { csvCell, type ExportFormat, exportResponse } from '../../http/export-formats.ts'
import { type ListFilter, listUsage } from '../../store/query/usage.ts'
import type { Store } from '../../store/store.ts'
import { seesBytesScanned, usageView, visibleUsage } from './list-usage.ts'

/** Records held in memory at once. */
const pageCount = 500

interface UsageExport {
  readonly store: Store
  readonly tenant: TenantId
  readonly principal: Principal
  readonly filter: ListFilter
  readonly format: ExportFormat
  readonly signal: AbortSignal
  /** Checks access again. Throws once it has ended. */
  readonly again: () => Promise<unknown>
}

type Shown = ReturnType<typeof usageView>

const columns: Readonly<Record<string, (usage: Shown) => string | number | undefined>> = {
  query_id: ({ query_id }) => query_id,
  started_at: ({ started_at }) => started_at.toISOString(),
  principal: ({ principal }) => principal,
  principal_source: ({ principal_source }) => principal_source,
  surface: ({ surface }) => surface,
  catalog: ({ catalog }) => catalog,
  engine: ({ engine }) => engine,
  contracts: ({ contracts }) => contracts.map(({ id, version }) => `${id}@${version}`).join(' '),
  tables: ({ reads }) => reads.map(({ table }) => tableName(table)).join(' '),
  reads: ({ reads }) => JSON.stringify(reads),
  policies: ({ policies }) => JSON.stringify(policies),
  rows_out: ({ rows_out }) => rows_out,
  bytes_out: ({ bytes_out }) => bytes_out,
  bytes_scanned: ({ bytes_scanned }) => bytes_scanned,
  queue_ms: ({ queue_ms }) => queue_ms,
  plan_ms: ({ plan_ms }) => plan_ms,
  run_ms: ({ run_ms }) => run_ms,
  outcome: ({ outcome }) => outcome,
  sqlstate: ({ sqlstate }) => sqlstate,
  fingerprint: ({ fingerprint }) => fingerprint,
  tool: ({ tool }) => tool,
  client: ({ client }) => client,
  purpose: ({ purpose }) => purpose,
  session_id: ({ raw_read }) => raw_read?.session_id,
  given: ({ raw_read }) => raw_read?.given,
  given_times: ({ raw_read }) => raw_read?.times,
  given_last_at: ({ raw_read }) => raw_read?.last_at.toISOString(),
  protection: ({ raw_read }) => raw_read?.protection,
}

/**
 * The response: the records that the principal may see and that were there when it began, newest first, each once.
 * @throws Fault `forbidden` for records of another principal, and that of the first page
 */
export async function exportUsage(wanted: UsageExport): Promise<Response> {
  const { principal, format } = wanted
  const filter = visibleUsage(wanted.filter, principal)
  return await exportResponse('usage', format, pagesOf({ ...wanted, filter }))
}

async function* pagesOf({ store, tenant, principal, filter, format, signal, again }: UsageExport) {
  const all = seesBytesScanned(principal)
  let after: string | undefined
  let head = format === 'csv' ? `${Object.keys(columns).join(',')}\r\n` : ''
  do {
    if (after !== undefined) await again()
    const page = await listUsage(store, tenant, filter, { limit: pageCount, after }, signal)
    const text = head + page.items.map((one) => recordText(format, usageView(one, all))).join('')
    head = ''
    after = page.next
    // An empty chunk would end the transfer early.
    if (text !== '') yield text
  } while (after !== undefined)
}

function recordText(format: ExportFormat, shown: Shown): string {
  if (format === 'jsonl') return `${JSON.stringify(shown)}\n`
  return `${Object.values(columns)
    .map((of) => csvCell(String(of(shown) ?? '')))
    .join(',')}\r\n`
}
