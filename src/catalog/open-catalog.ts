/** From a catalog credential to an open catalog, and the pool that keeps connections and tokens in use. */

import { Fault } from '../base/fault.ts'
import { Lru } from '../base/lru.ts'
import type { CatalogCredential } from '../core/catalog.ts'
import {
  type CatalogKind,
  isLiveCatalogKind,
  type LiveCatalogKind,
  liveCatalogKinds,
} from '../core/catalog-kinds.ts'
import type { TenantId } from '../core/tenant.ts'
import { limits } from '../limits.ts'
import { openAlpha } from './alpha.ts'
import { openBeta } from './beta.ts'
import type { Catalog } from './catalog.ts'
import type { RestCatalogOptions } from './rest-session.ts'
import { openStub } from './stub.ts'

type OpenAdapter = (credential: CatalogCredential, options: RestCatalogOptions) => Catalog

const adapters: Readonly<Record<LiveCatalogKind, OpenAdapter>> = { alpha: openAlpha, beta: openBeta }

/**
 * Opens the upstream catalog that a credential names; nothing is sent yet.
 * @throws Fault `misconfigured` where the credential's configuration cannot be used
 */
export function openCatalog(credential: CatalogCredential, options: RestCatalogOptions): Catalog {
  const { kind } = credential
  return isLiveCatalogKind(kind) ? adapters[kind](credential, options) : openStub(kind)
}

/**
 * The start-up check of docs/reference/catalogs.md 2.2.
 * @throws Fault `misconfigured` where a configured catalog is of a kind that is not live
 */
export function assertNoStubKinds(kinds: Iterable<CatalogKind>): void {
  const stubs = [...new Set(kinds)].filter((kind) => !isLiveCatalogKind(kind))
  if (stubs.length > 0)
    throw new Fault(
      'misconfigured',
      `No live adapter for catalog_kind ${stubs.join(', ')}: use ${liveCatalogKinds.join(' or ')}.`,
    )
}

/** Open catalogs, each for as long as its credential's version is in use. */
export class CatalogPool {
  readonly #open: Lru<string, Catalog>

  constructor(
    readonly options: RestCatalogOptions,
    countMax: number = limits.catalogPoolCount,
  ) {
    this.#open = new Lru(countMax)
  }

  /**
   * The open catalog of a credential. Its holder must not close it.
   * @throws Fault `misconfigured` where the credential's configuration cannot be used
   */
  get(tenantId: TenantId, credential: CatalogCredential): Catalog {
    const key = poolKey(tenantId, credential.id, credential.version)
    const known = this.#open.get(key)
    if (known !== undefined) return known
    const catalog = openCatalog(credential, this.options)
    this.#open.set(key, catalog)
    // What the version before gave, its tokens above all, is of no more use.
    this.#open.delete(poolKey(tenantId, credential.id, credential.version - 1))
    return catalog
  }

  /** Forgets every catalog with its tokens; requests under way finish. */
  close(): void {
    this.#open.clear()
  }
}

function poolKey(tenantId: TenantId, credentialId: string, version: number): string {
  return JSON.stringify([tenantId, credentialId, version])
}
