/** Brings the files of one statement to the local disk, pins them in the cache and reads their shapes. */

import { eachInTurns, turnTaker } from '../../base/in-turns.ts'
import { limits } from '../../limits.ts'
import type { FileEntry } from '../../storage/iceberg/files.ts'
import { admitLocation, parseRoots } from '../../storage/locations.ts'
import { ReadFailure, readingFile } from '../../storage/read-failure.ts'
import type { DamagedFiles } from './damaged-files.ts'
import type { FileCache, PinnedFile, ReadScope } from './file-cache.ts'
import type { FileShape, ShapeCache } from './file-shape.ts'
import { interruptible } from './interruptible.ts'
import type { Connects } from './locked-database.ts'

interface FetchedFile {
  readonly path: string
  readonly shape: FileShape
}

export class LocalFiles {
  readonly #pins: PinnedFile[] = []
  readonly #paths = new Map<string, string>()

  /** The path on the local disk of each location that was brought. */
  get paths(): ReadonlyMap<string, string> {
    return this.#paths
  }

  constructor(
    readonly database: Connects,
    readonly damaged: DamagedFiles | undefined,
    readonly cache: FileCache,
    readonly shapes: ShapeCache,
    readonly scope: ReadScope,
  ) {}

  /**
   * Fetches files and pins them until `release`.
   * @returns the files by location
   * @throws ReadFailure where a file may not be read or is incomplete; EngineError; an error of DuckDB
   */
  async bring(entries: readonly FileEntry[], signal: AbortSignal): Promise<ReadonlyMap<string, FetchedFile>> {
    const roots = parseRoots(this.scope.access.roots)
    const unique = new Map<string, FileEntry>()
    await eachInTurns(entries, signal, (entry) => {
      admitLocation(entry.location, roots)
      unique.set(entry.location, entry)
    })
    const pinned = await this.#pin(unique, signal)
    await this.#learn(pinned, signal)
    const fetched = new Map<string, FetchedFile>()
    await eachInTurns(pinned, signal, ([location, { path }]) => {
      const shape = this.shapes.get(path)
      if (shape === undefined) throw new ReadFailure('a data file has no footer')
      fetched.set(location, { path, shape })
    })
    return fetched
  }

  /** Unpins the files. */
  async release(): Promise<void> {
    await eachInTurns(this.#pins.splice(0), undefined, (pin) => pin.release())
  }

  async #learn(pinned: ReadonlyMap<string, PinnedFile>, signal: AbortSignal): Promise<void> {
    const unknown: PinnedFile[] = []
    await eachInTurns(pinned.values(), signal, (file) => {
      if (!this.shapes.knows(file)) unknown.push(file)
    })
    if (unknown.length === 0) return
    const connection = await this.database.connect()
    try {
      await interruptible(connection, signal, () => this.shapes.learn(connection, unknown))
    } finally {
      connection.closeSync()
    }
  }

  /**
   * The first failure ends the other waits; every pin is recorded before this returns, so that `release` frees it.
   * @returns the pinned files by location
   */
  async #pin(
    entries: ReadonlyMap<string, FileEntry>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, PinnedFile>> {
    const stop = new AbortController()
    const either = AbortSignal.any([signal, stop.signal])
    const pinned = new Map<string, PinnedFile>()
    const turn = turnTaker(either)
    const queue = entries.values()
    const pinNext = async () => {
      // One queue for all, so that no more files wait for a fetch than can be fetched at once.
      for (const entry of queue) {
        const next = turn()
        if (next !== undefined) await next
        const pin = await readingFile(entry.location, () => this.cache.pin(this.scope, entry, either))
        this.#pins.push(pin)
        this.#paths.set(entry.location, pin.path)
        await readingFile(entry.location, async () => this.damaged?.assertReadable(pin.path))
        pinned.set(entry.location, pin)
      }
    }
    const pins = Array.from({ length: Math.min(limits.engineFetchesMax, entries.size) }, pinNext)
    try {
      await Promise.all(pins)
      return pinned
    } catch (thrown) {
      stop.abort()
      await Promise.allSettled(pins)
      throw thrown
    }
  }
}
