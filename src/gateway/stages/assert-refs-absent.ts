/**
 * Checks the requirement that a ref must not exist yet, for upstreams that ignore it. Without this check, two writers
 * of a table's first snapshot would both be acknowledged, and one of the snapshots would be lost.
 */

import { Fault } from '../../base/fault.ts'
import { intentsOnTable } from '../../store/commit/commit-intents.ts'
import { checkRequirements } from '../../wire/iceberg/check-requirements.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { Upstream } from '../base/upstream.ts'
import type { Change } from './change.ts'
import { loadCurrent, unlessAbsent } from './load-current.ts'

/**
 * Two such commits never both pass, because each has a durable intent before it looks for others. The one that looks
 * last sees the other's intent, or loads the table that the other made. Writers that bypass the gateway are not seen.
 * @throws Fault `conflict`, after which the client rebases; also what the load and the store throw
 */
export async function assertRefsAbsent(
  parts: GatewayParts,
  upstream: Upstream,
  { commitId, tenant, table, request, signal }: Change & { readonly commitId: string },
): Promise<void> {
  if (upstream.catalog.assertsAbsentRefs) return
  const absent = request.requirements.filter(
    (one) => one.get('type') === 'assert-ref-snapshot-id' && (one.get('snapshot-id') ?? null) === null,
  )
  if (absent.length === 0) return
  const others = (await intentsOnTable(parts.store, tenant, table)).filter((id) => id !== commitId)
  if (others.length > 0)
    throw new Fault(
      'conflict',
      'Requirement failed: another commit on the table is in progress. Refresh the table and retry.',
      {
        type: 'CommitFailedException',
      },
    )
  const base = await unlessAbsent(loadCurrent(parts, tenant, upstream, table, signal), true)
  if (base !== undefined) checkRequirements(base.metadata, absent)
}
