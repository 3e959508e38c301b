/** The gamma and delta adapters: named by SPEC 2.2, not live. Every operation but Capabilities is refused. */

import type { CatalogKind } from '../core/catalog.ts'
import { type Catalog, CatalogError, catalogCapabilities } from './catalog.ts'

/** A catalog whose operations fail with `ErrAdapterStub`, reads too: an empty answer would look like a fact. */
export function openStub(kind: CatalogKind): Catalog {
  const refuse = async (): Promise<never> => {
    throw new CatalogError('ErrAdapterStub', `Catalogs of kind ${kind} are not supported yet.`)
  }
  return {
    kind,
    assertsAbsentRefs: false,
    capabilities: () => catalogCapabilities[kind],
    listTables: refuse,
    getTable: refuse,
    loadTable: refuse,
    commitTable: refuse,
    expireSnapshots: refuse,
    offer: refuse,
    forward: refuse,
    close: () => {},
  }
}
