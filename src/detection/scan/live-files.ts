/**
 * Says of which snapshots a table still has data files, so that evidence can be taken back once the values that it rests on
 * are gone. Branches and tags count, because they can be read by name. Deleted rows whose files are still there count too.
 */

import type { JsonObject } from '../../base/json.ts'
import type { LiveFiles } from '../../core/detection.ts'
import { limits } from '../../limits.ts'
import {
  entrySnapshot,
  fileSequenceNumberOf,
  type ManifestEntry,
  visitEntries,
} from '../../storage/iceberg/entries.ts'
import { inlineManifest, listedManifests, type NamedManifest } from '../../storage/iceberg/manifest-list.ts'
import type { Storage } from '../../storage/storage.ts'
import { currentSnapshotId, metadataReader, refsOf, snapshotsOf } from '../../wire/iceberg/table-metadata.ts'

/** Bytes of manifests that are read to find out. Of a larger table nothing is taken back. */
const liveManifestBytesMax = 64 * 1024 * 1024
const liveSnapshotsMax = 20_000

/**
 * Whether a snapshot may have removed files: by what it says of itself, and because what says that it only appends names
 * every manifest of its parent. Manifests that were merged are not looked into.
 */
async function mayRemoveFiles(
  storage: Storage,
  metadata: JsonObject,
  snapshot: JsonObject,
): Promise<boolean> {
  const summary = metadataReader.optionalObject(snapshot, 'summary')
  if (summary === undefined || summary.get('operation') !== 'append' || summary.has('deleted-data-files'))
    return true
  const all = snapshotsOf(metadata)
  const parentId = metadataReader.optionalInteger(snapshot, 'parent-snapshot-id')
  if (parentId === undefined) return all.length > 1
  const parent = all.find((one) => metadataReader.integer(one, 'snapshot-id') === parentId)
  if (parent === undefined) return true
  try {
    const named = new Set((await dataManifests(storage, snapshot)).map(({ location }) => location))
    return (await dataManifests(storage, parent)).some(({ location }) => !named.has(location))
  } catch {
    return true
  }
}

/** Whether one of the snapshots that a metadata file added may have removed files; it may itself where it added none. */
export async function mayRemoveAny(
  storage: Storage,
  { metadata, snapshots }: { readonly metadata: JsonObject; readonly snapshots: readonly JsonObject[] },
): Promise<boolean> {
  for (const snapshot of snapshots) if (await mayRemoveFiles(storage, metadata, snapshot)) return true
  return snapshots.length === 0
}

/** Undefined where it cannot be found out: then nothing is known to be gone. */
export async function liveFiles(storage: Storage, metadata: JsonObject): Promise<LiveFiles | undefined> {
  try {
    const all = snapshotsOf(metadata)
    const byId = new Map(all.map((one) => [metadataReader.integer(one, 'snapshot-id'), one]))
    const currentId = currentSnapshotId(metadata)
    const heads = new Set([...headIds(metadata), ...(currentId === undefined ? [] : [currentId])])
    const live = new Set<string>()
    const manifests = new Map<string, NamedManifest>()
    for (const id of heads) {
      const snapshot = byId.get(id)
      if (snapshot === undefined) return undefined
      for (const manifest of await dataManifests(storage, snapshot))
        manifests.set(manifest.location, manifest)
    }
    let bytes = 0
    for (const { sizeBytes } of manifests.values()) bytes += sizeBytes ?? liveManifestBytesMax
    if (manifests.size > 0 && bytes > liveManifestBytesMax) return undefined
    const agrees = numbering(all)
    let isUnknown = false
    await visitEntries(
      manifests.values(),
      (entry) => {
        if (entry.status === 'deleted') return
        const own = entrySnapshot(entry)
        const added = own ?? entry.manifest.addedSnapshotId
        // Only what a snapshot adds itself inherits its id.
        const isOwn = own === undefined || own === entry.manifest.addedSnapshotId
        if (added === undefined || (entry.status === 'existing' && (isOwn || !agrees(added, entry))))
          isUnknown = true
        else live.add(String(added))
      },
      { storage },
    )
    if (isUnknown || live.size > liveSnapshotsMax) return undefined
    const asOfMs = Number(metadataReader.integer(metadata, 'last-updated-ms'))
    const ordered = inOrder(all)
    const others = ordered.filter(({ id }) => !heads.has(id))
    const newest = ordered.at(-1)
    return {
      ...{ asOfMs, snapshotIds: [...live].sort() },
      // What is listed and newer than what is current was taken out of it, as by a rollback.
      goneMs: newest === undefined ? asOfMs : newest.id === currentId ? newest.ms : newest.ms + 1,
      oldestMs: Math.min(...others.map(({ ms }) => ms), Number.MAX_SAFE_INTEGER),
    }
  } catch {
    return undefined
  }
}

/**
 * Whether a copied entry names a snapshot that has the sequence number of its file. An entry without a number agrees, and so
 * does one of which neither the snapshot nor the number is listed.
 */
function numbering(snapshots: readonly JsonObject[]): (snapshot: bigint, entry: ManifestEntry) => boolean {
  const numbered = snapshots.flatMap((one) => {
    const number = metadataReader.optionalInteger(one, 'sequence-number') ?? 0n
    return number > 0n ? [[metadataReader.integer(one, 'snapshot-id'), number] as const] : []
  })
  const numbers = new Map(numbered)
  const ids = new Map(numbered.map(([id, number]) => [number, id]))
  return (snapshot, entry) => {
    const number = fileSequenceNumberOf(entry)
    if (number === undefined || number === 0n) return true
    return (numbers.get(snapshot) ?? number) === number && (ids.get(number) ?? snapshot) === snapshot
  }
}

/** Snapshots in the order of their commits, each older than the next: the clocks of writers differ. */
function inOrder(snapshots: readonly JsonObject[]): readonly { readonly id: bigint; readonly ms: number }[] {
  const sequence = (one: JsonObject) => metadataReader.optionalInteger(one, 'sequence-number') ?? 0n
  const newestFirst = snapshots.toSorted((a, b) => Number(sequence(a) - sequence(b))).toReversed()
  let last = Number.POSITIVE_INFINITY
  const timed = newestFirst.map((one) => {
    last = Math.min(Number(metadataReader.integer(one, 'timestamp-ms')), last - 1)
    return { id: metadataReader.integer(one, 'snapshot-id'), ms: last }
  })
  return timed.toReversed()
}

function headIds(metadata: JsonObject): readonly bigint[] {
  const refs = refsOf(metadata)
  return [...refs.keys()].flatMap((name) => {
    const ref = metadataReader.optionalObject(refs, name)
    return ref === undefined ? [] : [metadataReader.integer(ref, 'snapshot-id')]
  })
}

async function dataManifests(storage: Storage, snapshot: JsonObject): Promise<readonly NamedManifest[]> {
  const list = metadataReader.optionalString(snapshot, 'manifest-list')
  if (list === undefined)
    return snapshot.has('manifests') ? metadataReader.strings(snapshot, 'manifests').map(inlineManifest) : []
  return [...listedManifests(await storage.readAll(list, limits.tableMetadataBytesMax))].filter(
    ({ content }) => content === 'data',
  )
}
