/** The beta adapter: Project Nessie and what speaks like it. Branches, chosen by the configuration; no vending. */

import { isJsonObject } from '../base/json.ts'
import type { CatalogCredential } from '../core/catalog.ts'
import type { Catalog } from './catalog.ts'
import { parseRestCatalogConfig } from './config.ts'
import { openRestCatalog } from './rest-client.ts'
import type { Dialect, RestCatalogOptions } from './rest-session.ts'

/** RFC 3986 segment characters with complete escapes; '.' and '..' excluded, escaped or not. */
const pathSegment = /^(?!(?:\.|%2[eE]){1,2}$)(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+$/

const commitHash = /^[0-9a-f]{16,128}$/

const beta: Dialect = {
  kind: 'beta',
  // Nessie answers with the prefix of the branch that stands before `v1`; without one, of its default branch.
  configPath: ({ branch }) => (branch === undefined ? '/v1/config' : `/${branch}/v1/config`),
  // Already encoded (`main%7Cwarehouse`), so it is used as it came.
  prefixPath: (prefix) => (pathSegment.test(prefix) ? prefix : undefined),
  // Nessie answers 400 where the branch does not exist.
  isTableNotFound: ({ status, type }) => status === 400 && type === 'NoSuchReferenceException',
  // Nessie names an address of its own API, and writes the file when it is first loaded.
  committedState({ metadataLocation, metadata }) {
    const properties = metadata.get('properties')
    if (!/^https?:/i.test(metadataLocation) || !isJsonObject(properties)) return undefined
    const [branch, hash] = ['nessie.commit.ref', 'nessie.commit.id'].map((key) => properties.get(key))
    if (typeof branch !== 'string' || typeof hash !== 'string' || !commitHash.test(hash)) return undefined
    return `@${branch}#${hash}`
  },
  // Nessie 0.99 takes it as true.
  assertsAbsentRefs: false,
}

/** @throws Fault `misconfigured` where the credential's configuration cannot be used */
export function openBeta(credential: CatalogCredential, options: RestCatalogOptions): Catalog {
  return openRestCatalog(beta, parseRestCatalogConfig(credential, undefined), options)
}
