/** Upstream catalogs as the rest of the product names them (SPEC 2.2). */

export const catalogKinds = ['alpha', 'beta', 'gamma', 'delta'] as const
export type CatalogKind = (typeof catalogKinds)[number]

/** Whether `text` is a catalog_kind of SPEC 2.2, in its exact spelling. */
export function isCatalogKind(text: string): text is CatalogKind {
  return (catalogKinds as readonly string[]).includes(text)
}

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
