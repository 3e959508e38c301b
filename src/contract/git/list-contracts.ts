/** Lists a tenant's contracts with the versions that matter now, and what was changed outside of their documents. */

import type { TenantId } from '../../core/tenant.ts'
import { pageView } from '../../http/page-view.ts'
import { type ContractOverview, pageOfContracts } from '../../store/contract/contract-overview.ts'
import { governing } from '../../store/contract/put-in-force.ts'
import type { RunQuery } from '../../store/contract/versions.ts'
import type { PageRequest } from '../../store/database/page.ts'
import { type Governance, loadGovernances } from '../../store/governance/governance.ts'
import type { Store } from '../../store/store.ts'
import { versionView } from '../lifecycle/show-version.ts'
import { changesOutside } from './outside-changes.ts'

/** One page of contracts, by id. @throws Fault `bad_request` for a bad page */
export async function listContractOverviews(store: Store, tenant: TenantId, page: PageRequest) {
  const run: RunQuery = (text, params) => store.tenantQuery(tenant, text, params)
  const found = await pageOfContracts(run, tenant, page)
  const tables = found.items.flatMap((one) => governing(inForce(one)?.model).map(({ table }) => table))
  const governances: ReadonlyMap<string, Governance> =
    tables.length === 0 ? new Map() : await loadGovernances(store, tenant, tables)
  return pageView(found, (one) => overviewView(one, governances))
}

function inForce({ versions }: ContractOverview) {
  return versions.find(({ state }) => state === 'active' || state === 'deprecated')
}

function overviewView(one: ContractOverview, governances: ReadonlyMap<string, Governance>) {
  const { contract: id, revision, managedBy, versions, tables } = one
  const force = inForce(one)
  return {
    id,
    ...(revision !== undefined && { revision }),
    ...(managedBy !== undefined && { managed_by: managedBy }),
    versions: versions.map(versionView),
    tables,
    outside_changes: force === undefined ? [] : changesOutside(force.model, governances),
  }
}
