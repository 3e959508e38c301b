/** Sets the gauges of memory, pool and disks before each scrape. */

import { statfs } from 'node:fs/promises'
import type { ByteBudget } from '../base/byte-budget.ts'
import { byteKinds } from '../base/byte-work.ts'
import { slicesWaiting } from '../base/thread-turns.ts'
import type { Store } from '../store/store.ts'
import type { Metrics } from '../telemetry/metrics.ts'

interface GaugeParts {
  readonly metrics: Metrics
  readonly store: Store
  readonly budget: ByteBudget
  /** Directories that the service writes to, by name. */
  readonly directories: Readonly<Record<string, string | undefined>>
}

/** @returns called before each scrape; the gauges of a directory that cannot be read stay as they are */
export function gaugeReader({ metrics, store, budget, directories }: GaugeParts): () => Promise<void> {
  let refusedBefore = 0
  return async () => {
    for (const kind of byteKinds) metrics.memoryHeld.set({ kind }, budget.held(kind))
    metrics.memoryWaiting.set(budget.waiting)
    metrics.slicesWaiting.set(slicesWaiting())
    const { idle, lent, waiting, refused, max } = store.poolUse()
    metrics.poolConnections.set({ state: 'idle' }, idle)
    metrics.poolConnections.set({ state: 'lent' }, lent)
    metrics.poolConnectionsMax.set(max)
    metrics.poolWaiting.set(waiting)
    metrics.poolRefused.inc(refused - refusedBefore)
    refusedBefore = refused
    for (const [directory, path] of Object.entries(directories)) {
      const disk = path === undefined ? undefined : await statfs(path).catch(() => undefined)
      if (disk === undefined) continue
      metrics.diskFreeBytes.set({ directory }, disk.bavail * disk.bsize)
      metrics.diskSizeBytes.set({ directory }, disk.blocks * disk.bsize)
    }
  }
}
