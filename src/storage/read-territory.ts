/**
 * Finds where the files of a table that is read may lie. A table that the index does not know yet is taken into it, as
 * far as its folders are nobody else's. Files outside that were read all the same are listed as conflicts.
 */

import { Fault } from '../base/fault.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import type { Territory } from '../core/territory.ts'
import { isOwn, type TerritoryFound, type TerritoryOwner, territoryOf } from '../core/territory-owner.ts'
import { loadWriteGovernance } from '../store/policy/policies.ts'
import type { Store } from '../store/store.ts'
import { type ConflictSource, claimTerritory } from '../store/territory/territory-rows.ts'
import type { TableState } from '../wire/iceberg/table-state.ts'
import { ancestorsOf } from './canonical-path.ts'
import { feedTerritory, lackingOf, type RootedOwner } from './feed-territory.ts'
import { hasTwoNames } from './one-name.ts'
import { conflictOf, folderOf, placeLocation, rowAround } from './place-locations.ts'
import type { OutsideFile } from './territory-guard.ts'

export type ReadOwner = TerritoryOwner & { readonly credentialId: string }

/** The version of the index at which the folders of each state were offered to it, without success. */
const offered = new WeakMap<TableState, string>()

/**
 * The territory of a table as its catalog shows it now.
 * @param found what the store said of the table in this load
 * @param uuidOf loads another table of the catalog and gives its uuid
 * @throws Fault `conflict` where the table is known under another name; of the store
 */
export async function territoryForRead(
  store: Store,
  tenant: TenantId,
  owner: RootedOwner,
  state: TableState,
  found: TerritoryFound,
  uuidOf: (table: TableRef) => Promise<string | undefined>,
): Promise<Territory> {
  const fed = { owner, folders: state.folders }
  if (offered.get(state) === found.version || lackingOf(fed, found) === undefined)
    return territoryOf(found, owner)
  const claimed = await feedTerritory(store, tenant, fed, 'load', found)
  const first = claimed?.knownAs
  if (
    first !== undefined &&
    (await hasTwoNames(store, tenant, { kind: 'table', fed, first, source: 'load' }, uuidOf))
  )
    throw new Fault(
      'conflict',
      'The table is known under another name in its catalog, and is read under its first name only.',
    )
  const now = claimed?.found ?? found
  // What another table has is not taken, and is not asked for again until the index changes.
  offered.set(state, now.version)
  return territoryOf(now, owner)
}

/** Lists the folders of files that a table names outside its territory. @throws Fault of the store */
export async function noteOutside(
  store: Store,
  tenant: TenantId,
  owner: ReadOwner,
  outside: readonly OutsideFile[],
  source: ConflictSource = 'load',
): Promise<void> {
  const placed = outside.map(({ location }) => placeLocation({ use: 'file', text: location }))
  const ancestors = new Set(
    placed.flatMap(({ path }) => (path === undefined ? [] : ancestorsOf(folderOf(path)))),
  )
  const { territory } = await loadWriteGovernance(store, tenant, owner.table, [...ancestors])
  const others = territory.rows.filter((row) => !isOwn(row, owner))
  const conflicts = placed.map((one) => conflictOf(one, rowAround(one, others)))
  const byPrefix = [...new Map(conflicts.map((conflict) => [conflict.prefix, conflict])).values()]
  await claimTerritory(store, tenant, {
    owner,
    source,
    strict: false,
    prefixes: [],
    conflicts: byPrefix,
  })
}
