/**
 * Sweeps the lineage graph of every tenant for cycles that the check before a merge is too short to see
 * (docs/reference/lineage.md 5.3). It records and reports a cycle, but removes no edge: people decide which is wrong.
 */

import { threadTurn } from '../base/thread-turns.ts'
import type { LineageName } from '../core/lineage.ts'
import type { TenantId } from '../core/tenant.ts'
import { everyItem } from '../store/database/page.ts'
import {
  datasetNames,
  linkLateTables,
  listLineageCycles,
  readLineageEdges,
  recordSweep,
  sweepState,
} from '../store/lineage/cycles.ts'
import type { Store } from '../store/store.ts'
import { eachTenant } from '../store/tenant/tenants.ts'
import { cycleText } from './describe-cycle.ts'
import { findCycles } from './find-cycles.ts'
import type { ReceiverParts } from './receiver.ts'

/** Sweeps every tenant. A failure for one tenant is logged, and the others are still swept. */
export async function sweepLineage(parts: ReceiverParts, signal: AbortSignal): Promise<void> {
  let open = 0
  for await (const tenant of eachTenant(parts.store, signal)) {
    try {
      open += await sweepTenant(parts, tenant, signal)
    } catch (err) {
      signal.throwIfAborted()
      parts.log.error({ err, tenant }, 'the lineage graph could not be searched for cycles')
    }
  }
  parts.metrics.lineageCycles.set(open)
}

async function sweepTenant(
  { store, log }: ReceiverParts,
  tenant: TenantId,
  signal: AbortSignal,
): Promise<number> {
  await linkLateTables(store, tenant)
  const { due, edges } = await sweepState(store, tenant)
  if (!due) return 0
  const { next, numbers } = await readGraph(store, tenant)
  const found = await findCycles({ next }, async () => {
    signal.throwIfAborted()
    await threadTurn()
  })
  const cycles: (readonly LineageName[])[] = []
  for (const cycle of found) {
    const numbered = cycle.map((node) => numbers[node] ?? 0)
    cycles.push(await datasetNames(store, tenant, numbered))
  }
  for (const cycle of await recordSweep(store, tenant, { cycles, edges }))
    log.error(
      { tenant, cycle: cycle.id, datasets: cycle.datasets.length, path: cycleText(cycle.datasets) },
      'the lineage graph holds a cycle',
    )
  const stillOpen = await Array.fromAsync(everyItem((page) => listLineageCycles(store, tenant, page)))
  return stillOpen.length
}

/** Reads the graph with its datasets numbered from 0, and the ids that the store has for these numbers. */
async function readGraph(store: Store, tenant: TenantId) {
  const places = new Map<number, number>()
  const numbers: number[] = []
  const next: number[][] = []
  const placeOf = (number: number) => {
    const known = places.get(number)
    if (known !== undefined) return known
    places.set(number, numbers.length)
    next.push([])
    return numbers.push(number) - 1
  }
  await readLineageEdges(store, tenant, (edges) => {
    for (const { source, target } of edges) next[placeOf(source)]?.push(placeOf(target))
  })
  return { next, numbers }
}
