/**
 * Lists the locations that a commit, a creation or table metadata names: folders that a table writes to, and files that
 * it refers to. Texts as written; what they mean is decided by storage/canonical-path.ts.
 */

import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { TerritoryKind } from '../../core/territory-owner.ts'
import { isSupportedUpdate } from './apply-updates.ts'

export interface NamedLocation {
  /**
   * `file`: one that the table refers to. `metadata-file`: one that becomes the table's, with its folder. Otherwise a
   * folder, by what makes it the table's.
   */
  readonly use: 'file' | 'metadata-file' | Extract<TerritoryKind, 'location' | 'data-path' | 'metadata-path'>
  readonly text: string
}

/** The locations that updates name, in their order. */
export function locationsNamed(updates: readonly JsonObject[]): readonly NamedLocation[] {
  return updates.flatMap((update): readonly NamedLocation[] => {
    switch (update.get('action')) {
      case 'set-location':
        return texts('location', update.get('location'))
      case 'set-properties':
        return pathsOf(update.get('updates'))
      case 'add-snapshot':
        return snapshotFiles(update.get('snapshot'))
      case 'set-statistics':
        return memberOf(update.get('statistics'), 'statistics-path')
      case 'set-partition-statistics':
        return memberOf(update.get('partition-statistics'), 'statistics-path')
      default:
        return isSupportedUpdate(update) ? [] : anywhereIn(update)
    }
  })
}

/** The locations that a create request names. */
export function locationsOfCreation(request: JsonObject): readonly NamedLocation[] {
  return [...texts('location', request.get('location')), ...pathsOf(request.get('properties'))]
}

/** The folders that a table writes to, by its metadata. */
export function foldersOf(metadata: JsonObject): readonly NamedLocation[] {
  return [...texts('location', metadata.get('location')), ...pathsOf(metadata.get('properties'))]
}

/** The manifest lists, manifests and statistics that metadata names, of all snapshots. */
export function filesOf(metadata: JsonObject): readonly NamedLocation[] {
  return [
    ...listOf(metadata.get('snapshots')).flatMap(snapshotFiles),
    ...['statistics', 'partition-statistics'].flatMap((key) =>
      listOf(metadata.get(key)).flatMap((one) => memberOf(one, 'statistics-path')),
    ),
  ]
}

const metadataPath = 'write.metadata.path'
/** Where clients write: `write.data.path`, `write.object-storage.path`, `write.folder-storage.path`, and what follows. */
const writePath = /^write\..*(?:path|location)$/i

function pathsOf(properties: JsonValue | undefined): readonly NamedLocation[] {
  if (!isJsonObject(properties)) return []
  return [...properties].flatMap(([key, value]) =>
    writePath.test(key) ? texts(key === metadataPath ? 'metadata-path' : 'data-path', value) : [],
  )
}

function snapshotFiles(snapshot: JsonValue | undefined): readonly NamedLocation[] {
  if (!isJsonObject(snapshot)) return []
  const manifests = snapshot.get('manifests')
  return [
    ...texts('file', snapshot.get('manifest-list')),
    // Format version 1 may name manifests instead of a list.
    ...(Array.isArray(manifests) ? manifests : []).flatMap((path: JsonValue) => texts('file', path)),
  ]
}

function memberOf(value: JsonValue | undefined, key: string): readonly NamedLocation[] {
  return isJsonObject(value) ? texts('file', value.get(key)) : []
}

/** Updates of unknown actions may name files anywhere. */
function anywhereIn(value: JsonValue): readonly NamedLocation[] {
  if (typeof value === 'string')
    return /^(?:[a-z][a-z0-9+.-]*:)?\/|^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? texts('file', value) : []
  if (Array.isArray(value)) return value.flatMap((one: JsonValue) => anywhereIn(one))
  return isJsonObject(value) ? [...value.values()].flatMap(anywhereIn) : []
}

function texts(use: NamedLocation['use'], value: JsonValue | undefined): readonly NamedLocation[] {
  return typeof value === 'string' ? [{ use, text: value }] : []
}

function listOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((one) => isJsonObject(one)) : []
}
