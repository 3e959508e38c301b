/** Takes the folders that a table's metadata names into the territory index, as far as it does not hold them yet. */

import type { TenantId } from '../core/tenant.ts'
import { isOwn, type TerritoryFound, type TerritoryOwner } from '../core/territory-owner.ts'
import type { Store } from '../store/store.ts'
import {
  type Claimed,
  type ClaimedPrefix,
  type ConflictSource,
  claimTerritory,
  type FoundConflict,
} from '../store/territory/territory-rows.ts'
import type { NamedLocation } from '../wire/iceberg/named-locations.ts'
import { claimOf, conflictOf, isCovered, placeLocation } from './place-locations.ts'

/** A table whose territory may lie below the storage roots of the credential by which its catalog is opened. */
export interface RootedOwner extends TerritoryOwner {
  readonly credentialId: string
  /** As configured. */
  readonly roots: readonly string[]
}

export interface FedTable {
  readonly owner: RootedOwner
  /** From `foldersOf` of the table's metadata, as the catalog sent it. */
  readonly folders: readonly NamedLocation[]
}

/**
 * What of a table's folders the index lacks. Undefined where it holds them all.
 * @param found what the index says of the table; undefined where it was not asked
 */
export function lackingOf(
  { owner, folders }: FedTable,
  found: TerritoryFound | undefined,
): { readonly prefixes: readonly ClaimedPrefix[]; readonly conflicts: readonly FoundConflict[] } | undefined {
  const own = found?.rows.filter((row) => isOwn(row, owner)) ?? []
  // A row that was taken before the table was seen lacks its uuid.
  const seen = prefixesOf(
    own.filter(({ tableUuid, kind }) => tableUuid === owner.tableUuid || kind === 'granted'),
  )
  const prefixes: ClaimedPrefix[] = []
  const conflicts: FoundConflict[] = []
  for (const placed of folders.map(placeLocation)) {
    if (placed.path !== undefined && isCovered(seen, placed.path)) continue
    const claim = claimOf(placed, owner.table, owner.tableUuid, owner.roots)
    if (typeof claim !== 'string') prefixes.push(claim)
    else if (placed.path === undefined || !isCovered(prefixesOf(prefixes), placed.path))
      conflicts.push(conflictOf(placed, undefined))
  }
  return prefixes.length === 0 && conflicts.length === 0 ? undefined : { prefixes, conflicts }
}

const prefixesOf = (rows: readonly { readonly prefix: string }[]) => rows.map(({ prefix }) => prefix)

/**
 * Feeds the index with a table as its catalog shows it. What is another table's stays that table's, and is listed.
 * @returns undefined where there was nothing to take
 * @throws Fault of the store
 */
export async function feedTerritory(
  store: Store,
  tenant: TenantId,
  fed: FedTable,
  source: ConflictSource,
  found?: TerritoryFound,
): Promise<Claimed | undefined> {
  const lacking = lackingOf(fed, found)
  if (lacking === undefined) return undefined
  return await claimTerritory(store, tenant, { owner: fed.owner, source, strict: false, ...lacking })
}
