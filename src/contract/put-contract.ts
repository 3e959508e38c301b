/** Puts a table under a contract. */

import { Fault } from '../base/fault.ts'
import type { ContractSchema } from '../core/contract-schema.ts'
import type { TableRef } from '../core/table-ref.ts'
import { saveContract } from '../store/contract/rows.ts'
import { type ChangeContext, changeContracts, checkName } from './change.ts'

export interface NewContract {
  readonly id: string
  readonly version: number
  /** What the contract declares of the table. */
  readonly schema?: ContractSchema
}

/**
 * Puts a table under an active contract, replacing its present contract and declared schema.
 * @throws Fault `bad_request` for a malformed id or version, `unprocessable` for a declared column that the table does
 * not have
 */
export async function putContract(
  on: ChangeContext,
  table: TableRef,
  { id, version, schema = {} }: NewContract,
): Promise<void> {
  checkName(id)
  if (!Number.isSafeInteger(version) || version < 1)
    throw new Fault('bad_request', '`version` must be a whole number from 1.')
  const made = { action: 'put-contract', subject: { table }, value: { id, version, ...schema } } as const
  await changeContracts(on, made, (tx) => saveContract(tx, on.tenant, table, { id, version, schema }))
}
