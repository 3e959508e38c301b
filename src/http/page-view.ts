/** Pages of listings between the API's words and the store's: `page_token` and `next_page_token` are opaque to clients. */

import type { Page, PageRequest } from '../store/database/page.ts'

/** Which page a request asks for, as {@link pageInput} takes it. */
export interface PageInput {
  readonly limit?: number | undefined
  readonly page_token?: string | undefined
}

/** The page that the store is asked for. */
export function pageRequest({ limit, page_token: after }: PageInput): PageRequest {
  return { limit, after }
}

/** A page of the store, each item as the API shows it. */
export function pageView<T, V>({ items, next }: Page<T>, view: (item: T) => V) {
  return { items: items.map(view), next_page_token: next }
}
