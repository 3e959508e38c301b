/**
 * Checks the manifests that new snapshots bring (docs/reference/territory.md 5): a manifest that a trusted parent lists
 * was checked with that parent. Which snapshots are new and trusted, and what follows, is the caller's to say.
 */

import type { JsonObject, JsonValue } from '../../base/json.ts'
import { metadataReader } from '../../wire/iceberg/table-metadata.ts'
import { ReadFailure } from '../read-failure.ts'
import type { NamedManifests, SnapshotGuard, SnapshotReader } from './snapshot-difference.ts'

/** The id of a snapshot. @throws Fault for malformed metadata */
export const snapshotIdOf = (snapshot: JsonObject): bigint => metadataReader.integer(snapshot, 'snapshot-id')

/**
 * Has the guard judge what one snapshot brings.
 * @param trusted the snapshots that were checked or need no check, by id
 * @throws as {@link SnapshotReader.admit}; Fault for malformed metadata
 */
export async function admitSnapshot(
  reader: SnapshotReader,
  snapshot: JsonObject,
  trusted: ReadonlyMap<bigint, JsonObject>,
  guard: SnapshotGuard,
): Promise<void> {
  const parent = metadataReader.optionalInteger(snapshot, 'parent-snapshot-id')
  const before = parent === undefined ? undefined : trusted.get(parent)
  await reader.admit(before && manifestsNamed(before), manifestsNamed(snapshot), guard)
}

/** @throws ReadFailure for a snapshot that is encrypted, or names neither a manifest list nor manifests */
function manifestsNamed(snapshot: JsonObject): NamedManifests {
  if (snapshot.has('key-id'))
    throw new ReadFailure('the manifest list is encrypted, and its key is not known')
  const list = snapshot.get('manifest-list')
  if (typeof list === 'string') return { list, manifests: [] }
  const manifests = snapshot.get('manifests')
  if (list !== undefined || !Array.isArray(manifests))
    throw new ReadFailure('a snapshot names no manifest list')
  return {
    list: undefined,
    manifests: (manifests as readonly JsonValue[]).map((location) => {
      if (typeof location !== 'string') throw new ReadFailure('a snapshot names no manifest')
      return location
    }),
  }
}
