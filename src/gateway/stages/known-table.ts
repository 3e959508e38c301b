/** The state of a table that was known a moment ago, for a commit that may be pinned to it instead of loading it. */

import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { readLoadTableResult } from '../../wire/iceberg/table-metadata.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { CachedTable } from '../base/table-cache.ts'
import type { Upstream } from '../base/upstream.ts'
import { cachedTable } from './load-current.ts'

/**
 * The table from the client's own load through the gateway, or from the commit before. Parses what a client loaded.
 * @returns undefined where nothing recent is known, it cannot be read, or the catalog does not check every
 *   requirement. Never rejects
 */
export async function knownTable(
  parts: Pick<GatewayParts, 'tables'>,
  tenant: TenantId,
  { catalog, credential }: Upstream,
  table: TableRef,
): Promise<CachedTable | undefined> {
  if (!catalog.checksRequirements) return undefined
  const known = parts.tables.known(tenant, credential, table)
  if (known === undefined || 'view' in known) return known
  try {
    const entry = cachedTable(table, known.body, await readLoadTableResult(known.body), undefined)
    parts.tables.set(tenant, credential, table, entry, known.atMs)
    return entry
  } catch {
    return undefined
  }
}
