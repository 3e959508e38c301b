/** Lists the contracts of a tenant's tables by table id. */

import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { storableText } from '../database/names.ts'
import { type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import { type Properties, parseAgtype } from '../graph/graph.ts'
import { isReadableKey } from '../graph/readable.ts'
import type { Store } from '../store.ts'

export interface ListedContract {
  readonly table: TableRef
  readonly id: string
  readonly version: number
  readonly state: string
}

const property = (alias: string, name: string) =>
  `agtype_access_operator(variadic array[${alias}.properties, '"${name}"'::agtype])`

/**
 * The tables that are under a contract, without the sentinel's table, whose id is ''.
 * @param readableOnly leaves out those that may not be read. Default: false
 * @throws Fault `bad_request` for a page limit that is too large
 */
export async function listContracts(
  store: Store,
  tenant: TenantId,
  { readableOnly = false, ...page }: PageRequest & { readonly readableOnly?: boolean },
): Promise<Page<ListedContract>> {
  const limit = pageLimit(page)
  const rows = await store.tenantQuery<{ governed: string; contract: string }>(
    tenant,
    `select g.properties as governed, k.properties as contract
     from "GOVERNS" e join "Table" g on g.id = e.end_id join "Contract" k on k.id = e.start_id
     where ${property('g', 'id')} > to_jsonb($1::text)::text::agtype
       ${readableOnly ? `and ${isReadableKey(property('g', 'id'))}` : ''}
     order by ${property('g', 'id')} limit $2::int`,
    [storableText(page.after ?? ''), limit + 1],
  )
  const found = rows.map(({ governed, contract }) => ({
    governed: parseAgtype(governed) as Properties,
    contract: parseAgtype(contract) as Properties,
  }))
  const { items, ...rest } = toPage(found, limit, ({ governed }) => String(governed.id))
  return { ...rest, items: items.map(toListed) }
}

function toListed({ governed, contract }: { governed: Properties; contract: Properties }): ListedContract {
  const { namespace, name } = governed as unknown as TableRef
  return {
    table: { namespace, name },
    id: String(contract.id),
    version: Number(contract.version),
    state: String(contract.state),
  }
}
