/** The alpha adapter: Apache Polaris and compatible catalogs. It has no branches and vends credentials. */

import type { CatalogCredential } from '../core/catalog.ts'
import type { Catalog } from './catalog.ts'
import { parseRestCatalogConfig } from './config.ts'
import { openRestCatalog } from './rest-client.ts'
import type { CatalogVariant, RestCatalogOptions } from './rest-session.ts'

const alpha: CatalogVariant = {
  kind: 'alpha',
  configPath: () => '/v1/config',
  // Polaris sends its catalog's name unencoded.
  prefixPath: (prefix) => (/^\.{1,2}$/.test(prefix) ? undefined : encodeURIComponent(prefix)),
  isTableNotFound: () => false,
  committedState: () => undefined,
  assertsAbsentRefs: true,
}

/** Polaris grants nothing without a role; this scope selects all roles of the client. */
const scopeDefault = 'PRINCIPAL_ROLE:ALL'

/**
 * Opens an alpha catalog.
 * @throws Fault `misconfigured` where the credential's configuration is invalid
 */
export function openAlpha(credential: CatalogCredential, options: RestCatalogOptions): Catalog {
  return openRestCatalog(alpha, parseRestCatalogConfig(credential, scopeDefault), options)
}
