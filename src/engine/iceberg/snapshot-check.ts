/**
 * Checks that a snapshot names files of its table's territory only, for an engine that opens them by itself. Reads the
 * manifest list and the manifests, and no other file. A manifest never changes, so each is read once for a territory.
 */

import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import { Lru } from '../../base/lru.ts'
import { tableKey } from '../../core/table-ref.ts'
import { limits } from '../../limits.ts'
import { type ManifestEntry, visitEntries } from '../../storage/iceberg/entries.ts'
import { inlineManifest, manifestsIn, type NamedManifest } from '../../storage/iceberg/manifest-list.ts'
import { ReadFailure } from '../../storage/read-failure.ts'
import { openStorage, type Storage, type StorageAccess } from '../../storage/storage.ts'
import { type TerritoryGuard, territoryGuard } from '../../storage/territory-guard.ts'
import { snapshotsOf } from '../../wire/iceberg/table-metadata.ts'
import type { TableSnapshot, TableTerritory } from '../engine.ts'
import { EngineError, unreadable } from '../engine-error.ts'

/** Whose storage is read; two scopes share no verdict. */
interface CheckScope {
  readonly key: string
  readonly access: StorageAccess
}

const cachedBytesMax = 16 * 1024 * 1024

/** Caches the manifests and manifest lists that were admitted. A refusal is found again. */
export class SnapshotChecks {
  readonly #admitted = new Lru<string, true>(cachedBytesMax)

  /**
   * @param metadata as the catalog sends it now, which is what the engine will read
   * @throws EngineError 42501 for a file outside where the territory is enforced, 58030, 08006 or 0A000 where that
   *   cannot be found out; the signal's reason
   */
  async check(
    openScope: () => Promise<CheckScope>,
    snapshot: TableSnapshot,
    metadata: JsonObject,
    signal: AbortSignal,
  ): Promise<void> {
    if (snapshot.territory === undefined) return
    const { territory, report } = snapshot.territory
    const guard = territoryGuard(territory)
    try {
      await this.#check(openScope, { snapshot, given: snapshot.territory, metadata, guard, signal })
    } catch (thrown) {
      signal.throwIfAborted()
      if (territory.mode !== 'observe') throw thrown instanceof EngineError ? thrown : unreadable(thrown)
      report([{ kind: 'manifest list', location: snapshot.metadataLocation, whereabouts: 'unclear' }])
    }
    if (guard.outside.length > 0) report(guard.outside)
  }

  async #check(openScope: () => Promise<CheckScope>, asked: Asked): Promise<void> {
    const { snapshot, metadata, guard } = asked
    guard.admit('metadata file', snapshot.metadataLocation)
    for (const path of statisticsPaths(metadata)) guard.admit('statistics file', path)
    const { snapshotId } = snapshot
    if (snapshotId === undefined) return
    const found = snapshotsOf(metadata).find((one) => one.get('snapshot-id') === snapshotId)
    if (found === undefined) throw new ReadFailure('the snapshot is not in the metadata file')
    if (found.has('key-id')) throw new ReadFailure('it is encrypted, and its key is not known')
    const list = found.get('manifest-list')
    if (list !== undefined && typeof list !== 'string')
      throw new ReadFailure('a snapshot names no manifest list')
    if (list !== undefined) guard.admit('manifest list', list)
    const scope = await openScope()
    const keyOf = (path: string, size: number | undefined) =>
      JSON.stringify([scope.key, tableKey(snapshot.table.ref), asked.given.territory, path, size])
    const listKey = keyOf(list ?? JSON.stringify(found.get('manifests') ?? null), undefined)
    if (this.#admitted.get(listKey)) return
    const storage = openStorage(scope.access)
    try {
      const refs = list === undefined ? inlineManifests(found) : await listedManifests(storage, list)
      for (const ref of refs) {
        asked.signal.throwIfAborted()
        guard.admit('manifest', ref.location)
        const key = keyOf(ref.location, ref.sizeBytes)
        if (this.#admitted.get(key)) continue
        const judge = ({ content, location }: ManifestEntry) =>
          guard.admit(content === 'data' ? 'data file' : 'delete file', location)
        await visitEntries([ref], judge, { storage, signal: asked.signal })
        if (ref.sizeBytes !== undefined) this.#admitted.set(key, true, key.length)
      }
      this.#admitted.set(listKey, true, listKey.length)
    } finally {
      await storage.close()
    }
  }
}

interface Asked {
  readonly snapshot: TableSnapshot
  readonly given: TableTerritory
  readonly metadata: JsonObject
  readonly guard: TerritoryGuard
  readonly signal: AbortSignal
}

async function listedManifests(storage: Storage, list: string): Promise<readonly NamedManifest[]> {
  return manifestsIn(await storage.readAll(list, limits.tableMetadataBytesMax), limits.engineManifestsMax)
}

/** Version 1 may list its manifests in the metadata file. */
function inlineManifests(snapshot: JsonObject): readonly NamedManifest[] {
  const paths = snapshot.get('manifests')
  if (!Array.isArray(paths)) throw new ReadFailure('a snapshot names no manifest list')
  return (paths as readonly JsonValue[]).map((location) => {
    if (typeof location !== 'string') throw new ReadFailure('a snapshot names no manifest')
    return inlineManifest(location)
  })
}

function statisticsPaths(metadata: JsonObject): readonly string[] {
  return ['statistics', 'partition-statistics'].flatMap((member) => {
    const files = metadata.get(member)
    if (files === undefined) return []
    if (!Array.isArray(files)) throw new ReadFailure('the metadata holds malformed statistics')
    return (files as readonly JsonValue[]).map((file) => {
      const path = isJsonObject(file) ? file.get('statistics-path') : undefined
      if (typeof path !== 'string') throw new ReadFailure('the metadata holds malformed statistics')
      return path
    })
  })
}
