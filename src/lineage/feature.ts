/** The OpenLineage receiver, its listings, and the jobs that retry and sweep. */

import { bind } from '../http/declare.ts'
import type { Core, Feature } from '../http/feature.ts'
import { listingOperations } from './listing-operations.ts'
import { namespaceOperations } from './namespace-operations.ts'
import { lineageOperations } from './operations.ts'
import { reachOperations } from './reach-operations.ts'
import { LineageReceiver } from './receiver.ts'
import { retirementOperations } from './retirement-operations.ts'
import { rememberPending, retryLineage } from './retry.ts'
import { sweepLineage } from './sweep.ts'

/** Lineage, with its receiver. */
export function lineageFeature(core: Core): Feature {
  const { metrics } = core
  const receiver = new LineageReceiver(core)
  const looks = rememberPending()
  return {
    operations: [
      ...bind(lineageOperations, { ...core, receiver }),
      ...bind(
        [...namespaceOperations, ...listingOperations, ...reachOperations, ...retirementOperations],
        core,
      ),
    ],
    jobs: [
      {
        name: 'retry-lineage',
        schedule: '* * * * *',
        run: (signal) => retryLineage(receiver, looks, signal),
        gauge: metrics.lineagePending,
      },
      {
        name: 'sweep-lineage',
        schedule: '23 * * * *',
        run: (signal) => sweepLineage(core, signal),
        gauge: metrics.lineageCycles,
      },
    ],
  }
}
