/**
 * Caches the governance version of each tenant and when the store last confirmed it. The store notifies of new
 * versions. A lost connection looks like a silent one, so the version of a tenant with open runs is also refreshed.
 * That takes at most one call a second for all its runs.
 */

import { Lru } from '../../../base/lru.ts'
import type { Pace } from '../../../base/right-of-way.ts'
import type { TenantId } from '../../../core/tenant.ts'
import { limits } from '../../../limits.ts'
import {
  readGovernanceVersion,
  subscribeToGovernanceVersions,
} from '../../../store/governance/governance-versions.ts'
import type { Store } from '../../../store/store.ts'

/** Tenants whose governance version is cached. */
const cachedVersionsCount = 10_000

interface CachedVersion {
  readonly version: bigint
  /** Start of the last call to the store that succeeded. */
  readonly askedMs: number
}

/** `stale`: the cached version is too old to send rows by. */
type Standing = 'same' | 'changed' | 'stale'

export class CachedVersions {
  readonly #cached = new Lru<TenantId, CachedVersion>(cachedVersionsCount)
  readonly #asking = new Map<TenantId, Promise<void>>()

  constructor(
    readonly store: Store,
    readonly pace: Pace,
  ) {
    subscribeToGovernanceVersions(store, (tenant, version) =>
      this.learn(tenant, version, Number.NEGATIVE_INFINITY),
    )
  }

  /** @param askedMs the pace's clock before the store was asked; -∞ for a notification */
  learn(tenant: TenantId, version: bigint, askedMs: number): void {
    const cached = this.#cached.get(tenant)
    this.#cached.set(tenant, {
      version: cached === undefined || version > cached.version ? version : cached.version,
      askedMs: Math.max(cached?.askedMs ?? askedMs, askedMs),
    })
  }

  /** Compares a run's version with the cached one. It does not wait, but may start a refresh. */
  standing(tenant: TenantId, version: bigint): Standing {
    const cached = this.#cached.get(tenant)
    if (cached === undefined) return 'stale'
    if (cached.version > version) return 'changed'
    const ageMs = this.pace.now() - cached.askedMs
    if (ageMs > limits.governanceStaleMs) return 'stale'
    // A failed refresh is retried by the next call; the version becomes stale meanwhile.
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
