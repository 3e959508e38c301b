/** Feeds the territory index with the tables that clients load, once for each state of a table. */

import { type JsonObject, jsonObject, parseJson } from '../../base/json.ts'
import { Lru } from '../../base/lru.ts'
import { catalogOf } from '../../core/catalog.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import { feedTerritory } from '../../storage/feed-territory.ts'
import { topLevelMembers } from '../../wire/iceberg/members.ts'
import { foldersOf } from '../../wire/iceberg/named-locations.ts'
import { tableUuidOf } from '../../wire/iceberg/table-metadata.ts'
import type { SurfaceRequest } from './surface-request.ts'

/** Tables whose last loaded state is in the index, with the location of its metadata file. */
const fed = new Lru<string, string>(10_000)

/**
 * Takes the table's folders, as far as they are nobody else's.
 * @param body the upstream's reply to loadTable
 * @throws Fault of the store: what is not in the index would be nobody's
 */
export async function feedLoaded(
  { parts, tenant, upstream: { credential } }: SurfaceRequest,
  table: TableRef,
  body: Uint8Array,
): Promise<void> {
  const key = JSON.stringify([tenant, credential.id, credential.version, tableKey(table)])
  const members = topLevelMembers(body)
  const location = Buffer.from(members.get('metadata-location') ?? '').toString()
  if (fed.get(key) === location) return
  const metadata = partOf(members.get('metadata'))
  const owner = {
    catalog: catalogOf(credential),
    credentialId: credential.id,
    table,
    tableUuid: tableUuidOf(metadata),
  }
  await feedTerritory(parts.store, tenant, { owner, folders: foldersOf(metadata) }, 'load')
  fed.set(key, location, 1)
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
