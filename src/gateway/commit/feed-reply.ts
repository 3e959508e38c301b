/**
 * Feeds the territory index with a table that the upstream has just made, or would make: its location may be the
 * upstream's choice, and what a registered metadata file names is known from the reply only.
 */

import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts'
import { catalogOf } from '../../core/catalog.ts'
import type { Verdict } from '../../core/decision.ts'
import { type TableRef, tableName } from '../../core/table-ref.ts'
import { limits } from '../../limits.ts'
import { lackingOf } from '../../storage/feed-territory.ts'
import { isOutOfBounds, storageRoots } from '../../storage/roots.ts'
import { loadWriteGovernance } from '../../store/policy/policies.ts'
import { claimTerritory, type FoundConflict } from '../../store/territory/territory-rows.ts'
import { filesOf, foldersOf } from '../../wire/iceberg/named-locations.ts'
import { tableUuidOf } from '../../wire/iceberg/table-metadata.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { Upstream } from '../base/upstream.ts'
import type { ActionChange } from '../stages/judge-action.ts'
import { askedPrefixes, strayLocations, territoryDenial } from '../stages/territory.ts'

/** A table of which some folder or file is not in its territory. */
interface Stray {
  /** The first of them; undefined where the reply or the index could not be read. */
  readonly conflict: FoundConflict | undefined
  /**
   * Whether the tenant enforces its territory, or a folder is outside of the storage roots. So it is taken to be where
   * that is unknown.
   */
  readonly isEnforced: boolean
}

/** Takes the table's folders, and lists what is not in its territory. Never throws. @returns undefined if all is */
export async function feedReply(
  parts: GatewayParts,
  { credential }: Upstream,
  { tenant, table, commitId, staged }: Pick<ActionChange, 'tenant' | 'table' | 'commitId' | 'staged'>,
  body: Uint8Array,
): Promise<Stray | undefined> {
  try {
    const metadata = metadataOf(body)
    const tableUuid = staged ? undefined : tableUuidOf(metadata)
    const roots = storageRoots(credential.config)
    const owner = { catalog: catalogOf(credential), credentialId: credential.id, roots, table, tableUuid }
    const files = filesOf(metadata)
    const folders = foldersOf(metadata)
    const { territory } = await loadWriteGovernance(parts.store, tenant, table, askedPrefixes(files))
    const lacking = lackingOf({ owner, folders }, territory)
    const claimed =
      lacking &&
      (await claimTerritory(parts.store, tenant, { owner, source: 'commit', strict: false, ...lacking }))
    const found = claimed?.found ?? territory
    const asked = { ...found, rows: [...found.rows, ...territory.rows] }
    const strays = strayLocations([...folders, ...files], asked, owner)
    const listed = strays.filter(({ prefix }) => !claimed?.overlaps.some((one) => one.prefix === prefix))
    if (listed.length > 0)
      await claimTerritory(parts.store, tenant, {
        owner,
        source: 'commit',
        strict: false,
        prefixes: [],
        conflicts: listed,
      })
    const [overlap] = claimed?.overlaps ?? []
    const conflict: FoundConflict | undefined = overlap
      ? { prefix: overlap.prefix, reason: 'overlap', owner: overlap.row.table }
      : strays[0]
    const isBeyond = folders.some(({ text }) => isOutOfBounds(text, roots))
    return conflict && { conflict, isEnforced: found.mode === 'enforce' || isBeyond }
  } catch (err) {
    parts.log.error(
      { err, table, commitId },
      'the territory of a new table could not be noted; its next commit does',
    )
    return { conflict: undefined, isEnforced: true }
  }
}

/** The metadata of a reply. That to a staged creation names no metadata file. */
function metadataOf(body: Uint8Array): JsonObject {
  const reply = parseJson(body, { depthMax: limits.jsonDepthMax })
  const metadata = isJsonObject(reply) ? reply.get('metadata') : undefined
  if (!isJsonObject(metadata)) throw new Error('the reply holds no table metadata')
  return metadata
}

/** The verdict on a staged creation whose reply names such a location. */
export function refusedLocation(table: TableRef, stray: Stray | undefined): Verdict | undefined {
  if (stray === undefined || !stray.isEnforced) return undefined
  const { conflict } = stray
  if (conflict === undefined)
    return {
      kind: 'unavailable',
      error: 'ErrPolicyLoad',
      detail: 'the territory of the table to create could not be looked up',
      outcomes: [],
    }
  const { prefix, owner } = conflict
  return territoryDenial(
    `the location ${prefix}, which the catalog chose, is not free for ${tableName(table)}`,
    owner === undefined
      ? `${prefix} cannot be its territory`
      : `${prefix} overlaps that of ${tableName(owner)}`,
  )
}
