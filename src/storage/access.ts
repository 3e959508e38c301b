/**
 * Finds the catalog credential for a detection run and what it may read: its registered storage roots, with its own
 * storage credentials. This process's own credentials are never used.
 */

import { type AddressRules, PinnedHost } from '../catalog/address.ts'
import type { CatalogCredential } from '../core/catalog.ts'
import type { TenantId } from '../core/tenant.ts'
import {
  findCatalogCredential,
  listCatalogCredentials,
} from '../store/catalog-credential/catalog-credentials.ts'
import { everyItem } from '../store/database/page.ts'
import type { ClaimedRun } from '../store/detection/claims.ts'
import type { Store } from '../store/store.ts'
import { parseRoots, rootMatchLength } from './locations.ts'
import { ReadFailure } from './read-failure.ts'
import { storageRoots } from './roots.ts'
import { bucketUrl, type S3Access, type StorageAccess } from './storage.ts'

/**
 * The credential for a run whose trigger named none, or one that was removed. It has the longest storage root above the
 * location.
 * @throws ReadFailure where there is none
 */
export async function credentialAbove(store: Store, run: ClaimedRun): Promise<CatalogCredential> {
  const found = await credentialByRoot(store, run.tenant, run.metadataLocation)
  if (found !== undefined) return found
  throw new ReadFailure('no catalog credential registers a storage root above the metadata location')
}

/** The tenant's credential with the longest storage root above a location, or undefined. */
export async function credentialByRoot(
  store: Store,
  tenant: TenantId,
  location: string,
): Promise<CatalogCredential | undefined> {
  let best: { nickname: string; length: number } | undefined
  for await (const { nickname, config } of everyItem((page) => listCatalogCredentials(store, tenant, page))) {
    const length = rootMatchLength(location, storageRoots(config))
    if (length > (best?.length ?? 0)) best = { nickname, length }
  }
  return best && (await findCatalogCredential(store, tenant, best.nickname))
}

/**
 * What a credential may read with its own storage credentials.
 * @throws ReadFailure where its storage endpoint may not be reached
 */
export async function storageAccess(
  { config }: CatalogCredential,
  rules: AddressRules,
): Promise<StorageAccess> {
  const s3 = s3Access(config)
  const roots = storageRoots(config)
  return { roots, s3: s3 && (await reachable(s3, roots, rules, 'of the catalog credential')) }
}

/** The S3 settings, which have the names of Iceberg clients; undefined where the keys are missing. */
export function s3Access(config: Readonly<Record<string, unknown>>): S3Access | undefined {
  const text = (...names: readonly string[]) =>
    names
      .map((name) => config[name])
      .find((value): value is string => typeof value === 'string' && value !== '')
  const accessKeyId = text('s3.access-key-id')
  const secretAccessKey = text('s3.secret-access-key')
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined
  const region = text('s3.region', 'client.region', 'region') ?? 'us-east-1'
  const endpoint = text('s3.endpoint')
  return {
    // Always set, because an absent endpoint would come from the environment.
    endpoint: endpoint ?? `https://s3.${region}.amazonaws.com`,
    region,
    accessKeyId,
    secretAccessKey,
    sessionToken: text('s3.session-token'),
    virtualHosted: String(config['s3.path-style-access'] ?? '') === 'false' && endpoint !== undefined,
  }
}

/**
 * Adds the checked addresses of the hosts that serve the buckets of `roots`.
 * @param whose completes the failure's sentence
 * @throws ReadFailure where a host has no allowed address
 */
export async function reachable(
  s3: S3Access,
  roots: readonly string[],
  rules: AddressRules,
  whose: string,
): Promise<S3Access> {
  const endpoint = URL.parse(s3.endpoint)
  if (endpoint === null || (endpoint.protocol !== 'https:' && endpoint.protocol !== 'http:'))
    throw new ReadFailure(`the s3.endpoint ${whose} is not an http or https URL`)
  const buckets = parseRoots(roots).flatMap((root) => (root.kind === 's3' ? [root.bucket] : []))
  const urls = new Map(
    buckets.map((bucket) => bucketUrl(s3, bucket)).map((url) => [url.hostname, url] as const),
  )
  try {
    const addresses = [...urls].map(
      async ([host, url]) => [host, await new PinnedHost(url, rules).addresses()] as const,
    )
    return { ...s3, addresses: Object.fromEntries(await Promise.all(addresses)) }
  } catch {
    throw new ReadFailure(`the s3.endpoint ${whose} does not resolve to an allowed address`, true)
  }
}
