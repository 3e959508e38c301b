/** Catalog credentials as the store and the adapters share them (docs/reference/catalogs.md 1). */

import type { CatalogKind } from './catalog-kinds.ts'

/** A tenant's credential for one upstream catalog, decrypted; never logged, never returned by an API. */
export interface CatalogCredential {
  readonly id: string
  /** Rises with every change of the row. Every key of a cache of data that the credential gave includes it. */
  readonly version: number
  readonly kind: CatalogKind
  readonly nickname: string
  readonly endpoint: string
  readonly config: Readonly<Record<string, unknown>>
}

/** Identifies the catalog that a credential opens. Credentials with the same result see the same tables. */
export function catalogOf({
  kind,
  endpoint,
  config,
}: Pick<CatalogCredential, 'kind' | 'endpoint' | 'config'> & Partial<CatalogCredential>): string {
  const known = [kind, endpoint || config.endpoint, config.warehouse ?? null, config.branch ?? null]
  // A header may select the catalog, as Polaris-Realm does. It may be a secret, so its digest stands for it.
  const headers = Object.entries(config).filter(([name]) => name.startsWith('header.'))
  if (headers.length === 0) return JSON.stringify(known)
  const digest = new Bun.CryptoHasher('sha256').update(JSON.stringify(headers.toSorted())).digest('hex')
  return JSON.stringify([...known, digest])
}

/** The credential as the store holds it: its public members, and the sealed secrets. */
export interface SealedCatalogCredential extends CatalogCredential {
  readonly sealed: Uint8Array
}
