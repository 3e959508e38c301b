/**
 * Which governance version of each tenant this process knows of, and since when. It hears of new ones; since a
 * connection that is silent cannot be told from one that is lost, a tenant whose rows go on being read is asked about
 * as well, at most once a second for all of its runs.
 */

import { Lru } from '../base/lru.ts'
import type { Pace } from '../base/right-of-way.ts'
import type { TenantId } from '../core/tenant.ts'
import { limits } from '../limits.ts'
import { hearGovernanceVersions, readGovernanceVersion } from '../store/governance-versions.ts'
import type { Store } from '../store/store.ts'

interface Known {
  readonly version: bigint
  /** When the store was last asked, of what it answered. */
  readonly askedMs: number
}

/** `stale`: what is known is too old for a row to rest on. */
export type Standing = 'same' | 'changed' | 'stale'

export class KnownVersions {
  readonly #known = new Lru<TenantId, Known>(limits.knownVersionsCount)
  readonly #asking = new Map<TenantId, Promise<void>>()

  constructor(
    readonly store: Store,
    readonly pace: Pace,
  ) {
    hearGovernanceVersions(store, (tenant, version) => this.learn(tenant, version, Number.NEGATIVE_INFINITY))
  }

  /** @param askedMs by the pace's clock, before the store was asked; -∞ where the store said it by itself */
  learn(tenant: TenantId, version: bigint, askedMs: number): void {
    const known = this.#known.get(tenant)
    this.#known.set(tenant, {
      version: known === undefined || version > known.version ? version : known.version,
      askedMs: Math.max(known?.askedMs ?? askedMs, askedMs),
    })
  }

  /** How a version that a run was loaded under stands now; asks nobody, or behind the caller's back. */
  standing(tenant: TenantId, version: bigint): Standing {
    const known = this.#known.get(tenant)
    if (known === undefined) return 'stale'
    if (known.version > version) return 'changed'
    const ageMs = this.pace.now() - known.askedMs
    if (ageMs > limits.governanceStaleMs) return 'stale'
    // What cannot be had now is asked for again, and missed once it is stale.
    if (ageMs > limits.governanceAskMs) this.refresh(tenant).catch(() => {})
    return 'same'
  }

  /** Asks the store, unless somebody is at it. @throws Fault of the store */
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
