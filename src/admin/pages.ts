/** Reads listings of operations page by page. */

import type { Client } from './client.ts'
import { UsageError } from './exit-status.ts'

/** A page, with whatever its operation says beside the items. */
export interface ListedPage<Item = unknown> {
  readonly items: readonly Item[]
  readonly next_page_token?: string
}

/** Pages of one listing, so that a service which repeats itself does not keep a call for ever. */
const pagesMax = 100_000

/** The pages of a listing. @throws UsageError for an operation that answers with no pages */
export async function* listedPages<Page extends ListedPage>(
  client: Pick<Client, 'run'>,
  operation: string,
  input: Readonly<Record<string, unknown>>,
): AsyncGenerator<Page> {
  let token: string | undefined
  for (let count = 0; count < pagesMax; count++) {
    const more = token === undefined ? {} : { page_token: token }
    const page = (await client.run(operation, { ...input, ...more })) as Page | undefined
    if (!Array.isArray(page?.items)) throw new UsageError(`${operation} answers with no pages`)
    yield page
    if (page.next_page_token === undefined || page.next_page_token === token) return
    token = page.next_page_token
  }
}

/** The items of a listing, page by page. @throws UsageError for an operation that answers with no pages */
export async function* pagesOf(
  client: Pick<Client, 'run'>,
  operation: string,
  input: Readonly<Record<string, unknown>>,
): AsyncGenerator<readonly unknown[]> {
  for await (const { items } of listedPages(client, operation, input)) yield items
}
