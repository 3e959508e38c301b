/**
 * Compares the audit with the catalogs, table by table: whether the file that a catalog names is the one that the last
 * audited change wrote. After a restore of the store, what was committed since is found so. It changes nothing.
 */

import type { OpenCatalogs } from '../../catalog/open-catalog.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { findCatalogCredentialById } from '../../store/catalog-credential/catalog-credentials.ts'
import { auditedLocations } from '../../store/commit/audit.ts'
import { type LastAudited, listLastAudited } from '../../store/commit/last-audited.ts'
import { everyItem } from '../../store/database/page.ts'
import type { Store } from '../../store/store.ts'
import { historyOf } from '../base/metadata-history.ts'
import { loadNow } from './load-now.ts'

/**
 * - `same`: the catalog is where the audit ends.
 * - `ahead`: the catalog has changes that the audit does not have.
 * - `behind`: the catalog is at an earlier audited state.
 * - `absent`: the catalog has no such table.
 * - `unreadable`: the catalog, or its credential, could not be asked.
 */
export const tableStandings = ['same', 'ahead', 'behind', 'absent', 'unreadable'] as const
export type TableStanding = (typeof tableStandings)[number]

interface ComparedTable {
  readonly table: TableRef
  readonly standing: TableStanding
  readonly audited: LastAudited
  /** The file that the catalog names; undefined where it names none. */
  readonly found: string | undefined
  /** For `ahead`: files that the catalog's history has after the last audited one. It may be cut off at its start. */
  readonly unaudited: number
}

interface CompareParts {
  readonly store: Store
  readonly catalogs: OpenCatalogs
}

/** Every table of a tenant that the audit knows, in the order of the audit's table ids. */
export async function* compareTables(
  parts: CompareParts,
  tenant: TenantId,
  signal: AbortSignal,
): AsyncGenerator<ComparedTable> {
  for await (const audited of everyItem((page) => listLastAudited(parts.store, tenant, page))) {
    signal.throwIfAborted()
    yield await compareTable(parts, tenant, audited, signal)
  }
}

async function compareTable(
  { store, catalogs }: CompareParts,
  tenant: TenantId,
  audited: LastAudited,
  signal: AbortSignal,
): Promise<ComparedTable> {
  const { table, credentialId, metadataLocation } = audited
  const as = (standing: TableStanding, found?: string, unaudited = 0): ComparedTable => ({
    ...{ table, standing, audited, found, unaudited },
  })
  try {
    const credential = await findCatalogCredentialById(store, tenant, credentialId)
    if (credential === undefined) return as('unreadable')
    const loaded = await loadNow(catalogs.get(tenant, credential), table, signal)
    if (loaded === undefined) return as('absent')
    const { metadataLocation: found } = loaded.result
    if (found === metadataLocation) return as('same', found)
    const history = historyOf(loaded.result).map((entry) => entry.metadataLocation)
    const known = await auditedLocations(store, tenant, table, history)
    if (known.has(found)) return as('behind', found)
    return as('ahead', found, history.length - 1 - history.findLastIndex((file) => known.has(file)))
  } catch (thrown) {
    if (signal.aborted) throw thrown
    return as('unreadable')
  }
}
