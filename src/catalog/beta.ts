/** The beta adapter: Project Nessie and what speaks like it. Branches, chosen by the configuration; no vending. */

import type { CatalogCredential } from '../core/catalog.ts'
import type { Catalog } from './catalog.ts'
import { parseRestCatalogConfig } from './config.ts'
import { type Dialect, openRestCatalog, type RestCatalogOptions } from './rest-client.ts'

/** RFC 3986 segment characters with complete escapes; '.' and '..' excluded, escaped or not. */
const pathSegment = /^(?!(?:\.|%2[eE]){1,2}$)(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+$/

const beta: Dialect = {
  kind: 'beta',
  // Nessie answers with the prefix of the branch that stands before `v1`; without one, of its default branch.
  configPath: ({ branch }) => (branch === undefined ? '/v1/config' : `/${branch}/v1/config`),
  // Already encoded (`main%7Cwarehouse`), so it is used as it came.
  prefixPath: (prefix) => (pathSegment.test(prefix) ? prefix : undefined),
  // Nessie answers 400 where the branch does not exist.
  isTableNotFound: ({ status, type }) => status === 400 && type === 'NoSuchReferenceException',
}

/** @throws Fault `misconfigured` where the credential's configuration cannot be used */
export function openBeta(credential: CatalogCredential, options: RestCatalogOptions): Catalog {
  return openRestCatalog(beta, parseRestCatalogConfig(credential, undefined), options)
}
