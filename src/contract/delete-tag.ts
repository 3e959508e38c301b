/** Removes a tag from a table or a column. */

import type { TableRef } from '../core/table-ref.ts'
import { removeTag } from '../store/contract/rows.ts'
import { recordTagChange } from '../store/contract/tag-changes.ts'
import { type ChangeContext, checkName, removeContracts } from './change.ts'

/**
 * Removes a tag from a table itself, or from a column, also from a dropped one. Its history stays.
 * @returns whether there was one
 * @throws Fault `bad_request` for a malformed tag
 */
export async function deleteTag(
  on: ChangeContext,
  table: TableRef,
  column: string | undefined,
  tag: string,
): Promise<boolean> {
  checkName(tag)
  const subject = { table, ...(column !== undefined && { column }), tag }
  return await removeContracts(on, { action: 'delete-tag', subject }, async (tx) => {
    const removed = await removeTag(tx, { table, column }, tag)
    const change = { action: 'removed', table, column, tag, source: 'person', evidence: {} } as const
    if (removed) await recordTagChange(tx, on.actor, change)
    return removed
  })
}
