/** Ends a table's contract. */

import type { TableRef } from '../core/table-ref.ts'
import { removeContract } from '../store/contract/rows.ts'
import { type ChangeContext, removeContracts } from './change.ts'

/** Ends a table's contract; filters, masks and tags stay. @returns whether there was one */
export function deleteContract(on: ChangeContext, table: TableRef): Promise<boolean> {
  return removeContracts(on, { action: 'delete-contract', subject: { table } }, (tx) =>
    removeContract(tx, table),
  )
}
