/** What stands in for the adapter of a kind that is not live. Every operation but Capabilities is refused. */

import { type CatalogKind, capabilitiesOf } from '../core/catalog-kinds.ts'
import { type Catalog, CatalogError } from './catalog.ts'

/** A catalog whose operations fail with `ErrAdapterStub`, reads too: an empty answer would look like a fact. */
export function openStub(kind: CatalogKind): Catalog {
  const refuse = async (): Promise<never> => {
    throw new CatalogError('ErrAdapterStub', `Catalogs of kind ${kind} are not supported yet.`)
  }
  return {
    kind,
    assertsAbsentRefs: false,
    capabilities: () => capabilitiesOf(kind),
    listTables: refuse,
    getTable: refuse,
    loadTable: refuse,
    commitTable: refuse,
    commitTables: refuse,
    expireSnapshots: refuse,
    offer: refuse,
    forward: refuse,
    close: () => {},
  }
}
