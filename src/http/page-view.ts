/** Converts pages of listings between the API and the store. `page_token` and `next_page_token` are opaque to clients. */

import type { TableRef } from '../core/table-ref.ts'
import type { Page, PageRequest } from '../store/database/page.ts'
import { filteredTable, type TableFilterInput } from './schemas.ts'

/** The members of a request that select a page, as {@link pageInput} declares them. */
export interface PageInput {
  readonly limit?: number | undefined
  readonly page_token?: string | undefined
}

/** The page to request from the store. */
export function pageRequest({ limit, page_token: after }: PageInput): PageRequest {
  return { limit, after }
}

/**
 * The page to request from the store, of one table where the request names one.
 * @throws Fault `bad_request` where it names half a table
 */
export function tablePageRequest(
  input: PageInput & TableFilterInput,
): PageRequest & { readonly table: TableRef | undefined } {
  return { ...pageRequest(input), table: filteredTable(input) }
}

/** A page of the store as the API shows it; `view` converts each item. */
export function pageView<T, V>({ items, next }: Page<T>, view: (item: T) => V) {
  return { items: items.map(view), next_page_token: next }
}
