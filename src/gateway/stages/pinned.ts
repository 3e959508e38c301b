/** Denies changes that would remove the snapshot that a table is pinned to (docs/reference/gateway.md 5.3). */

import type { Verdict } from '../../core/decision.ts'
import { type TableRef, tableName } from '../../core/table-ref.ts'
import type { CommitRequest } from '../../wire/iceberg/commit-request.ts'

/** Denies a commit that expires its table's pinned snapshot. An id that cannot be read is treated as the pinned one. */
export function expiresPinned(
  table: TableRef,
  pinned: bigint | undefined,
  { updates }: CommitRequest,
): Verdict | undefined {
  if (pinned === undefined) return undefined
  const expires = updates.some((update) => {
    if (update.get('action') !== 'remove-snapshots') return false
    const ids = update.get('snapshot-ids')
    return !Array.isArray(ids) || ids.some((id) => typeof id !== 'bigint' || id === pinned)
  })
  return expires ? pinnedDenial(table, pinned) : undefined
}

/** The verdict on a change that would remove a pinned snapshot. */
export function pinnedDenial(table: TableRef, pinned: bigint): Verdict {
  return {
    kind: 'deny',
    reason: `snapshot ${pinned} of ${tableName(table)} is pinned: unpin it first`,
    policyId: '',
    outcomes: [],
  }
}
