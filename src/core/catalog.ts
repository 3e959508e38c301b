/** Catalog credentials as the rest of the product names them (docs/reference/catalogs.md 1). */

import type { CatalogKind } from './catalog-kinds.ts'

/** A tenant's credential for one upstream catalog, decrypted; never logged, never returned by an API. */
export interface CatalogCredential {
  readonly id: string
  /** Rises with every change of the row; part of every cache key that holds what the credential gave. */
  readonly version: number
  readonly kind: CatalogKind
  readonly nickname: string
  readonly endpoint: string
  readonly config: Readonly<Record<string, unknown>>
}

/** Which catalog a credential leads to, whatever it is opened by: those with the same one see the same tables. */
export function catalogOf({ kind, endpoint, config }: CatalogCredential): string {
  return JSON.stringify([kind, endpoint || config.endpoint, config.warehouse ?? null, config.branch ?? null])
}

/** The same as the store keeps it: what may be shown, and what is sealed. */
export interface SealedCatalogCredential extends CatalogCredential {
  readonly sealed: Uint8Array
}
