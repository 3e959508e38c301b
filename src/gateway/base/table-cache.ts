/**
 * Parsed table metadata by the catalog that served it. An entry only saves the work of parsing: whether it
 * is still the table's current metadata is asked of the upstream on every commit.
 */

import type { JsonObject } from '../../base/json.ts'
import { Lru } from '../../base/lru.ts'
import type { CatalogCredential } from '../../core/catalog.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'

export interface CachedTable {
  /** The upstream's answer as it came. */
  readonly body: Uint8Array
  readonly etag: string | undefined
  readonly metadataLocation: string
  readonly metadata: JsonObject
  /** What policies see as `table`. */
  readonly view: JsonObject
}

/** Parsed maps weigh several times their text. */
const parsedWeight = 8

export class TableCache {
  readonly #entries: Lru<string, CachedTable>

  /** @param bytesMax bound on the estimated memory of all entries */
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
