/** Makes the cache of tables whose last loaded state is in the territory index. */

import { Lru } from '../../base/lru.ts'
import type { FedTable } from '../../storage/feed-territory.ts'

export interface VendedFolders {
  readonly prefixes: readonly string[]
  readonly version: string
}

export interface FedState extends FedTable {
  /** Of its metadata file, as the upstream sent it. */
  readonly location: string
  /** Whether some folder was another table's, or nobody's, when the state was taken. Not whether it is now. */
  readonly isStray: boolean
  /** Whether the upstream restricted reading when it was last asked. */
  readonly isRestricted: boolean
  /** The folders for which credentials were issued last, with the version of the tenant's territory. */
  readonly vended: VendedFolders | undefined
}

/** By tenant, catalog credential and name. */
export type FedTables = Lru<string, FedState>

/** An empty one. */
export function fedTables(): FedTables {
  return new Lru(10_000)
}
