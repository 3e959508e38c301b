/**
 * What reading needs of tables' current metadata, by the catalog that served it. An entry only saves the work
 * of parsing: whether it is still current is asked of the upstream each time.
 */

import { Lru } from '../base/lru.ts'
import type { CatalogCredential } from '../core/catalog.ts'
import { type TableRef, tableKey } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { parseLoadTableResult } from '../wire/iceberg/table-metadata.ts'
import { type TableState, tableStateOf } from '../wire/iceberg/table-state.ts'
import type { Catalog } from './catalog.ts'
import type { CatalogPool } from './open-catalog.ts'

interface Entry {
  readonly etag: string | undefined
  /** As the upstream sent it; kept only where it gives no ETag to ask by. */
  readonly body: Uint8Array | undefined
  readonly state: TableState
}

/** Parsed state weighs about as much as the text that it was parsed from. */
const parsedWeight = 1

export class TableStates {
  readonly #entries: Lru<string, Entry>

  /** @param bytesMax bound on the estimated memory of all entries */
  constructor(
    readonly catalogs: CatalogPool,
    bytesMax: number,
  ) {
    this.#entries = new Lru(bytesMax)
  }

  /**
   * The state of a table now.
   * @throws CatalogError ErrTableNotFound and the other sentinels; Fault of the upstream; the signal's reason
   */
  async load(
    tenant: TenantId,
    credential: CatalogCredential,
    table: TableRef,
    signal?: AbortSignal,
  ): Promise<TableState> {
    const key = `${tenant}/${credential.id}/${credential.version}/${tableKey(table)}`
    const known = this.#entries.get(key)
    const loaded = await this.#ask(this.catalogs.get(tenant, credential), table, known?.etag, signal)
    if (loaded.status === 'not-modified') {
      if (known !== undefined) return known.state
      throw new Error('the upstream answered 304 to an unconditional load')
    }
    const { body, etag } = loaded
    if (known?.body !== undefined && Buffer.compare(known.body, body) === 0) return known.state
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
