/** Loads a table's current metadata from the upstream, for every commit (step 8 of docs/reference/gateway.md 2.1). */

import { CatalogError } from '../../catalog/catalog.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { tableView } from '../../wire/iceberg/policy-view.ts'
import { type LoadTableResult, readLoadTableResult } from '../../wire/iceberg/table-metadata.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { CachedTable } from '../base/table-cache.ts'
import type { Upstream } from '../base/upstream.ts'

/**
 * Loads the current table. A cached entry is used only after the upstream has confirmed it, by 304 or the same bytes.
 * @throws CatalogError ErrTableNotFound if the table does not exist
 */
export async function loadCurrent(
  parts: GatewayParts,
  tenant: TenantId,
  upstream: Upstream,
  table: TableRef,
  signal: AbortSignal,
): Promise<CachedTable> {
  const { catalog, credential } = upstream
  const cached = parts.tables.get(tenant, credential, table)
  const loaded = await catalog.loadTable(table, {
    signal,
    // Set although it is the default, because Iceberg's own server gives a commit's reply the ETag of such a load.
    snapshots: 'all',
    ...(cached?.etag === undefined ? {} : { ifNoneMatch: cached.etag }),
  })
  if (loaded.status === 'not-modified') {
    if (cached?.etag !== undefined) {
      parts.tables.confirmed(tenant, credential, table, cached.etag)
      return cached
    }
    throw new Error('the upstream answered 304 to an unconditional load')
  }
  if (cached !== undefined && Buffer.compare(cached.body, loaded.body) === 0) {
    parts.tables.set(tenant, credential, table, cached)
    return cached
  }
  const entry = cachedTable(table, loaded.body, await readLoadTableResult(loaded.body), loaded.etag)
  parts.tables.set(tenant, credential, table, entry)
  return entry
}

/** The loaded table; undefined if it does not exist and may be absent. */
export async function unlessAbsent(
  load: Promise<CachedTable>,
  mayBeAbsent: boolean,
): Promise<CachedTable | undefined> {
  try {
    return await load
  } catch (error) {
    if (mayBeAbsent && error instanceof CatalogError && error.code === 'ErrTableNotFound') return undefined
    throw error
  }
}

/** @param body the bytes that the metadata was parsed from */
export function cachedTable(
  table: TableRef,
  body: Uint8Array,
  { metadataLocation, metadata }: LoadTableResult,
  etag: string | undefined,
): CachedTable {
  return { body, etag, metadataLocation, metadata, view: tableView(table, metadata) }
}
