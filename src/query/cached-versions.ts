/**
 * The governance version of each tenant, cached, with the time at which the store last confirmed it. The store
 * notifies of new versions. A silent connection cannot be told from a lost one, so a tenant whose rows are being
 * read is asked about as well, at most once a second for all of its runs.
 */

import { Lru } from '../base/lru.ts'
import type { Pace } from '../base/right-of-way.ts'
import type { TenantId } from '../core/tenant.ts'
import { limits } from '../limits.ts'
import {
  readGovernanceVersion,
  subscribeToGovernanceVersions,
} from '../store/governance/governance-versions.ts'
import type { Store } from '../store/store.ts'

interface CachedVersion {
  readonly version: bigint
  /** When the store was last asked, of the calls that it answered. */
  readonly askedMs: number
}

/** `stale`: the cached version is too old for a row to rest on. */
export type Standing = 'same' | 'changed' | 'stale'

export class CachedVersions {
  readonly #cached = new Lru<TenantId, CachedVersion>(limits.cachedVersionsCount)
  readonly #asking = new Map<TenantId, Promise<void>>()

  constructor(
    readonly store: Store,
    readonly pace: Pace,
  ) {
    subscribeToGovernanceVersions(store, (tenant, version) =>
      this.learn(tenant, version, Number.NEGATIVE_INFINITY),
    )
  }

  /** @param askedMs by the pace's clock, before the store was asked; -∞ where the store notified by itself */
  learn(tenant: TenantId, version: bigint, askedMs: number): void {
    const cached = this.#cached.get(tenant)
    this.#cached.set(tenant, {
      version: cached === undefined || version > cached.version ? version : cached.version,
      askedMs: Math.max(cached?.askedMs ?? askedMs, askedMs),
    })
  }

  /** How a version that a run was loaded under stands now. Answers from memory; a refresh may begin beside it. */
  standing(tenant: TenantId, version: bigint): Standing {
    const cached = this.#cached.get(tenant)
    if (cached === undefined) return 'stale'
    if (cached.version > version) return 'changed'
    const ageMs = this.pace.now() - cached.askedMs
    if (ageMs > limits.governanceStaleMs) return 'stale'
    // A refresh that fails is tried again, and missed once the version is stale.
    if (ageMs > limits.governanceAskMs) this.refresh(tenant).catch(() => {})
    return 'same'
  }

  /** Asks the store, unless a call is under way. @throws Fault of the store */
  refresh(tenant: TenantId): Promise<void> {
    const asking = this.#asking.get(tenant)
    if (asking !== undefined) return asking
    const asked = this.#ask(tenant).finally(() => this.#asking.delete(tenant))
    this.#asking.set(tenant, asked)
    return asked
  }

  async #ask(tenant: TenantId): Promise<void> {
    const askedMs = this.pace.now()
    this.learn(tenant, await readGovernanceVersion(this.store, tenant), askedMs)
  }
}
