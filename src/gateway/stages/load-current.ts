/** Step 8 of docs/reference/gateway.md 2.1: the table's current metadata, asked of the upstream on every commit. */

import { CatalogError } from '../../catalog/catalog.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { tableView } from '../../wire/iceberg/policy-view.ts'
import { type LoadTableResult, readLoadTableResult } from '../../wire/iceberg/table-metadata.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { CachedTable } from '../base/table-cache.ts'
import type { Upstream } from '../base/upstream.ts'

/**
 * The current table. A cached entry is used only after the upstream has confirmed it, by 304 or by the same bytes.
 * @throws CatalogError ErrTableNotFound where the table does not exist
 */
export async function loadCurrent(
  parts: GatewayParts,
  tenant: TenantId,
  upstream: Upstream,
  table: TableRef,
  signal: AbortSignal,
): Promise<CachedTable> {
  const { catalog, credential } = upstream
  const known = parts.tables.get(tenant, credential, table)
  const loaded = await catalog.loadTable(table, {
    signal,
    // Named although it is the default, because Iceberg's own server gives a commit's answer the ETag of such a load.
    snapshots: 'all',
    ...(known?.etag === undefined ? {} : { ifNoneMatch: known.etag }),
  })
  if (loaded.status === 'not-modified') {
    if (known !== undefined) return known
    throw new Error('the upstream answered 304 to an unconditional load')
  }
  if (known !== undefined && Buffer.compare(known.body, loaded.body) === 0) return known
  const entry = cachedTable(table, loaded.body, await readLoadTableResult(loaded.body), loaded.etag)
  parts.tables.set(tenant, credential, table, entry)
  return entry
}

/** The loaded table; undefined where the table does not exist and may be absent. */
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

/** @param body what `result` was parsed from */
export function cachedTable(
  table: TableRef,
  body: Uint8Array,
  { metadataLocation, metadata }: LoadTableResult,
  etag: string | undefined,
): CachedTable {
  return { body, etag, metadataLocation, metadata, view: tableView(table, metadata) }
}
