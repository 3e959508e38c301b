/** Ends a table's contract. */

import type { TableRef } from '../core/table-ref.ts'
import { removeContract } from '../store/contract/rows.ts'
import { type ChangeContext, removeContracts } from './change.ts'
import { requireNoDocument } from './put-contract.ts'

/**
 * Ends a table's contract; filters, masks and tags stay.
 * @returns whether there was one
 * @throws Fault `conflict` where the contract has a document, which ends as a whole
 */
export function deleteContract(on: ChangeContext, table: TableRef): Promise<boolean> {
  return removeContracts(on, { action: 'delete-contract', subject: { table } }, async (tx) => {
    await requireNoDocument(tx, on.tenant, table)
    return await removeContract(tx, table)
  })
}
