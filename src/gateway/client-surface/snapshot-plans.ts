/**
 * Plans snapshots for clients, and keeps the last plans: manifests never change, so a plan stays true as long as its
 * files lie in the table's folders. That the client may read the table was judged before.
 */

import { Fault } from '../../base/fault.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import { EngineError } from '../../engine/engine-error.ts'
import { planBytes, planSnapshot, type SnapshotPlan } from '../../engine/iceberg/snapshot-plan.ts'
import { ReadFailure } from '../../storage/read-failure.ts'
import { openStorage } from '../../storage/storage.ts'
import { TerritoryFailure, territoryGuard } from '../../storage/territory-guard.ts'
import type { SurfaceRequest } from './surface-request.ts'

interface PlannedSnapshot {
  readonly table: TableRef
  readonly metadataLocation: string
  readonly snapshotId: bigint
  /** The table's own folders. What lies outside is not planned, whatever the tenant's mode. */
  readonly prefixes: readonly string[]
}

/**
 * The files of a snapshot.
 * @throws Fault `policy_denied` where it names a file outside of the table's folders, `not_acceptable` where it cannot be
 *   planned here, `unavailable` where storage does not answer, `overloaded`
 */
export async function snapshotPlan(
  { parts, tenant, upstream: { credential }, request }: SurfaceRequest,
  { table, metadataLocation, snapshotId, prefixes }: PlannedSnapshot,
): Promise<SnapshotPlan> {
  const key = JSON.stringify([
    ...[tenant, credential.id, credential.version, tableKey(table)],
    ...[metadataLocation, String(snapshotId), ...prefixes],
  ])
  const { plannedSnapshots } = parts.clientFiles
  const kept = plannedSnapshots.get(key)
  if (kept !== undefined) return kept
  const guard = territoryGuard({ mode: 'enforce', version: '', prefixes })
  try {
    // Held until the request is answered.
    const held = parts.budget?.reserve({})
    const storage = openStorage(await parts.tableAccess(tenant, credential, table), parts.budget)
    try {
      const plan = await storage.during(() =>
        planSnapshot(storage, metadataLocation, snapshotId, {
          signal: request.signal,
          guard,
          anyFormat: true,
          hold: (bytes) => held?.add({ parse: bytes }),
        }),
      )
      plannedSnapshots.set(key, plan, planBytes(plan))
      return plan
    } finally {
      held?.leave()
      await storage.close()
    }
  } catch (thrown) {
    throw planFault(thrown)
  }
}

/** The fault of a plan that cannot be made; what is none of a reader's failures is returned as it is. */
function planFault(thrown: unknown): unknown {
  if (thrown instanceof TerritoryFailure)
    return new Fault(
      'policy_denied',
      'policy denied: the snapshot names files outside of its territory, so no scan is planned',
      { cause: thrown },
    )
  if (thrown instanceof ReadFailure)
    return thrown.passing
      ? new Fault('unavailable', `The scan cannot be planned: ${thrown.reason}. Retry.`, { cause: thrown })
      : notPlanned(thrown.reason, thrown)
  if (thrown instanceof EngineError) return notPlanned(thrown.message, thrown)
  return thrown
}

function notPlanned(reason: string, cause: unknown): Fault {
  const message = `The scan cannot be planned here: ${reason.replace(/\.$/, '')}. Plan it at the client.`
  return new Fault('not_acceptable', message, { cause })
}
