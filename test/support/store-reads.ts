/** Reads of the store that tests make and the service does not. */

import type { Policy } from '../../src/core/policy.ts'
import type { TableRef } from '../../src/core/table-ref.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import type { Tx } from '../../src/store/database/session.ts'
import { type NodeRef, parseAgtype } from '../../src/store/graph/graph.ts'
import { loadWriteGovernance } from '../../src/store/policy/policies.ts'
import type { Store } from '../../src/store/store.ts'

/** The policies that govern a table, in id order. */
export async function loadPolicies(
  store: Store,
  tenant: TenantId,
  table: TableRef,
): Promise<readonly Policy[]> {
  return (await loadWriteGovernance(store, tenant, table)).policies
}

/** The properties of the node of this id, or undefined. */
export async function findProperties(tx: Tx, { label, id }: NodeRef): Promise<unknown> {
  const [row] = await tx.query<{ properties: string }>(
    `select n.properties from "${label}" n
     where agtype_access_operator(variadic array[n.properties, '"id"'::agtype]) = to_jsonb($1::text)::text::agtype`,
    [id],
  )
  return row && parseAgtype(row.properties)
}
