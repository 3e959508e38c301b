/**
 * Finds the governed tables that a dataset may be. An engine whose catalog is the gateway names it: the dataset or a
 * symlink has the catalog URI `…/v1/iceberg/{prefix}` as namespace. A bare name is no claim, because `public.orders`
 * of some other database must not pass for a table of the lakehouse.
 */

import { isJsonObject, type JsonObject } from '../base/json.ts'
import type { LineageName, TableClaim } from '../core/lineage.ts'
import { isPathIdentifier } from '../core/table-ref.ts'

const gatewayUri = /^https?:\/\/.*\/v1\/iceberg\/([a-zA-Z0-9_-]+)(?:\/v1)?\/?$/
/** The prefix itself, alone or as the authority of a URI: `main`, `iceberg://main`. */
const bareUri = /^(?:iceberg:\/\/)?([a-zA-Z0-9_-]+)\/?$/

const claimsMax = 8

/** The tables that a dataset's name and its symlinks (SymlinksDatasetFacet) claim, at most eight. */
export function tableClaims(name: LineageName, facets: JsonObject | undefined): readonly TableClaim[] {
  const claims = [name, ...symlinks(facets)].flatMap(claimOf)
  return claims.slice(0, claimsMax)
}

function claimOf({ namespace, name }: LineageName): readonly TableClaim[] {
  const prefix = (gatewayUri.exec(namespace) ?? bareUri.exec(namespace))?.[1]
  const levels = name.split('.')
  if (prefix === undefined || levels.length < 2 || !levels.every(isPathIdentifier)) return []
  return [{ prefix, levels }]
}

function symlinks(facets: JsonObject | undefined): readonly LineageName[] {
  const facet = facets?.get('symlinks')
  const identifiers = isJsonObject(facet) ? facet.get('identifiers') : undefined
  if (!Array.isArray(identifiers)) return []
  return identifiers.slice(0, claimsMax).flatMap((identifier) => {
    if (!isJsonObject(identifier)) return []
    const [namespace, name] = [identifier.get('namespace'), identifier.get('name')]
    return typeof namespace === 'string' && typeof name === 'string' ? [{ namespace, name }] : []
  })
}
