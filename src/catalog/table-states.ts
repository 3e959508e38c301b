/**
 * Caches what reading needs of tables' current metadata, by the catalog that served it. An entry only saves parsing:
 * every load asks the upstream whether it is still current.
 */

import { Lru } from '../base/lru.ts'
import type { CatalogCredential } from '../core/catalog.ts'
import { type TableRef, tableKey } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { parseLoadTableResult } from '../wire/iceberg/table-metadata.ts'
import { type TableState, tableStateOf } from '../wire/iceberg/table-state.ts'
import type { Catalog } from './catalog.ts'
import type { OpenCatalogs } from './open-catalog.ts'

interface Entry {
  readonly etag: string | undefined
  /** As the upstream sent it; cached only where it sends no ETag. */
  readonly body: Uint8Array | undefined
  readonly state: TableState
}

/** Parsed state takes about as much memory as its text. */
const parsedWeight = 1

export class TableStates {
  readonly #entries: Lru<string, Entry>

  /** @param bytesMax bound on the estimated memory of all entries */
  constructor(
    readonly catalogs: OpenCatalogs,
    bytesMax: number,
  ) {
    this.#entries = new Lru(bytesMax)
  }

  /**
   * The current state of a table.
   * @throws CatalogError ErrTableNotFound and the other sentinels; Fault of the upstream; the signal's reason
   */
  async load(
    tenant: TenantId,
    credential: CatalogCredential,
    table: TableRef,
    signal?: AbortSignal,
  ): Promise<TableState> {
    return await this.catalogs.during(() => this.#load(tenant, credential, table, signal))
  }

  async #load(
    tenant: TenantId,
    credential: CatalogCredential,
    table: TableRef,
    signal: AbortSignal | undefined,
  ): Promise<TableState> {
    const key = `${tenant}/${credential.id}/${credential.version}/${tableKey(table)}`
    const cached = this.#entries.get(key)
    const loaded = await this.#ask(this.catalogs.get(tenant, credential), table, cached?.etag, signal)
    if (loaded.status === 'not-modified') {
      if (cached !== undefined) return cached.state
      throw new Error('the upstream answered 304 to an unconditional load')
    }
    const { body, etag } = loaded
    if (cached?.body !== undefined && Buffer.compare(cached.body, body) === 0) return cached.state
    const state = tableStateOf(parseLoadTableResult(body))
    this.#entries.set(
      key,
      { etag, body: etag === undefined ? body : undefined, state },
      body.length * (parsedWeight + (etag === undefined ? 1 : 0)),
    )
    return state
  }

  #ask(catalog: Catalog, table: TableRef, etag: string | undefined, signal: AbortSignal | undefined) {
    return catalog.loadTable(table, { signal, ...(etag !== undefined && { ifNoneMatch: etag }) })
  }
}
