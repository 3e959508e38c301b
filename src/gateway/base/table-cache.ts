/**
 * Caches parsed table metadata by the catalog that served it. It only saves parsing: every commit asks the upstream
 * whether the metadata is still current.
 */

import type { JsonObject } from '../../base/json.ts'
import { Lru } from '../../base/lru.ts'
import type { CatalogCredential } from '../../core/catalog.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'

export interface CachedTable {
  /** The upstream's reply, byte for byte. */
  readonly body: Uint8Array
  readonly etag: string | undefined
  readonly metadataLocation: string
  readonly metadata: JsonObject
  /** The value that policies see as `table`. */
  readonly view: JsonObject
}

/** Parsed maps take several times the memory of their text. */
const parsedWeight = 8

export class TableCache {
  readonly #entries: Lru<string, CachedTable>

  /** @param bytesMax limit of the estimated memory of all entries */
  constructor(bytesMax: number) {
    this.#entries = new Lru(bytesMax)
  }

  get(tenant: TenantId, credential: CatalogCredential, table: TableRef): CachedTable | undefined {
    return this.#entries.get(cacheKey(tenant, credential, table))
  }

  set(tenant: TenantId, credential: CatalogCredential, table: TableRef, entry: CachedTable): void {
    this.#entries.set(cacheKey(tenant, credential, table), entry, entry.body.length * parsedWeight)
  }
}

function cacheKey(tenant: TenantId, credential: CatalogCredential, table: TableRef): string {
  return `${tenant}/${credential.id}/${credential.version}/${tableKey(table)}`
}
