/**
 * Feeds the territory index with the tables that clients load, once for each state of a table, and says whether the
 * table's folders are its own now.
 */

import { type JsonObject, jsonObject, parseJson } from '../../base/json.ts'
import { type CatalogCredential, catalogOf } from '../../core/catalog.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { folderPrefixesOf, type TerritoryFound, type TerritoryOwner } from '../../core/territory-owner.ts'
import { type FedTable, feedTerritory } from '../../storage/feed-territory.ts'
import { isCovered, placeLocation } from '../../storage/place-locations.ts'
import { storageRoots, withinRoots } from '../../storage/roots.ts'
import { loadWriteGovernance } from '../../store/policy/policies.ts'
import { topLevelMembers } from '../../wire/iceberg/members.ts'
import { foldersOf } from '../../wire/iceberg/named-locations.ts'
import { isRestricted } from '../../wire/iceberg/read-restrictions.ts'
import { tableUuidOf } from '../../wire/iceberg/table-metadata.ts'
import type { FedState, VendedFolders } from '../base/fed-tables.ts'
import { assertOneName } from '../stages/one-name.ts'
import type { SurfaceRequest } from './surface-request.ts'

/** A loaded table, as far as its files are judged. */
export interface PlacedTable {
  readonly owner: FedTable['owner']
  /**
   * What the index says of the table, with all its folders that are its own.
   * @param asked what it said since the request came; used where that holds them already
   * @throws Fault of the store
   */
  readonly territory: (asked: Promise<TerritoryFound>) => Promise<TerritoryFound>
  /** The version of the territory after this load took folders; undefined where it took none. */
  readonly takenVersion: string | undefined
  /** Whether some folder of the table is below no storage root: then none of its files is given out, in either mode. */
  readonly isOutsideRoots: boolean
  /**
   * Whether the tenant enforces its territory and some folder of the table is outside of the table's now: a grant, a
   * release or another mode may have come since the state was taken.
   * @throws Fault of the store
   */
  readonly isOutside: () => Promise<boolean>
}

/**
 * Takes the table's folders, as far as they are nobody else's.
 * @param body the upstream's reply to loadTable
 * @throws Fault of the store: what is not in the index would be nobody's; `conflict` where the table is known under
 *   another name
 */
export async function feedLoaded(
  surface: SurfaceRequest,
  table: TableRef,
  body: Uint8Array,
): Promise<PlacedTable> {
  const { parts, tenant, upstream, identified, mayCommit, request } = surface
  const { credential } = upstream
  const { store, fedTables } = parts
  const ask = async () => (await loadWriteGovernance(store, tenant, table)).territory
  const key = keyOf(tenant, credential, table)
  const known = fedTables.get(key)
  const take = async (fed: FedTable, location: string) => {
    const claimed = await feedTerritory(store, tenant, fed, 'load')
    const asker = { tenant, identified, mayCommit, signal: request.signal }
    if (claimed?.knownAs !== undefined)
      await assertOneName(parts, upstream, asker, {
        kind: 'table',
        fed,
        first: claimed.knownAs,
        source: 'load',
      })
    const isStray = claimed !== undefined && isStrayIn(fed, claimed.found)
    const vended = known?.owner.tableUuid === fed.owner.tableUuid ? known?.vended : undefined
    fedTables.set(key, { ...fed, location, isStray, isRestricted: restricted, vended }, 1)
    return { found: claimed?.found, isOutside: isStray && claimed.found.mode === 'enforce' }
  }
  const members = topLevelMembers(body)
  const restricted = isRestricted(members)
  const location = Buffer.from(members.get('metadata-location') ?? '').toString()
  if (known?.location === location) {
    if (known.isRestricted !== restricted) fedTables.set(key, { ...known, isRestricted: restricted }, 1)
    const isOutside = async () => {
      const territory = await ask()
      if (!isStrayIn(known, territory)) return false
      // What the table had was released. Of that it may take again what is nobody's, as where it is seen first.
      return known.isStray ? territory.mode === 'enforce' : (await take(known, location)).isOutside
    }
    const territory: PlacedTable['territory'] = async (asked) => {
      const found = await asked
      // Another request may have taken its folders meanwhile.
      return isStrayIn(known, found) ? await ask() : found
    }
    return { owner: known.owner, territory, takenVersion: undefined, isOutside, ...boundsOf(known) }
  }
  const metadata = partOf(members.get('metadata'))
  const owner = {
    catalog: catalogOf(credential),
    credentialId: credential.id,
    roots: storageRoots(credential.config),
    table,
    tableUuid: tableUuidOf(metadata),
  }
  const fed = { owner, folders: foldersOf(metadata) }
  const { found, isOutside } = await take(fed, location)
  return {
    owner,
    ...boundsOf(fed),
    territory: async () => found ?? (await ask()),
    takenVersion: found?.version,
    isOutside: async () => isOutside,
  }
}

/** What the last load of a table showed; undefined where this process knows of none. */
export function lastFed(
  { parts, tenant, upstream: { credential } }: SurfaceRequest,
  table: TableRef,
): FedState | undefined {
  return parts.fedTables.get(keyOf(tenant, credential, table))
}

/** Keeps for which folders credentials of a table were issued. */
export function rememberVended(surface: SurfaceRequest, owner: TerritoryOwner, vended: VendedFolders): void {
  const { parts, tenant, upstream } = surface
  const known = lastFed(surface, owner.table)
  if (known !== undefined && known.owner.tableUuid === owner.tableUuid)
    parts.fedTables.set(keyOf(tenant, upstream.credential, owner.table), { ...known, vended }, 1)
}

function keyOf(tenant: TenantId, { id, version }: CatalogCredential, table: TableRef): string {
  return JSON.stringify([tenant, id, version, tableKey(table)])
}

function boundsOf({ owner, folders }: FedTable): Pick<PlacedTable, 'isOutsideRoots'> {
  return { isOutsideRoots: !folders.every(({ text }) => withinRoots(text, owner.roots)) }
}

/** Whether some folder of a table is outside of its territory, or has no canonical form. */
function isStrayIn({ owner, folders }: FedTable, found: TerritoryFound): boolean {
  const prefixes = folderPrefixesOf(found, owner)
  return folders.map(placeLocation).some(({ path }) => path === undefined || !isCovered(prefixes, path))
}

/** The members of table metadata that name folders. The rest, which may be megabytes, is not parsed. */
function partOf(metadata: Uint8Array | undefined): JsonObject {
  if (metadata === undefined) return new Map()
  const members = topLevelMembers(metadata)
  const names = ['table-uuid', 'location', 'properties'] as const
  return jsonObject(
    Object.fromEntries(
      names.flatMap((name) => {
        const value = members.get(name)
        return value === undefined ? [] : [[name, parseJson(value)] as const]
      }),
    ),
  )
}
