/** The alpha adapter: Apache Polaris and what speaks like it. No branches; vends credentials. */

import type { CatalogCredential } from '../core/catalog.ts'
import type { Catalog } from './catalog.ts'
import { parseRestCatalogConfig } from './config.ts'
import { openRestCatalog } from './rest-client.ts'
import type { Dialect, RestCatalogOptions } from './rest-session.ts'

const alpha: Dialect = {
  kind: 'alpha',
  configPath: () => '/v1/config',
  // Polaris gives its catalog's name as it is.
  prefixPath: (prefix) => (/^\.{1,2}$/.test(prefix) ? undefined : encodeURIComponent(prefix)),
  isTableNotFound: () => false,
  committedState: () => undefined,
  assertsAbsentRefs: true,
}

/** Polaris grants nothing without a role; this one stands for all roles of the client. */
const scopeDefault = 'PRINCIPAL_ROLE:ALL'

/** @throws Fault `misconfigured` where the credential's configuration cannot be used */
export function openAlpha(credential: CatalogCredential, options: RestCatalogOptions): Catalog {
  return openRestCatalog(alpha, parseRestCatalogConfig(credential, scopeDefault), options)
}
