/** Tells which of some tables are under a contract. */

import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { nodeId } from '../database/names.ts'
import type { Store } from '../store.ts'

const property = (alias: string, name: string) =>
  `agtype_access_operator(variadic array[${alias}.properties, '"${name}"'::agtype])`

/** The ids of the active contracts of these tables, by tableKey, in one round trip. */
export async function contractsOf(
  store: Store,
  tenant: TenantId,
  tables: readonly TableRef[],
): Promise<ReadonlyMap<string, string>> {
  const byId = new Map(tables.map((table) => [nodeId(tableKey(table)), tableKey(table)]))
  const rows = await store.tenantQuery<{ id: string; contract: string }>(
    tenant,
    `select i.id, k.facts ->> 'id' as contract
     from jsonb_array_elements_text($1::text::jsonb) i (id)
       join "GOVERNS" e on ${property('e', 'id')} = to_jsonb(i.id)::text::agtype
       cross join lateral (select c.properties::text::jsonb as facts from "Contract" c where c.id = e.start_id) k
     where k.facts ->> 'state' = 'active'`,
    [JSON.stringify([...byId.keys()])],
  )
  return new Map(rows.map(({ id, contract }) => [byId.get(id) ?? '', contract]))
}
