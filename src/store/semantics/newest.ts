/**
 * Finds and lists the newest versions of what the semantic layer keeps by name. A version whose definition is JSON null
 * says that there is none any more.
 */

import type { TenantId } from '../../core/tenant.ts'
import { storableText } from '../database/names.ts'
import { type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Store } from '../store.ts'

/** What has versions, and the column that names it. */
const sources = { table_model: 'table_id', glossary_term: 'term' } as const

/** The condition on a newest version under which it is in force. */
const isThere = `definition <> 'null'`

export interface NewestRow<Definition> {
  readonly name: string
  readonly number: number
  readonly definition: Definition
}

/** The newest version of each, by name. @throws Fault `bad_request` for a bad page */
export async function listNewest<Definition>(
  store: Store,
  tenant: TenantId,
  from: keyof typeof sources,
  { condition = 'true', ...page }: PageRequest & { readonly condition?: string },
): Promise<Page<NewestRow<Definition>>> {
  const limit = pageLimit(page)
  const name = sources[from]
  const rows = await store.tenantQuery<NewestRow<Definition>>(
    tenant,
    `select * from (select distinct on (${name}) ${name} as name, number, definition from svc.${from}
       where tenant_id = $1 and ${name} > $2 and ${condition} order by ${name}, number desc) n
     where ${isThere} order by name limit $3::int`,
    [tenant, page.after ?? '', limit + 1],
  )
  return toPage(rows, limit, (row) => row.name)
}

/** The newest version of one. */
export async function findNewest<Definition>(
  store: Store,
  tenant: TenantId,
  from: keyof typeof sources,
  named: string,
): Promise<NewestRow<Definition> | undefined> {
  return (await findNewestOf<Definition>(store, tenant, from, [named]))[0]
}

/** The newest version of each of several, in their order; undefined where there is none. */
export async function findNewestOf<Definition>(
  store: Store,
  tenant: TenantId,
  from: keyof typeof sources,
  named: readonly string[],
): Promise<readonly (NewestRow<Definition> | undefined)[]> {
  const name = sources[from]
  const rows = await store.tenantQuery<NewestRow<Definition>>(
    tenant,
    `select * from (select distinct on (${name}) ${name} as name, number, definition from svc.${from}
       where tenant_id = $1 and ${name} in (select jsonb_array_elements_text($2::text::jsonb))
       order by ${name}, number desc) n where ${isThere}`,
    [tenant, JSON.stringify(named.map(storableText))],
  )
  const found = new Map(rows.map((row) => [row.name, row]))
  return named.map((one) => found.get(one))
}
