/** Lists the tables that are under a contract; to those who do not look after all tables, those that may be read. */

import { overseesTables } from '../core/oversight.ts'
import type { Principal } from '../core/principal.ts'
import type { TenantId } from '../core/tenant.ts'
import { pageView } from '../http/page-view.ts'
import { type ListedContract, listContracts } from '../store/contract/contract-list.ts'
import type { PageRequest } from '../store/database/page.ts'
import type { Store } from '../store/store.ts'

/** Reads one page of tables with their contracts. Throws `bad_request` for a bad page. */
export async function listTableContracts(
  store: Store,
  tenant: TenantId,
  principal: Principal,
  page: PageRequest,
) {
  const readableOnly = !overseesTables(principal)
  return pageView(await listContracts(store, tenant, { ...page, readableOnly }), contractView)
}

function contractView({ table, id, version, state }: ListedContract) {
  return { table, contract: { id, version, state } }
}
