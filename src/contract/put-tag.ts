/** Tags a column. */

import type { TableRef } from '../core/table-ref.ts'
import { saveTag } from '../store/contract/rows.ts'
import { type ChangeContext, changeContracts, checkName } from './change.ts'

/**
 * Tags a column.
 * @throws Fault `bad_request` for a malformed tag, `not_found` for an unknown column, `unprocessable` when a mask of
 * the tag cannot be applied to the column
 */
export async function putTag(on: ChangeContext, table: TableRef, column: string, tag: string): Promise<void> {
  checkName(tag)
  const made = { action: 'put-tag', subject: { table, column, tag }, value: {} } as const
  await changeContracts(on, made, (tx) => saveTag(tx, on.tenant, { table, column }, tag))
}
