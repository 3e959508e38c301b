/** Converts pages of listings between the API and the store. `page_token` and `next_page_token` are opaque to clients. */

import type { Page, PageRequest } from '../store/database/page.ts'

/** The members of a request that select a page, as {@link pageInput} declares them. */
export interface PageInput {
  readonly limit?: number | undefined
  readonly page_token?: string | undefined
}

/** The page to request from the store. */
export function pageRequest({ limit, page_token: after }: PageInput): PageRequest {
  return { limit, after }
}

/** A page of the store as the API shows it; `view` converts each item. */
export function pageView<T, V>({ items, next }: Page<T>, view: (item: T) => V) {
  return { items: items.map(view), next_page_token: next }
}
