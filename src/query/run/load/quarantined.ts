/** Refuses to read a quarantined snapshot (docs/reference/territory.md 5), on every engine and for every reader. */

import { tableName } from '../../../core/table-ref.ts'
import { isQuarantined, type TerritoryFound, type TerritoryOwner } from '../../../core/territory-owner.ts'
import { SqlError } from '../../compile/base/sql-error.ts'

/** @throws SqlError 55000, unless the tenant only observes its territory */
export function assertNotQuarantined(
  found: TerritoryFound,
  owner: TerritoryOwner,
  snapshotId: bigint | undefined,
): void {
  if (found.mode === 'observe' || !isQuarantined(found, owner, snapshotId)) return
  throw new SqlError(
    '55000',
    `Snapshot ${snapshotId} of table ${tableName(owner.table)} is quarantined, because it names files that may not be the table's. Pin the table to another snapshot, or ask a steward to release this one.`,
  )
}
