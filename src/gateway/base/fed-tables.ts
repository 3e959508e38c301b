/** Makes the cache of tables whose last loaded state is in the territory index. */

import { Lru } from '../../base/lru.ts'
import type { FedTable } from '../../storage/feed-territory.ts'

export interface FedState extends FedTable {
  /** Of its metadata file, as the upstream sent it. */
  readonly location: string
  /** Whether some folder was another table's, or nobody's, when the state was taken. Not whether it is now. */
  readonly isStray: boolean
}

/** By tenant, catalog credential and name. */
export type FedTables = Lru<string, FedState>

/** An empty one. */
export function fedTables(): FedTables {
  return new Lru(10_000)
}
