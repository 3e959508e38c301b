/**
 * Compares two snapshots of a table by the files that they hold. Manifests that both list are not read; every other
 * manifest is, because what a manifest list counts is only what its writer claims.
 */

import { BoundFailure, ReadFailure } from '../read-failure.ts'
import type { Storage } from '../storage.ts'
import type { TerritoryGuard } from '../territory-guard.ts'
import { nullCountsOf } from './column-stats.ts'
import {
  entryKey,
  hasNoPartition,
  isLive,
  type ManifestEntry,
  partitionKeyOf,
  visitEntries,
} from './entries.ts'
import { assertBounds, type BoundRules } from './manifest-bounds.ts'
import { inlineManifest, type ManifestRef, manifestsIn, type NamedManifest } from './manifest-list.ts'

export interface SnapshotDifference {
  readonly addedFiles: number
  /** Rows of the added data files, as their manifests count them. */
  readonly addedRows: number
  /** Bytes of the added data files, as their manifests say. */
  readonly addedBytes: number
  /** Files and vectors that delete rows of others. */
  readonly addedDeleteFiles: number
  /** Files of either kind that are held no longer. */
  readonly deletedFiles: number
  /** Added files, and manifests that only the later snapshot lists, with the list itself, that lie outside. */
  readonly outsideFiles: number
  /**
   * Partitions of files of either kind that were added, are held no longer, or are held in another partition, each once.
   * Undefined where a file deletes by value in all partitions, of which nobody says how many there are.
   */
  readonly touchedPartitions: ReadonlySet<string> | undefined
  /**
   * Nulls in the added data files by field id, of columns for which the manifests count them in every such file. Empty where
   * they were not asked for.
   */
  readonly addedNulls: ReadonlyMap<number, number>
  /** Whether some of the deleted files are not recorded as deleted by any manifest of the later snapshot. */
  readonly losesFiles: boolean
}

/** Bounds of one use, over all files that it reads. */
export interface ReadBounds {
  readonly bytesMax: number
  readonly filesMax: number
  readonly entriesMax: number
  readonly readsMax: number
}

/** What a snapshot's metadata names: its manifest list or, in version 1, perhaps its manifests themselves. */
export interface NamedManifests {
  readonly list: string | undefined
  readonly manifests: readonly string[]
}

/** Judges what a snapshot brings: where its files lie, and what manifests keep of their values. */
export interface SnapshotGuard extends Pick<TerritoryGuard, 'admit'> {
  readonly boundRules?: BoundRules
}

export interface SnapshotReader {
  /**
   * Has the guard judge what the later snapshot brings: its manifest list, its manifests that the earlier does not
   * list, and the files that these hold. What the earlier snapshot lists was judged when it came.
   * @throws what the guard throws; KeptBound; ReadFailure where something cannot be read; BoundFailure
   */
  admit(before: NamedManifests | undefined, after: NamedManifests, guard: SnapshotGuard): Promise<void>
  /**
   * Compares two snapshots by the locations of their manifest lists; undefined for a snapshot without files.
   * @throws ReadFailure where something cannot be read, or a bound is reached
   */
  compare(
    before: string | undefined,
    after: string | undefined,
    asked?: { readonly nullCounts: boolean },
  ): Promise<SnapshotDifference>
}

/**
 * Reads through `storage`, each manifest list once.
 * @param isInside whether a location lies where the table's files may lie
 */
export function snapshotReader(
  storage: Storage,
  bounds: ReadBounds,
  signal: AbortSignal,
  isInside: (location: string) => boolean,
): SnapshotReader {
  const left = { bytes: bounds.bytesMax, files: bounds.filesMax, entries: bounds.entriesMax }
  const lists = new Map<string, Promise<ReadonlyMap<string, ManifestRef>>>()

  const tooMany = () => new BoundFailure(`more than ${bounds.filesMax} manifests would have to be read`)

  async function readBounded(location: string): Promise<Uint8Array> {
    signal.throwIfAborted()
    if (left.files-- <= 0) throw tooMany()
    const file = await storage.open(location)
    left.bytes -= file.size
    if (left.bytes < 0) throw new BoundFailure(`more than ${bounds.bytesMax} bytes would have to be read`)
    return await file.read(0, file.size)
  }

  async function readList(location: string): Promise<ReadonlyMap<string, ManifestRef>> {
    const refs = manifestsIn(await readBounded(location), bounds.entriesMax)
    const byLocation = new Map(refs.map((ref) => [ref.location, ref]))
    if (byLocation.size !== refs.length) throw new ReadFailure('a manifest list names one manifest twice')
    return byLocation
  }

  function listAt(location: string | undefined): Promise<ReadonlyMap<string, ManifestRef>> {
    if (location === undefined) return Promise.resolve(new Map())
    const list = lists.get(location) ?? readList(location)
    lists.set(location, list)
    return list
  }

  /** Calls `visit` with every entry of the manifests, one manifest after the other. */
  async function eachEntry(refs: readonly NamedManifest[], visit: Visit): Promise<void> {
    // Before any is read, because reading up to the bound takes as long as a verdict may.
    if (refs.length > left.files) throw tooMany()
    const counted = (entry: ManifestEntry) => {
      if (left.entries-- <= 0) throw new BoundFailure(`manifests hold more than ${bounds.entriesMax} entries`)
      visit(entry)
    }
    await visitEntries(refs, counted, { storage, signal, readsMax: bounds.readsMax, bytesOf: readBounded })
  }

  /** The manifests of a snapshot by their locations. */
  async function manifestsOf({
    list,
    manifests,
  }: NamedManifests): Promise<ReadonlyMap<string, NamedManifest>> {
    if (list !== undefined) return await listAt(list)
    return new Map(manifests.map((location) => [location, inlineManifest(location)]))
  }

  return {
    async admit(before, after, guard) {
      if (after.list !== undefined) guard.admit('manifest list', after.list)
      const newer = await manifestsOf(after)
      const older = before === undefined ? undefined : await manifestsOf(before)
      const added = [...newer.values()].filter(({ location }) => older?.has(location) !== true)
      for (const { location } of added) guard.admit('manifest', location)
      const { boundRules } = guard
      await eachEntry(added, (entry) => {
        const { status, content, location } = entry
        if (status === 'added' && boundRules?.size) assertBounds(entry, boundRules)
        if (isLive(entry)) guard.admit(content === 'data' ? 'data file' : 'delete file', location)
      })
    },

    async compare(before, after, asked) {
      const [older, newer] = await Promise.all([listAt(before), listAt(after)])
      assertAlike(older, newer)
      const gone = new Map<string, Placed>()
      await eachEntry(onlyIn(older, newer), (entry) => {
        if (isLive(entry)) gone.set(entryKey(entry), placeOf(entry))
      })
      const touched = new TouchedPartitions([...older.values(), ...newer.values()])
      const nulls = new NullCounts()
      const recorded = new Set<string>()
      const counts = { addedFiles: 0, addedRows: 0, addedBytes: 0, addedDeleteFiles: 0, outsideFiles: 0 }
      const place = (location: string) => {
        if (!isInside(location)) counts.outsideFiles++
      }
      const added = onlyIn(newer, older)
      if (after !== undefined && after !== before) place(after)
      for (const { location } of added) place(location)
      await eachEntry(added, (entry) => {
        const { content, location, recordCount, fileBytes } = entry
        const key = entryKey(entry)
        if (!isLive(entry)) {
          recorded.add(key)
          return
        }
        // A file that is listed a second time is read a second time.
        const held = gone.get(key)
        if (gone.delete(key)) {
          if (held !== undefined) touched.move(placeOf(entry), held)
          return
        }
        place(location)
        touched.add(placeOf(entry))
        if (content !== 'data') counts.addedDeleteFiles++
        else {
          counts.addedFiles++
          counts.addedRows += recordCount
          if (fileBytes === undefined) throw new ReadFailure('a manifest does not say how large a file is')
          counts.addedBytes += fileBytes
          if (asked?.nullCounts) nulls.add(nullCountsOf(entry), recordCount)
        }
      })
      for (const file of gone.values()) touched.add(file)
      return {
        ...counts,
        deletedFiles: gone.size,
        touchedPartitions: touched.found(),
        addedNulls: nulls.complete(),
        losesFiles: [...gone.keys()].some((key) => !recorded.has(key)),
      }
    },
  }
}

interface Placed {
  readonly partitionKey: string
  /** Whether it may delete rows in every partition. */
  readonly isEverywhere: boolean
}

/** What deletes by value without a partition does so in all. A spec whose fields were all dropped has only nulls. */
function placeOf(entry: ManifestEntry): Placed {
  return {
    partitionKey: partitionKeyOf(entry),
    isEverywhere: entry.content === 'values' && hasNoPartition(entry),
  }
}

/** Collects the partitions that files touch. */
class TouchedPartitions {
  readonly #found = new Set<string>()
  readonly #specs: ReadonlySet<number>
  #isKnown = true

  /** @param manifests all of both snapshots: what has no partition lies beside the partitions of another spec */
  constructor(manifests: readonly ManifestRef[]) {
    this.#specs = new Set(manifests.map(({ specId }) => specId))
  }

  add({ partitionKey, isEverywhere }: Placed): void {
    if (isEverywhere && this.#specs.size > 1) this.#isKnown = false
    this.#found.add(partitionKey)
  }

  /** Of a file that both snapshots hold. */
  move(to: Placed, from: Placed): void {
    if (to.partitionKey === from.partitionKey) return
    this.add(from)
    this.add(to)
  }

  found(): ReadonlySet<string> | undefined {
    return this.#isKnown ? this.#found : undefined
  }
}

/** Sums nulls over files, by field id. */
class NullCounts {
  readonly #sums = new Map<number, { nulls: number; files: number }>()
  #files = 0

  add(nulls: ReadonlyMap<number, number>, rows: number): void {
    // A file without rows has no nulls, whether it counts them or not; its reader refuses others.
    if (rows === 0) return
    this.#files++
    for (const [id, count] of nulls) {
      const sum = this.#sums.get(id) ?? { nulls: 0, files: 0 }
      this.#sums.set(id, { nulls: sum.nulls + count, files: sum.files + 1 })
    }
  }

  /** The sums of the fields that every file counts. */
  complete(): ReadonlyMap<number, number> {
    const counted = [...this.#sums].filter(([, { files }]) => files === this.#files)
    return new Map(counted.map(([id, { nulls }]) => [id, nulls]))
  }
}

type Visit = (entry: ManifestEntry) => void

function onlyIn(
  one: ReadonlyMap<string, ManifestRef>,
  other: ReadonlyMap<string, ManifestRef>,
): readonly ManifestRef[] {
  return [...one.values()].filter(({ location }) => !other.has(location))
}

/** A manifest never changes: lists that say other things of it would let its deletes apply to other rows. */
function assertAlike(older: ReadonlyMap<string, ManifestRef>, newer: ReadonlyMap<string, ManifestRef>): void {
  for (const said of older.values()) {
    const again = newer.get(said.location)
    // Which snapshot added it has no effect on what applies.
    if (again !== undefined && !Bun.deepEquals({ ...again, addedSnapshotId: said.addedSnapshotId }, said))
      throw new ReadFailure('two manifest lists say different things of one manifest')
  }
}
