/** Streams decisions to a client, a page at a time: the next page is loaded once the client has taken the one before. */

import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { type ExportFormat, exportResponse } from '../../http/export-formats.ts'
import { type DecisionFilter, type ListedDecision, listDecisions } from '../../store/commit/decision-list.ts'
import { showsWritten, type ValuesReader } from '../../store/governance/written-values.ts'
import type { Store } from '../../store/store.ts'
import { exportHead, exportPage } from './decision-text.ts'

/** Decisions held in memory at once. */
const pageCount = 100

interface DecisionExport {
  readonly store: Store
  readonly tenant: TenantId
  readonly reader: ValuesReader
  readonly filter: DecisionFilter
  readonly format: ExportFormat
  readonly signal: AbortSignal
  /** Checks access again. Throws once it has ended. */
  readonly again: () => Promise<unknown>
}

/**
 * The response: decisions that were on record when it began, newest first, each once.
 * @throws Fault of the first page
 */
export async function exportDecisions(wanted: DecisionExport): Promise<Response> {
  return await exportResponse('decisions', wanted.format, pagesOf(wanted))
}

/** The tables of decisions, each once or more. */
export function tablesOf(found: readonly Pick<ListedDecision, 'table'>[]): readonly TableRef[] {
  return found.map(({ table }) => table)
}

async function* pagesOf({ store, tenant, reader, filter, format, signal, again }: DecisionExport) {
  let after: string | undefined
  let head = exportHead(format)
  do {
    if (after !== undefined) await again()
    const page = await listDecisions(
      store,
      tenant,
      { ...filter, limit: pageCount, after },
      { isExplained: true, signal },
    )
    const shown = await showsWritten(store, tenant, reader, tablesOf(page.items))
    const text = head + exportPage(format, page.items, shown)
    head = ''
    after = page.next
    // An empty chunk would end the transfer early.
    if (text !== '') yield text
  } while (after !== undefined)
}
