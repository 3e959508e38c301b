/** The files of one session: pinned in the cache, their shapes known. */

import type { DuckDBInstance } from '@duckdb/node-api'
import { admitLocation, parseRoots } from '../../storage/locations.ts'
import { ReadFailure } from '../../storage/read-failure.ts'
import type { FileEntry } from '../iceberg/manifest.ts'
import type { FileCache, PinnedFile, ReadScope } from './file-cache.ts'
import type { FileShape, KnownShapes } from './file-shape.ts'
import { interruptible } from './interruptible.ts'

export interface AtHand {
  readonly path: string
  readonly shape: FileShape
}

export class LocalFiles {
  readonly #pins: PinnedFile[] = []

  constructor(
    readonly instance: DuckDBInstance,
    readonly cache: FileCache,
    readonly shapes: KnownShapes,
    readonly scope: ReadScope,
  ) {}

  /**
   * Brings files here and keeps them until `release`.
   * @returns what is at hand by location
   * @throws ReadFailure where one may not be read or is not whole, EngineError, or what DuckDB throws
   */
  async bring(entries: readonly FileEntry[], signal: AbortSignal): Promise<ReadonlyMap<string, AtHand>> {
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

  /** Lets the cache have the files. */
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

  async #pin(entries: readonly FileEntry[], signal: AbortSignal): Promise<readonly string[]> {
    return this.#pinWhole(entries) ?? (await this.#fetch(entries, signal))
  }

  /** @returns undefined where one of them is not here: those that are stay pinned all the same */
  #pinWhole(entries: readonly FileEntry[]): readonly string[] | undefined {
    const paths: string[] = []
    for (const entry of entries) {
      const pin = this.cache.pinWhole(this.scope, entry)
      if (pin === undefined) return undefined
      this.#pins.push(pin)
      paths.push(pin.path)
    }
    return paths
  }

  /** The first failure ends the others' waiting, and nothing stays pinned that nobody knows of. */
  async #fetch(entries: readonly FileEntry[], signal: AbortSignal): Promise<readonly string[]> {
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
