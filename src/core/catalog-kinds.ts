/**
 * Describes the kinds of upstream catalogs (docs/reference/catalogs.md 2.1). A live kind also has an adapter, which
 * src/catalog/open-catalog.ts names. Everything else that depends on the kind is derived from here.
 */

import {
  branchSettings,
  type CatalogSettings,
  commonSettings,
  vendingSettings,
  webhookSettings,
} from './catalog-settings.ts'

export interface CatalogCapabilities {
  readonly live: boolean
  readonly branches: boolean
  readonly credentialVending: boolean
  readonly webhooks: boolean
  /** Whether `transactions/commit` is proven to change every table or none. A credential may say it of its catalog. */
  readonly atomicTransactions: boolean
  /** Levels that a namespace may have; 0 where the kind is a stub. */
  readonly namespaceDepthMax: number
}

interface CatalogKindDescriptor {
  readonly capabilities: CatalogCapabilities
  /** The members of `config_json`. */
  readonly settings: CatalogSettings
}

const stub = {
  capabilities: {
    live: false,
    branches: false,
    credentialVending: false,
    webhooks: false,
    atomicTransactions: false,
    namespaceDepthMax: 0,
  },
  settings: {},
} as const

/** By `catalog_kind`. */
export const catalogKindDescriptors = {
  alpha: {
    capabilities: {
      live: true,
      branches: false,
      credentialVending: true,
      webhooks: true,
      // Not of every catalog that speaks like Polaris: Iceberg's own server writes table after table.
      atomicTransactions: false,
      namespaceDepthMax: 100,
    },
    settings: { ...commonSettings, ...webhookSettings, ...vendingSettings },
  },
  beta: {
    capabilities: {
      live: true,
      branches: true,
      credentialVending: false,
      webhooks: false,
      // One Nessie commit holds all tables of a transaction.
      atomicTransactions: true,
      namespaceDepthMax: 1,
    },
    settings: { ...commonSettings, ...branchSettings },
  },
  gamma: stub,
  delta: stub,
} as const satisfies Readonly<Record<string, CatalogKindDescriptor>>

type Descriptors = typeof catalogKindDescriptors

export type CatalogKind = keyof Descriptors

/** A kind that has an adapter. */
export type LiveCatalogKind = {
  [Kind in CatalogKind]: Descriptors[Kind]['capabilities']['live'] extends true ? Kind : never
}[CatalogKind]

export const catalogKinds = Object.keys(catalogKindDescriptors) as CatalogKind[] as readonly CatalogKind[]

export const liveCatalogKinds: readonly LiveCatalogKind[] = catalogKinds.filter(
  (kind): kind is LiveCatalogKind => catalogKindDescriptors[kind].capabilities.live,
)

/** Whether `text` is a `catalog_kind`, in its exact spelling. */
export function isCatalogKind(text: string): text is CatalogKind {
  return (catalogKinds as readonly string[]).includes(text)
}

/** Whether this version has an adapter for the kind. */
export function isLiveCatalogKind(kind: CatalogKind): kind is LiveCatalogKind {
  return (liveCatalogKinds as readonly CatalogKind[]).includes(kind)
}

/** What catalogs of this kind can do. */
export function capabilitiesOf(kind: CatalogKind): CatalogCapabilities {
  return catalogKindDescriptors[kind].capabilities
}
