/**
 * Whether a multi-table commit is forwarded as one, and `transactions/commit` listed in `endpoints`: where the catalog
 * serves it, and is proven to make all of it or nothing. Clients delete files after a 4xx, so nothing less will do.
 */

import type { Upstream } from '../base/upstream.ts'
import { defaultOperations, endpointOf, operations } from './operations.ts'

/** Throws what asking the upstream for its configuration throws. */
export async function commitsAtomically({ catalog }: Upstream, signal: AbortSignal): Promise<boolean> {
  if (!catalog.capabilities().atomicTransactions) return false
  const { endpoints } = await catalog.offer({ signal })
  return operations.some(
    (one) =>
      one.id === 'commitTransaction' &&
      (endpoints?.includes(endpointOf(one)) ?? defaultOperations.has(one.id)),
  )
}
