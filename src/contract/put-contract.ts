/** Puts a table under a contract. */

import { Fault } from '../base/fault.ts'
import type { ContractSchema } from '../core/contract-schema.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { saveContract } from '../store/contract/rows.ts'
import { hasVersions, type RunQuery } from '../store/contract/versions.ts'
import type { Tx } from '../store/database/session.ts'
import { readGovernance } from '../store/governance/governance.ts'
import { type ChangeContext, changeContracts, checkName } from './change.ts'

interface NewContract {
  readonly id: string
  readonly version: number
  /** What the contract declares of the table. */
  readonly schema?: ContractSchema
}

/**
 * Puts a table under an active contract, replacing its present contract and declared schema.
 * @throws Fault `conflict` where the contract has a document, `bad_request` for a malformed id or version, `unprocessable` for a declared column that the table does
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
  await changeContracts(on, made, async (tx) => {
    await requireNoDocument(tx, on.tenant, table, id)
    return await saveContract(tx, on.tenant, table, { id, version, schema })
  })
}

/**
 * A contract that came as a document is changed by its document, or the two would say different things.
 * @param id of the contract that is put; absent where the table's own ends
 * @throws Fault `conflict`
 */
export async function requireNoDocument(
  tx: Tx,
  tenant: TenantId,
  table: TableRef,
  id?: string,
): Promise<void> {
  const run: RunQuery = (text, params) => tx.query(text, params)
  const present = (await readGovernance(run, table))?.contract?.id
  for (const contract of new Set([id, present]))
    if (contract !== undefined && (await hasVersions(run, tenant, contract)))
      throw new Fault('conflict', `The contract ${contract} has a document. Change the document instead.`)
}
