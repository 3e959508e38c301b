/**
 * Reads contracts by id: those that have documents, and those that were put on tables alone; with the versions that
 * matter now, and a revision by which a caller sees whether one has moved.
 */

import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { storableText } from '../database/names.ts'
import { type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import { type Properties, parseAgtype } from '../graph/graph.ts'
import { type ContractVersion, type RunQuery, versionsThatMatter } from './versions.ts'

export interface ContractOverview {
  readonly contract: string
  /** Differs after every version and every move; undefined where the contract has no versions. */
  readonly revision: string | undefined
  /** Who keeps its documents outside the service, by the newest version of which somebody said so. */
  readonly managedBy: string | undefined
  /** Those on their way or in force, and the newest one; newest first. */
  readonly versions: readonly ContractVersion[]
  /** Under the contract now. */
  readonly tables: readonly TableRef[]
}

/** The contracts of a tenant in the order of their ids. @throws Fault `bad_request` for a page limit that is too large */
export async function pageOfContracts(
  run: RunQuery,
  tenant: TenantId,
  page: PageRequest,
): Promise<Page<ContractOverview>> {
  const limit = pageLimit(page)
  // The sentinel's contract has the id ''.
  const rows = await run<{ id: string }>(
    `select id from (
       select contract_id as id from svc.contract_version where tenant_id = $1
       union select k.properties::text::jsonb ->> 'id' from "GOVERNS" e join "Contract" k on k.id = e.start_id) as known
     where id collate "C" > $2 order by id collate "C" limit $3::int`,
    [tenant, storableText(page.after ?? ''), limit + 1],
  )
  const found = toPage(rows, limit, ({ id }) => id)
  const overviews = await readOverviews(
    run,
    tenant,
    found.items.map(({ id }) => id),
  )
  return { ...found, items: overviews }
}

/** Contracts by id, in the order of `ids`. One that is not there has neither versions nor tables. */
export async function readOverviews(
  run: RunQuery,
  tenant: TenantId,
  ids: readonly string[],
): Promise<readonly ContractOverview[]> {
  const wanted = JSON.stringify(ids.map(storableText))
  const heads = await run<{ contract_id: string; revision: string; managed_by: string | null }>(
    `select contract_id, md5(string_agg(number || ' ' || state, ',' order by number)) as revision,
       (array_agg(managed_by order by number desc) filter (where managed_by is not null))[1] as managed_by
     from svc.contract_version
     where tenant_id = $1 and contract_id in (select jsonb_array_elements_text($2::text::jsonb))
     group by contract_id`,
    [tenant, wanted],
  )
  const governed = await run<{ id: string; properties: string }>(
    `select k.properties::text::jsonb ->> 'id' as id, t.properties
     from "GOVERNS" e join "Contract" k on k.id = e.start_id join "Table" t on t.id = e.end_id
     where k.properties::text::jsonb ->> 'id' in (select jsonb_array_elements_text($1::text::jsonb))`,
    [wanted],
  )
  const versions = Map.groupBy(await versionsThatMatter(run, tenant, ids), ({ contract }) => contract)
  const tables = Map.groupBy(governed, ({ id }) => id)
  return ids.map((contract) => {
    const head = heads.find(({ contract_id }) => contract_id === contract)
    return {
      contract,
      revision: head?.revision,
      managedBy: head?.managed_by ?? undefined,
      versions: versions.get(contract) ?? [],
      tables: (tables.get(contract) ?? []).map(({ properties }) => tableOf(properties)),
    }
  })
}

function tableOf(properties: string): TableRef {
  const { namespace, name } = parseAgtype(properties) as Properties as unknown as TableRef
  return { namespace, name }
}
