/** Lists a tenant's contracts with the versions that matter now, and what was changed outside of their documents. */

import type { Governance } from '../../core/governance.ts'
import type { TenantId } from '../../core/tenant.ts'
import { pageView } from '../../http/page-view.ts'
import { type ContractOverview, pageOfContracts } from '../../store/contract/contract-overview.ts'
import { governing } from '../../store/contract/put-in-force.ts'
import { earlierModels, type RunQuery } from '../../store/contract/versions.ts'
import type { PageRequest } from '../../store/database/page.ts'
import { loadGovernances } from '../../store/governance/governance.ts'
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
  const outside = new Map<string, readonly string[]>()
  for (const one of found.items) outside.set(one.contract, await outsideOf(run, tenant, one, governances))
  return pageView(found, (one) => overviewView(one, outside.get(one.contract) ?? []))
}

function inForce({ versions }: ContractOverview) {
  return versions.find(({ state }) => state === 'active' || state === 'deprecated')
}

/** Asks for earlier versions only where something differs, which is rare. */
async function outsideOf(
  run: RunQuery,
  tenant: TenantId,
  one: ContractOverview,
  governances: ReadonlyMap<string, Governance>,
): Promise<readonly string[]> {
  const force = inForce(one)
  if (force === undefined || changesOutside(force.model, governances).length === 0) return []
  const [, ...earlier] = await earlierModels(run, tenant, one.contract)
  return changesOutside(force.model, governances, earlier)
}

function overviewView(one: ContractOverview, outside: readonly string[]) {
  const { contract: id, revision, managedBy, versions, tables } = one
  return {
    id,
    ...(revision !== undefined && { revision }),
    ...(managedBy !== undefined && { managed_by: managedBy }),
    versions: versions.map(versionView),
    tables,
    outside_changes: outside,
  }
}
