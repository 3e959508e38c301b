/**
 * The beta adapter: Project Nessie and compatible catalogs. The configuration selects the branch; it vends no
 * credentials.
 */

import { isJsonObject } from '../base/json.ts'
import type { CatalogCredential } from '../core/catalog.ts'
import type { Catalog } from './catalog.ts'
import { parseRestCatalogConfig } from './config.ts'
import { openRestCatalog } from './rest-client.ts'
import type { CatalogVariant, RestCatalogOptions } from './rest-session.ts'

/** RFC 3986 segment characters with complete escapes; '.' and '..' excluded, escaped or not. */
const pathSegment = /^(?!(?:\.|%2[eE]){1,2}$)(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+$/

const commitHash = /^[0-9a-f]{16,128}$/

const beta: CatalogVariant = {
  kind: 'beta',
  // Nessie replies with the prefix of the branch in the path before `v1`, or of its default branch.
  configPath: ({ branch }) => (branch === undefined ? '/v1/config' : `/${branch}/v1/config`),
  // Already encoded (`main%7Cwarehouse`), so it is used unchanged.
  prefixPath: (prefix) => (pathSegment.test(prefix) ? prefix : undefined),
  // Nessie replies 400 where the branch does not exist.
  isTableNotFound: ({ status, type }) => status === 400 && type === 'NoSuchReferenceException',
  // Nessie names an address of its own API, and writes the metadata file only at its first load.
  committedState({ metadataLocation, metadata }) {
    const properties = metadata.get('properties')
    if (!/^https?:/i.test(metadataLocation) || !isJsonObject(properties)) return undefined
    const [branch, hash] = ['nessie.commit.ref', 'nessie.commit.id'].map((key) => properties.get(key))
    if (typeof branch !== 'string' || typeof hash !== 'string' || !commitHash.test(hash)) return undefined
    return `@${branch}#${hash}`
  },
  // Nessie 0.99 does not check it.
  assertsAbsentRefs: false,
  checksRequirements: false,
}

/**
 * Opens a beta catalog.
 * @throws Fault `misconfigured` where the credential's configuration is invalid
 */
export function openBeta(credential: CatalogCredential, options: RestCatalogOptions): Catalog {
  return openRestCatalog(beta, parseRestCatalogConfig(credential, undefined), options)
}
