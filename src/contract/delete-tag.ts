/** Removes a tag from a column. */

import type { TableRef } from '../core/table-ref.ts'
import { removeTag } from '../store/contract/rows.ts'
import { type ChangeContext, checkName, removeContracts } from './change.ts'

/**
 * Removes a tag from a column, also from a dropped one.
 * @returns whether there was one
 * @throws Fault `bad_request` for a malformed tag
 */
export async function deleteTag(
  on: ChangeContext,
  table: TableRef,
  column: string,
  tag: string,
): Promise<boolean> {
  checkName(tag)
  const made = { action: 'delete-tag', subject: { table, column, tag } } as const
  return await removeContracts(on, made, (tx) => removeTag(tx, { table, column }, tag))
}
