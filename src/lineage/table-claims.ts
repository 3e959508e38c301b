/**
 * Finds the governed tables that a dataset may be. An engine whose catalog is the gateway names it: the dataset or a
 * symlink has the catalog URI `…/v1/iceberg/{prefix}` as namespace. Any other namespace is a claim only where the
 * tenant maps it to a catalog, because `public.orders` of some other database must not pass for a table of the
 * lakehouse.
 */

import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts'
import type { LineageDataset, LineageName, MappedClaim, TableClaim } from '../core/lineage.ts'
import { isPathIdentifier } from '../core/table-ref.ts'
import { canonicalName, datasetLevels } from './dataset-levels.ts'

const gatewayUri = /^https?:\/\/.*\/v1\/iceberg\/([a-zA-Z0-9_-]+)(?:\/v1)?\/?$/
/** The prefix itself, alone or as the authority of a URI: `main`, `iceberg://main`. */
const bareUri = /^(?:iceberg:\/\/)?([a-zA-Z0-9_-]+)\/?$/

const claimsMax = 8

/** What a dataset's name and its symlinks (SymlinksDatasetFacet) say of its table, at most eight claims of a kind. */
export function describeDataset(name: LineageName, facets: JsonObject | undefined): LineageDataset {
  const names = [name, ...symlinks(facets)]
  // A former name says nothing of the table that the dataset is now.
  const others = distinctNames([...names, ...formerName(facets)].flatMap((one) => [one, canonicalName(one)]))
  return {
    ...name,
    tableClaims: names.flatMap(claimOf).slice(0, claimsMax),
    mappedClaims: names.flatMap(mappedClaimsOf).slice(0, claimsMax),
    aliases: others
      .filter((other) => other.namespace !== name.namespace || other.name !== name.name)
      .map((other) => ({ ...other, isTableName: claimOf(other).length > 0 })),
  }
}

function distinctNames(names: readonly LineageName[]): readonly LineageName[] {
  return [...new Map(names.map((one) => [`${one.namespace}\u001f${one.name}`, one])).values()]
}

/** The name before a rename (LifecycleStateChangeDatasetFacet). */
function formerName(facets: JsonObject | undefined): readonly LineageName[] {
  const facet = facets?.get('lifecycleStateChange')
  if (!isJsonObject(facet) || facet.get('lifecycleStateChange') !== 'RENAME') return []
  return identifierOf(facet.get('previousIdentifier'))
}

function claimOf({ namespace, name }: LineageName): readonly TableClaim[] {
  const prefix = (gatewayUri.exec(namespace) ?? bareUri.exec(namespace))?.[1]
  const levels = name.split('.')
  if (prefix === undefined || levels.length < 2 || !levels.every(isPathIdentifier)) return []
  return [{ prefix, levels }]
}

/** A mapping that names the first level is meant more exactly than one of the whole namespace. */
function mappedClaimsOf(dataset: LineageName): readonly MappedClaim[] {
  const found = datasetLevels(dataset)
  if (found === undefined || claimOf(dataset).length > 0) return []
  const { namespace } = dataset
  const { levels, isCatalogFirst } = found
  const [first = '', ...rest] = levels
  const exact = rest.length < 2 ? [] : [{ namespace, firstLevel: first, levels: rest }]
  return [...exact, { namespace, firstLevel: '', levels: isCatalogFirst ? rest : levels }]
}

/** Names are joined by U+001F in keys, and PostgreSQL stores no U+0000. */
export function isStorableName({ namespace, name }: LineageName): boolean {
  return !['\u001f', '\0'].some((character) => `${namespace}${name}`.includes(character))
}

function symlinks(facets: JsonObject | undefined): readonly LineageName[] {
  const facet = facets?.get('symlinks')
  const identifiers = isJsonObject(facet) ? facet.get('identifiers') : undefined
  if (!Array.isArray(identifiers)) return []
  return identifiers.slice(0, claimsMax).flatMap(identifierOf)
}

function identifierOf(identifier: JsonValue | undefined): readonly LineageName[] {
  if (!isJsonObject(identifier)) return []
  const [namespace, name] = [identifier.get('namespace'), identifier.get('name')]
  if (typeof namespace !== 'string' || typeof name !== 'string' || namespace === '' || name === '') return []
  // Such a name could not be told from another, or not be stored.
  return isStorableName({ namespace, name }) ? [{ namespace, name }] : []
}
