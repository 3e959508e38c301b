/**
 * Decides whether a table that is known under another name of its catalog has two names. A table that was renamed past the
 * gateway, or registered again after a drop, has one: its record moves. Does not refuse anything itself.
 */

import { CatalogError } from '../catalog/catalog.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import type { Store } from '../store/store.ts'
import {
  type ConflictSource,
  moveTableName,
  type NamedKind,
  noteSecondName,
} from '../store/territory/territory-rows.ts'
import type { FedTable } from './feed-territory.ts'

export interface KnownTable {
  readonly kind: NamedKind
  readonly fed: FedTable
  /** The name under which it was seen first. */
  readonly first: TableRef
  readonly source: ConflictSource
}

/**
 * Whether the first name still is this table, or this view. Then that is listed, and told once as an event.
 * @param uuidOf loads a name as the same kind, and gives its uuid; throws a CatalogError where there is none
 * @throws Fault of the store or the upstream: then it is not known
 */
export async function hasTwoNames(
  store: Store,
  tenant: TenantId,
  { kind, fed: { owner, folders }, first, source }: KnownTable,
  uuidOf: (table: TableRef) => Promise<string | undefined>,
): Promise<boolean> {
  if (await isStill(uuidOf(first), owner.tableUuid)) {
    const location = folders[0]?.text ?? ''
    await noteSecondName(store, tenant, { owner, first, source, location })
    return true
  }
  await moveTableName(store, tenant, kind, owner, first)
  return false
}

async function isStill(load: Promise<string | undefined>, uuid: string | undefined): Promise<boolean> {
  try {
    return (await load) === uuid
  } catch (thrown) {
    if (thrown instanceof CatalogError && thrown.code === 'ErrTableNotFound') return false
    throw thrown
  }
}
