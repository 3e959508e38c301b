/** Finds the territory of a table that a statement reads, and refuses a table that its catalog shows under a second name. */

import { Fault } from '../../../base/fault.ts'
import { CatalogError } from '../../../catalog/catalog.ts'
import type { TableStates } from '../../../catalog/table-states.ts'
import type { CatalogCredential } from '../../../core/catalog.ts'
import type { TenantId } from '../../../core/tenant.ts'
import type { Territory } from '../../../core/territory.ts'
import type { TerritoryFound } from '../../../core/territory-owner.ts'
import type { RootedOwner } from '../../../storage/feed-territory.ts'
import { territoryForRead } from '../../../storage/read-territory.ts'
import type { Store } from '../../../store/store.ts'
import type { TableState } from '../../../wire/iceberg/table-state.ts'
import { SqlError } from '../../compile/base/sql-error.ts'

interface ReadPlace {
  readonly tenant: TenantId
  readonly credential: CatalogCredential
  readonly owner: RootedOwner
  readonly state: TableState
  /** What the store said of the table in this load. */
  readonly found: TerritoryFound
}

/** @throws SqlError 55000 for a second name, 58000 where the upstream fails; Fault of the store */
export async function placeRead(
  { store, states }: { readonly store: Store; readonly states: TableStates },
  { tenant, credential, owner, state, found }: ReadPlace,
): Promise<Territory> {
  try {
    return await territoryForRead(store, tenant, owner, state, found, async (table) => {
      return (await states.load(tenant, credential, table)).tableUuid
    })
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.kind === 'conflict')
      throw new SqlError('55000', thrown.publicMessage, undefined, { cause: thrown })
    if (thrown instanceof CatalogError)
      throw new SqlError('58000', 'The upstream catalog refused to load a table.', undefined, {
        cause: thrown,
      })
    throw thrown
  }
}
