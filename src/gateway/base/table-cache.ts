/**
 * Caches table metadata by the catalog that served it. For a commit that loads its table it only saves parsing, because
 * the upstream is asked whether the metadata is still current. A commit that is pinned is judged on what was known a
 * moment ago, and carries requirements for what its policies read.
 */

import type { Clock } from '../../base/clock.ts'
import type { JsonObject } from '../../base/json.ts'
import { Lru } from '../../base/lru.ts'
import type { CatalogCredential } from '../../core/catalog.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { joinMembers, topLevelMembers } from '../../wire/iceberg/members.ts'

export interface CachedTable {
  /** The upstream's reply, byte for byte; of one that a client loaded, metadata and its location alone. */
  readonly body: Uint8Array
  readonly etag: string | undefined
  readonly metadataLocation: string
  readonly metadata: JsonObject
  /** The value that policies see as `table`. */
  readonly view: JsonObject
}

/** A table as a client was shown it, not parsed yet. */
interface LoadedBytes {
  /** A LoadTableResult without configuration. */
  readonly body: Uint8Array
  readonly atMs: number
}

interface Known<T> {
  readonly table: T
  /** When the upstream last named this state, in milliseconds since 1970. */
  readonly atMs: number
}

/** How long a table counts as known without asking its catalog: a commit can be pinned to it. */
const knownTableMs = 60_000
/** Parsed maps take several times the memory of their text. */
const parsedWeight = 8

export class TableCache {
  readonly #entries: Lru<string, Known<CachedTable>>
  readonly #loaded: Lru<string, LoadedBytes>

  /**
   * @param bytesMax limit of the estimated memory of all parsed entries
   * @param loadedBytesMax limit of those that clients loaded, which are not parsed yet
   */
  constructor(
    bytesMax: number,
    loadedBytesMax: number,
    readonly clock: Clock,
  ) {
    this.#entries = new Lru(bytesMax)
    this.#loaded = new Lru(loadedBytesMax)
  }

  get(tenant: TenantId, credential: CatalogCredential, table: TableRef): CachedTable | undefined {
    return this.#entries.get(cacheKey(tenant, credential, table))?.table
  }

  /** @param atMs when the upstream named this state */
  set(
    tenant: TenantId,
    credential: CatalogCredential,
    table: TableRef,
    entry: CachedTable,
    atMs = this.clock.now(),
  ): void {
    const key = cacheKey(tenant, credential, table)
    this.#loaded.delete(key)
    this.#entries.set(key, { table: entry, atMs }, entry.body.length * parsedWeight)
  }

  /**
   * The table as the upstream named it within `knownTableMs` from a commit, a load or a client's load, whichever
   * came last.
   */
  known(
    tenant: TenantId,
    credential: CatalogCredential,
    table: TableRef,
  ): CachedTable | LoadedBytes | undefined {
    const key = cacheKey(tenant, credential, table)
    const oldestMs = this.clock.now() - knownTableMs
    const loaded = this.#loaded.get(key)
    if (loaded !== undefined && loaded.atMs >= oldestMs) return loaded
    const entry = this.#entries.get(key)
    return entry !== undefined && entry.atMs >= oldestMs ? entry.table : undefined
  }

  /** Keeps what a client loaded, with all its snapshots. @param body the upstream's reply, which may hold credentials */
  loaded(tenant: TenantId, credential: CatalogCredential, table: TableRef, body: Uint8Array): void {
    const key = cacheKey(tenant, credential, table)
    const members = topLevelMembers(body)
    const location = members.get('metadata-location')
    const metadata = members.get('metadata')
    if (location === undefined || metadata === undefined) return
    const atMs = this.clock.now()
    const entry = this.#entries.get(key)?.table
    if (entry !== undefined && JSON.stringify(entry.metadataLocation) === Buffer.from(location).toString()) {
      this.set(tenant, credential, table, entry, atMs)
      return
    }
    const kept = joinMembers(
      new Map([
        ['metadata-location', location],
        ['metadata', metadata],
      ]),
    )
    this.#loaded.set(key, { body: kept, atMs }, kept.length)
  }

  /** Notes that the upstream has just confirmed the state with this ETag. */
  confirmed(tenant: TenantId, credential: CatalogCredential, table: TableRef, etag: string): void {
    const entry = this.get(tenant, credential, table)
    if (entry?.etag === etag) this.set(tenant, credential, table, entry)
  }
}

function cacheKey(tenant: TenantId, credential: CatalogCredential, table: TableRef): string {
  return `${tenant}/${credential.id}/${credential.version}/${tableKey(table)}`
}
