/** Defines an upstream catalog of a tenant: its credential and its adapter. */

import type { Catalog } from '../../catalog/catalog.ts'
import type { CatalogCredential } from '../../core/catalog.ts'

export interface Upstream {
  readonly credential: CatalogCredential
  readonly catalog: Catalog
}
