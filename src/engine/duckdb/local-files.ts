/** Brings the files of one statement to the local disk, pins them in the cache and reads their shapes. */

import type { DuckDBInstance } from '@duckdb/node-api'
import { admitLocation, parseRoots } from '../../storage/locations.ts'
import { ReadFailure } from '../../storage/read-failure.ts'
import type { FileEntry } from '../iceberg/manifest.ts'
import type { FileCache, PinnedFile, ReadScope } from './file-cache.ts'
import type { FileShape, ShapeCache } from './file-shape.ts'
import { interruptible } from './interruptible.ts'

export interface FetchedFile {
  readonly path: string
  readonly shape: FileShape
}

export class LocalFiles {
  readonly #pins: PinnedFile[] = []

  constructor(
    readonly instance: DuckDBInstance,
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
    for (const { location } of entries) admitLocation(location, roots)
    const unique = [...new Map(entries.map((entry) => [entry.location, entry])).values()]
    const paths = await this.#pin(unique, signal)
    await this.#learn(paths, signal)
    return new Map(
      unique.map(({ location }, index) => {
        const path = paths[index] ?? ''
        const shape = this.shapes.get(path)
        if (shape === undefined) throw new ReadFailure('a data file has no footer')
        return [location, { path, shape }]
      }),
    )
  }

  /** Unpins the files. */
  release(): void {
    for (const pin of this.#pins.splice(0)) pin.release()
  }

  async #learn(paths: readonly string[], signal: AbortSignal): Promise<void> {
    const unknown = paths.filter((path) => this.shapes.get(path) === undefined)
    if (unknown.length === 0) return
    const connection = await this.instance.connect()
    try {
      await interruptible(connection, signal, () => this.shapes.learn(connection, unknown))
    } finally {
      connection.closeSync()
    }
  }

  /** The first failure ends the other waits; every pin is recorded before this returns, so that `release` frees it. */
  async #pin(entries: readonly FileEntry[], signal: AbortSignal): Promise<readonly string[]> {
    const stop = new AbortController()
    const either = AbortSignal.any([signal, stop.signal])
    const pins = entries.map(async (entry) => {
      const pin = await this.cache.pin(this.scope, entry, either)
      this.#pins.push(pin)
      return pin.path
    })
    try {
      return await Promise.all(pins)
    } catch (thrown) {
      stop.abort()
      await Promise.allSettled(pins)
      throw thrown
    }
  }
}
