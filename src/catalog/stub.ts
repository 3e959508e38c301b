/** The stub for a catalog kind without an adapter. It refuses every operation but Capabilities. */

import { type CatalogKind, capabilitiesOf } from '../core/catalog-kinds.ts'
import { type Catalog, CatalogError } from './catalog.ts'

/**
 * A catalog whose operations fail with `ErrAdapterStub`. Reads fail too, because an empty response would look like a
 * fact.
 */
export function openStub(kind: CatalogKind): Catalog {
  const refuse = async (): Promise<never> => {
    throw new CatalogError('ErrAdapterStub', `Catalogs of kind ${kind} are not supported yet.`)
  }
  return {
    kind,
    assertsAbsentRefs: false,
    checksRequirements: false,
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
