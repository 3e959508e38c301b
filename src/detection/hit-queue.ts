/**
 * The one queue of all triggers (docs/reference/detection.md 1.1). It is durable. It removes duplicates by tenant and
 * metadata_location in this process, and across replicas by the unique constraint on runs.
 */

import { Lru } from '../base/lru.ts'
import { canonicalLocation, type Hit, metadataLocationBytesMax } from '../core/detection.ts'
import type { TenantId } from '../core/tenant.ts'
import { linkFindings } from '../store/detection/findings.ts'
import { enqueueHits } from '../store/detection/runs.ts'
import type { Store } from '../store/store.ts'
import type { Metrics } from '../telemetry/metrics.ts'

const rememberedMax = 50_000

export class HitQueue {
  readonly #runs = new Lru<string, true>(rememberedMax)

  /** @param wake is called when a new run was queued */
  constructor(
    private readonly store: Store,
    private readonly metrics: Metrics,
    private readonly wake: () => void,
  ) {}

  /** Whether a run for the location is cached in this process. False does not mean that there is none. */
  hasRun(tenant: TenantId, metadataLocation: string): boolean {
    return this.#runs.get(keyOf(tenant, metadataLocation)) === true
  }

  /**
   * Queues the hits that are new. Resolves after the database has acknowledged them. A location that is too long to
   * store is dropped and counted.
   * @returns how many were new
   * @throws Fault when they could not be made durable
   */
  async push(tenant: TenantId, hits: readonly Hit[]): Promise<number> {
    const fresh = hits.filter((hit) => {
      const bytes = Buffer.byteLength(hit.metadataLocation)
      const fits = bytes > 0 && bytes <= metadataLocationBytesMax && !hit.metadataLocation.includes('\0')
      if (!fits) this.metrics.detectionHits.inc({ source: hit.source, outcome: 'unusable' })
      return fits && !(this.hasRun(tenant, hit.metadataLocation) && hit.table === undefined)
    })
    if (fresh.length === 0) return 0
    const added = await enqueueHits(this.store, tenant, fresh, (tx, runIds) =>
      linkFindings(tx, tenant, runIds),
    )
    for (const hit of fresh) this.#runs.set(keyOf(tenant, hit.metadataLocation), true)
    const source = fresh[0]?.source ?? 'baseline-poller'
    this.metrics.detectionHits.inc({ source, outcome: 'queued' }, added)
    this.metrics.detectionHits.inc({ source, outcome: 'duplicate' }, hits.length - added)
    if (added > 0) this.wake()
    return added
  }
}

function keyOf(tenant: TenantId, metadataLocation: string): string {
  return `${tenant} ${canonicalLocation(metadataLocation)}`
}
