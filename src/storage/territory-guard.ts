/**
 * Keeps a reader within a table's territory: every file is judged before it is opened. Whose a file outside is, is not
 * asked here.
 */

import type { Territory } from '../core/territory.ts'
import { whereaboutsIn } from './canonical-path.ts'
import { ReadFailure } from './read-failure.ts'
import type { Storage } from './storage.ts'

export const tableFileKinds = [
  'file',
  'metadata file',
  'manifest list',
  'manifest',
  'data file',
  'delete file',
  'statistics file',
] as const
export type TableFileKind = (typeof tableFileKinds)[number]

/** A file of a table that does not lie in its territory. */
export interface OutsideFile {
  readonly kind: TableFileKind
  readonly location: string
  /** `unclear`: readers may open different objects by this location. */
  readonly whereabouts: 'outside' | 'unclear'
}

/** A file outside, where the territory is enforced. Its reason names no file and no other table. */
export class TerritoryFailure extends ReadFailure {
  override readonly name = 'TerritoryFailure'

  constructor(readonly file: OutsideFile) {
    super(`its ${file.kind} lies outside the folders that belong to it`)
  }
}

export interface TerritoryGuard {
  /** @throws TerritoryFailure for a file outside, where the territory is enforced */
  admit(kind: TableFileKind, location: string): void
  /** One file of each folder outside that was asked for. */
  readonly outside: readonly OutsideFile[]
}

/** Folders outside that one use of a guard reports. */
const outsideMax = 100

/** @param territory undefined where the table of a file is not known, which admits every file */
export function territoryGuard(territory: Territory | undefined): TerritoryGuard {
  const found = new Map<string, OutsideFile>()
  const judge = territory && whereaboutsIn(territory)
  return {
    admit(kind, location) {
      const whereabouts = judge?.(location) ?? 'inside'
      if (whereabouts === 'inside') return
      const file = { kind, location, whereabouts }
      const folder = location.slice(0, location.lastIndexOf('/') + 1)
      if (found.size < outsideMax && !found.has(folder)) found.set(folder, file)
      if (territory?.mode !== 'observe') throw new TerritoryFailure(file)
    },
    get outside() {
      return [...found.values()]
    },
  }
}

/** Storage that opens what the guard admits. Its reads throw TerritoryFailure for other files. */
export function guardedStorage(storage: Storage, guard: TerritoryGuard): Storage {
  return {
    get bytesRead() {
      return storage.bytesRead
    },
    async open(location) {
      guard.admit('file', location)
      return await storage.open(location)
    },
    async readAll(location, bytesMax) {
      guard.admit('file', location)
      return await storage.readAll(location, bytesMax)
    },
    during: (work) => storage.during(work),
    work: () => storage.work(),
    close: () => storage.close(),
  }
}
