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
export function catalogOf({ kind, endpoint, config }: CatalogCredential): string {
  return JSON.stringify([kind, endpoint || config.endpoint, config.warehouse ?? null, config.branch ?? null])
}

/** The credential as the store holds it: its public members, and the sealed secrets. */
export interface SealedCatalogCredential extends CatalogCredential {
  readonly sealed: Uint8Array
}
