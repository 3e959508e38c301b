/** The alpha adapter: Apache Polaris and compatible catalogs. It has no branches and vends credentials. */

import type { CatalogCredential } from '../core/catalog.ts'
import type { Catalog } from './catalog.ts'
import { parseRestCatalogConfig } from './config.ts'
import { openRestCatalog } from './rest-client.ts'
import type { CatalogVariant, RestCatalogOptions } from './rest-session.ts'

const alpha: CatalogVariant = {
  kind: 'alpha',
  configPath: () => '/v1/config',
  prefixPath,
  isTableNotFound: () => false,
  committedState: () => undefined,
  assertsAbsentRefs: true,
  checksRequirements: true,
}

/** RFC 3986 segment characters with at least one complete escape. */
const escapedSegment = /^(?=.*%)(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+$/

/**
 * Polaris sends its catalog's name unencoded, S3 Tables an encoded ARN, Glue and others several segments. `.` and `..`
 * are refused, escaped or not.
 */
function prefixPath(prefix: string): string | undefined {
  const segments = prefix.split('/')
  if (segments.some((one) => one === '' || /^(?:\.|%2[eE]){1,2}$/.test(one))) return undefined
  return segments.map((one) => (escapedSegment.test(one) ? one : encodeURIComponent(one))).join('/')
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
