/**
 * Caches whole data files on the local disk, within a size limit. Files in a table's storage never change, so copies
 * never become stale. Files of local tables are copied, too: DuckDB may write where it may read, and a link would let
 * a file change after its shape was checked.
 */

import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessAborted } from '../../base/unless-aborted.ts'
import { limits } from '../../limits.ts'
import { ReadFailure } from '../../storage/read-failure.ts'
import { openStorage, type Storage, type StorageAccess, type StoredFile } from '../../storage/storage.ts'
import { EngineError } from '../engine-error.ts'
import { footerKey } from './footer-key.ts'
import { Gate } from './gate.ts'

/** Bytes requested at once for a data file. */
const engineFetchBytes = 8 * 1024 * 1024

/** One file to fetch. */
interface WantedFile {
  readonly location: string
  /** From its manifest; a file of another length is not the one that was committed. */
  readonly sizeBytes: number
}

/** A cached file that is not evicted until it is released. */
export interface PinnedFile {
  readonly path: string
  /** Equal for files with the same columns; undefined where that is not known. */
  readonly footerKey: string | undefined
  release(): void
}

/** The storage that a credential may read, and the key that separates its cached files from others. */
export interface ReadScope {
  /** Tenant, credential and its version. Two scopes never share a cached file, even of one location. */
  readonly key: string
  readonly access: StorageAccess
}

interface Entry {
  readonly path: string
  readonly sizeBytes: number
  /**
   * Undefined once the file is whole. Of tens of thousands of files that are kept, each controller that stayed would be
   * looked at by every collection of garbage, which stops the thread.
   */
  fetching: { readonly done: Promise<string | undefined>; readonly stop: AbortController } | undefined
  footerKey?: string | undefined
  pins: number
}

/** Entries are in order of use, the least recent first. */
export class FileCache {
  readonly #entries = new Map<string, Entry>()
  readonly #fetches = new Gate(limits.engineFetchesMax, Number.POSITIVE_INFINITY)
  readonly #storages = new Map<string, SharedStorage>()
  #bytes = 0
  #count = 0

  private constructor(
    readonly folder: string,
    readonly bytesMax: number,
    readonly dropped: (path: string) => void,
  ) {}

  /**
   * Opens an empty cache. The folder's content is removed.
   * @param dropped is called with the path of every evicted file
   */
  static async open(folder: string, bytesMax: number, dropped: (path: string) => void): Promise<FileCache> {
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return new FileCache(folder, bytesMax, dropped)
  }

  /** Bytes of the files that are cached or being fetched. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Pins a file; fetches it unless it is cached.
   * @throws ReadFailure, or EngineError 53000 where the files in use fill the cache
   */
  async pin(scope: ReadScope, file: WantedFile, signal: AbortSignal): Promise<PinnedFile> {
    const key = keyOf(scope.key, file)
    const entry = this.#entries.get(key) ?? this.#add(key, file, scope)
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    entry.pins++
    let held = true
    const release = () => {
      if (!held) return
      held = false
      entry.pins--
      // No caller waits for the fetch any more, so it is stopped.
      if (entry.pins === 0 && entry.fetching !== undefined) this.#drop(key, entry)
      this.#evict()
    }
    try {
      if (entry.fetching !== undefined) await unlessAborted(entry.fetching.done, signal)
      return { path: entry.path, footerKey: entry.footerKey, release }
    } catch (thrown) {
      release()
      throw thrown
    }
  }

  /** Removes all files. */
  async close(): Promise<void> {
    const fetching = [...this.#entries.values()].flatMap((entry) => entry.fetching ?? [])
    for (const { stop } of fetching) stop.abort()
    await Promise.allSettled(fetching.map(({ done }) => done))
    this.#entries.clear()
    await rm(this.folder, { recursive: true, force: true })
  }

  #add(key: string, { location, sizeBytes }: WantedFile, scope: ReadScope): Entry {
    this.#bytes += sizeBytes
    this.#evict()
    if (this.#bytes > this.bytesMax) {
      this.#bytes -= sizeBytes
      throw new EngineError('53000', 'The files that the query reads do not fit the file cache.')
    }
    const path = join(this.folder, `${++this.#count}.parquet`)
    const stop = new AbortController()
    const done = this.#fetches
      .enter(scope.key, stop.signal)
      .then((leave) =>
        this.#withStorage(scope, (storage) =>
          fetchFile(storage, location, sizeBytes, path, stop.signal),
        ).finally(leave),
      )
    const entry: Entry = { path, sizeBytes, fetching: { done, stop }, pins: 0 }
    this.#entries.set(key, entry)
    done.then(
      (footerKey) => {
        entry.footerKey = footerKey
        entry.fetching = undefined
      },
      () => this.#drop(key, entry),
    )
    return entry
  }

  /** Fetches of one scope share a storage, but not that of a query, which may close before other queries have the file. */
  async #withStorage<T>(scope: ReadScope, work: (storage: Storage) => Promise<T>): Promise<T> {
    const shared = this.#storages.get(scope.key) ?? { storage: openStorage(scope.access), uses: 0 }
    this.#storages.set(scope.key, shared)
    shared.uses++
    try {
      return await work(shared.storage)
    } finally {
      if (--shared.uses === 0) {
        this.#storages.delete(scope.key)
        await shared.storage.close()
      }
    }
  }

  #evict(): void {
    // Asked first, because finding the first entry passes all places that earlier entries left: pins move entries.
    if (this.#bytes <= this.bytesMax) return
    for (const [key, entry] of this.#entries) {
      if (this.#bytes <= this.bytesMax) return
      if (entry.pins === 0) this.#drop(key, entry)
    }
  }

  #drop(key: string, entry: Entry): void {
    if (this.#entries.get(key) !== entry) return
    this.#entries.delete(key)
    this.#bytes -= entry.sizeBytes
    this.dropped(entry.path)
    entry.fetching?.stop.abort()
    const ended = entry.fetching?.done.catch(() => {}) ?? Promise.resolve()
    ended.then(() => rm(entry.path, { force: true }).catch(() => {}))
  }
}

function keyOf(scope: string, { location, sizeBytes }: WantedFile): string {
  return `${sizeBytes} ${scope.length} ${scope}${location}`
}

interface SharedStorage {
  readonly storage: Storage
  uses: number
}

/** Fetches a file whole, or leaves none. @returns the key of its footer, where that is known */
async function fetchFile(
  storage: Storage,
  location: string,
  sizeBytes: number,
  path: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  let file: StoredFile | undefined
  let bytes: Uint8Array | undefined
  try {
    file = await storage.open(location)
    if (file.size !== sizeBytes) throw new ReadFailure('a data file is not as long as its manifest says')
    const target = await open(path, 'wx', 0o400)
    try {
      for (let at = 0; at < sizeBytes; at += engineFetchBytes) {
        signal.throwIfAborted()
        bytes = await file.read(at, Math.min(at + engineFetchBytes, sizeBytes))
        await target.writeFile(bytes)
      }
    } finally {
      await target.close()
    }
    signal.throwIfAborted()
    return bytes && footerKey(bytes)
  } catch (thrown) {
    await rm(path, { force: true }).catch(() => {})
    if (thrown instanceof ReadFailure || signal.aborted) throw thrown
    throw new EngineError('53000', 'The file cache cannot be written.', { cause: thrown })
  } finally {
    await file?.close()
  }
}
