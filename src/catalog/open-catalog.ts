/** Opens the catalog of a credential, and caches open catalogs so that connections and tokens are reused. */

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
import { openAlpha } from './alpha.ts'
import { openBeta } from './beta.ts'
import type { Catalog } from './catalog.ts'
import type { RestCatalogOptions } from './rest-session.ts'
import { openStub } from './stub.ts'

/** Cached open catalogs with their configuration and tokens. */
const catalogPoolCount = 1_000

type OpenAdapter = (credential: CatalogCredential, options: RestCatalogOptions) => Catalog

const adapters: Readonly<Record<LiveCatalogKind, OpenAdapter>> = { alpha: openAlpha, beta: openBeta }

/**
 * Opens the upstream catalog of a credential; sends nothing yet.
 * @throws Fault `misconfigured` where the credential's configuration is invalid
 */
export function openCatalog(credential: CatalogCredential, options: RestCatalogOptions): Catalog {
  const { kind } = credential
  return isLiveCatalogKind(kind) ? adapters[kind](credential, options) : openStub(kind)
}

/**
 * The start-up check of docs/reference/catalogs.md 2.2.
 * @throws Fault `misconfigured` where a configured catalog is of a kind without an adapter
 */
export function assertNoStubKinds(kinds: Iterable<CatalogKind>): void {
  const stubs = [...new Set(kinds)].filter((kind) => !isLiveCatalogKind(kind))
  if (stubs.length > 0)
    throw new Fault(
      'misconfigured',
      `No live adapter for catalog_kind ${stubs.join(', ')}: use ${liveCatalogKinds.join(' or ')}.`,
    )
}

/** A cache of open catalogs by credential and its version. */
export class OpenCatalogs {
  readonly #open: Lru<string, Catalog>

  constructor(
    readonly options: RestCatalogOptions,
    countMax: number = catalogPoolCount,
  ) {
    this.#open = new Lru(countMax)
  }

  /**
   * The open catalog of a credential. The caller must not close it.
   * @throws Fault `misconfigured` where the credential's configuration is invalid
   */
  get(tenantId: TenantId, credential: CatalogCredential): Catalog {
    const key = cacheKey(tenantId, credential.id, credential.version)
    const cached = this.#open.get(key)
    if (cached !== undefined) return cached
    const catalog = openCatalog(credential, this.options)
    this.#open.set(key, catalog)
    // The catalog of the previous version, with its tokens, is no longer used.
    this.#open.delete(cacheKey(tenantId, credential.id, credential.version - 1))
    return catalog
  }

  /** Runs work that needs no upstream's response once it has ended, so that their bytes are released then. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const { budget } = this.options
    return budget === undefined ? await work() : await budget.during(work)
  }

  /** Drops every catalog with its tokens; requests in flight finish. */
  close(): void {
    this.#open.clear()
  }
}

function cacheKey(tenantId: TenantId, credentialId: string, version: number): string {
  return JSON.stringify([tenantId, credentialId, version])
}
