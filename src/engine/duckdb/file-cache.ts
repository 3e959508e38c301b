/**
 * Whole data files on the local disk, within a size limit. Files in a table's storage never change, so a copy
 * is as good for as long as it is kept. It is a copy for local tables, too: DuckDB may write where it may
 * read, and a link would let a file change after it was looked at.
 */

import { createHash } from 'node:crypto'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessAborted } from '../../base/unless-aborted.ts'
import { limits } from '../../limits.ts'
import { ReadFailure } from '../../storage/read-failure.ts'
import { openStorage, type StorageAccess } from '../../storage/storage.ts'
import { EngineError } from '../engine-error.ts'
import { Gate } from './gate.ts'

/** One file to have at hand. */
export interface WantedFile {
  readonly location: string
  /** As its manifest says; another length means that the file is not the one that was committed. */
  readonly sizeBytes: number
}

/** A cached file that stays until it is released. */
export interface PinnedFile {
  readonly path: string
  release(): void
}

/** Who reads, and by what right. */
export interface ReadScope {
  /** Tenant, credential and its version: two scopes never share a file, whatever its location. */
  readonly key: string
  readonly access: StorageAccess
}

interface Entry {
  readonly path: string
  readonly sizeBytes: number
  readonly fetch: Promise<void>
  readonly stop: AbortController
  pins: number
  isWhole: boolean
}

/** Kept in order of use, the least recent first. */
export class FileCache {
  readonly #entries = new Map<string, Entry>()
  readonly #fetches = new Gate(limits.engineFetchesMax, Number.POSITIVE_INFINITY)
  #bytes = 0
  #count = 0

  private constructor(
    readonly folder: string,
    readonly bytesMax: number,
    readonly dropped: (path: string) => void,
  ) {}

  /**
   * A cache in a folder that is its own: what lies there is removed.
   * @param dropped hears of every path that is given up
   */
  static async open(folder: string, bytesMax: number, dropped: (path: string) => void): Promise<FileCache> {
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return new FileCache(folder, bytesMax, dropped)
  }

  /** Bytes of the files that are kept or on their way. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * A file, fetched unless it is here.
   * @throws ReadFailure, or EngineError 53000 where the files in use fill the cache
   */
  async pin(scope: ReadScope, file: WantedFile, signal: AbortSignal): Promise<PinnedFile> {
    const key = keyOf(scope.key, file)
    const entry = this.#entries.get(key) ?? this.#add(key, file, scope.access)
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    entry.pins++
    let held = true
    const release = () => {
      if (!held) return
      held = false
      entry.pins--
      // Nobody waits for it any more.
      if (entry.pins === 0 && !entry.isWhole) this.#drop(key, entry)
      this.#evict()
    }
    try {
      if (!entry.isWhole) await unlessAborted(entry.fetch, signal)
      return { path: entry.path, release }
    } catch (thrown) {
      release()
      throw thrown
    }
  }

  /** Removes all files. */
  async close(): Promise<void> {
    for (const { stop } of this.#entries.values()) stop.abort()
    await Promise.allSettled([...this.#entries.values()].map(({ fetch }) => fetch))
    this.#entries.clear()
    await rm(this.folder, { recursive: true, force: true })
  }

  #add(key: string, { location, sizeBytes }: WantedFile, access: StorageAccess): Entry {
    this.#bytes += sizeBytes
    this.#evict()
    if (this.#bytes > this.bytesMax) {
      this.#bytes -= sizeBytes
      throw new EngineError('53000', 'The files that the query reads do not fit the file cache.')
    }
    const digest = createHash('sha256').update(key).digest('hex')
    const path = join(this.folder, `${++this.#count}-${digest}.parquet`)
    const stop = new AbortController()
    const fetch = this.#fetches
      .enter(stop.signal)
      .then((leave) => fetchFile(access, location, sizeBytes, path, stop.signal).finally(leave))
    const entry: Entry = { path, sizeBytes, fetch, stop, pins: 0, isWhole: false }
    this.#entries.set(key, entry)
    fetch.then(
      () => {
        entry.isWhole = true
      },
      () => this.#drop(key, entry),
    )
    return entry
  }

  #evict(): void {
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
    entry.stop.abort()
    entry.fetch.catch(() => {}).then(() => rm(entry.path, { force: true }).catch(() => {}))
  }
}

function keyOf(scope: string, { location, sizeBytes }: WantedFile): string {
  return `${sizeBytes} ${scope.length} ${scope}${location}`
}

/** Whole or not at all: the name is given once every byte is there. */
async function fetchFile(
  access: StorageAccess,
  location: string,
  sizeBytes: number,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  // Of its own: the query that asked first may be gone before the others have the file.
  const storage = openStorage(access)
  const part = `${path}.part`
  try {
    const file = await storage.open(location)
    if (file.size !== sizeBytes) throw new ReadFailure('a data file is not as long as its manifest says')
    const target = await open(part, 'wx', 0o400)
    try {
      for (let at = 0; at < sizeBytes; at += limits.engineFetchBytes) {
        signal.throwIfAborted()
        await target.writeFile(await file.read(at, Math.min(at + limits.engineFetchBytes, sizeBytes)))
      }
    } finally {
      await target.close()
    }
    signal.throwIfAborted()
    await rename(part, path)
  } catch (thrown) {
    await rm(part, { force: true }).catch(() => {})
    if (thrown instanceof ReadFailure || signal.aborted) throw thrown
    throw new EngineError('53000', 'The file cache cannot be written.', { cause: thrown })
  } finally {
    await storage.close()
  }
}
