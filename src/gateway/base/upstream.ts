/** One upstream catalog of a tenant: its credential, and the adapter that talks to it. */

import type { Catalog } from '../../catalog/catalog.ts'
import type { CatalogCredential } from '../../core/catalog.ts'

export interface Upstream {
  readonly credential: CatalogCredential
  readonly catalog: Catalog
}
