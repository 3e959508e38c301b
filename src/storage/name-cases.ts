/**
 * Finds out whether the catalog of a credential folds names, where its settings leave that open: asks the catalog once,
 * and has the store keep the answer. Does not fold names itself (core/name-case.ts).
 */

import { Lru } from '../base/lru.ts'
import { askNameCase } from '../catalog/ask-name-case.ts'
import type { OpenCatalogs } from '../catalog/open-catalog.ts'
import type { CatalogCredential } from '../core/catalog.ts'
import { type NameCase, nameCaseOf, withNameCase } from '../core/name-case.ts'
import type { TenantId } from '../core/tenant.ts'
import { recordNameCase } from '../store/catalog-credential/name-case.ts'
import type { Store } from '../store/store.ts'

/** Milliseconds in which a catalog must tell. */
const askMs = 20_000
/** Milliseconds for which a catalog that holds nothing by which to tell is not asked again. */
const unknownMs = 60_000
/** Of as many credentials. */
const unknownCountMax = 1_000

/** Until when, by `performance.now()`, a credential's catalog is taken not to tell, by the process's catalogs: each request asks through them. */
const unknownUntil = new WeakMap<OpenCatalogs, Lru<string, number>>()

export class NameCases {
  /** Questions under way, so that many requests ask once. */
  readonly #asking = new Map<string, Promise<NameCase>>()

  /** @param nowMs does not go back, nor jump where the time of the machine is set */
  constructor(
    readonly store: Store,
    readonly catalogs: OpenCatalogs,
    readonly nowMs: () => number = () => performance.now(),
  ) {}

  /**
   * The credential with what is known of its catalog's names; unchanged where the catalog holds nothing that tells.
   * @throws CatalogError, Fault of the upstream or the store: then it is not known
   */
  async settle(tenant: TenantId, credential: CatalogCredential): Promise<CatalogCredential> {
    if (nameCaseOf(credential) !== 'unknown') return credential
    const found = await this.#ask(tenant, credential)
    return found === 'unknown' ? credential : withNameCase(credential, found)
  }

  async #ask(tenant: TenantId, credential: CatalogCredential): Promise<NameCase> {
    const key = JSON.stringify([tenant, credential.id, credential.version])
    const unknown = unknownUntil.get(this.catalogs) ?? new Lru(unknownCountMax)
    unknownUntil.set(this.catalogs, unknown)
    if ((unknown.get(key) ?? Number.NEGATIVE_INFINITY) > this.nowMs()) return 'unknown'
    const running = this.#asking.get(key)
    if (running !== undefined) return await running
    const asking = this.#askOnce(tenant, credential)
    this.#asking.set(key, asking)
    try {
      const found = await asking
      if (found === 'unknown') unknown.set(key, this.nowMs() + unknownMs)
      return found
    } finally {
      this.#asking.delete(key)
    }
  }

  async #askOnce(tenant: TenantId, credential: CatalogCredential): Promise<NameCase> {
    const catalog = this.catalogs.get(tenant, credential)
    const found = await askNameCase(catalog, AbortSignal.timeout(askMs))
    if (found !== 'unknown') await recordNameCase(this.store, tenant, credential, found)
    return found
  }
}
