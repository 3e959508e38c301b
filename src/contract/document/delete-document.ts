/** Ends a contract that came as a document. */

import { endForce } from '../../store/contract/put-in-force.ts'
import { setState, versionInForce } from '../../store/contract/versions.ts'
import { type ChangeContext, removeContracts } from '../change.ts'
import { syncCommitPolicies } from '../commit/sync-policies.ts'
import { requireNoLifeCycle } from './put-document.ts'

/** Ends a contract on all its tables; filters and masks stay. @returns whether its document was in force */
export function deleteDocument(on: ChangeContext, contract: string): Promise<boolean> {
  return removeContracts(on, { action: 'delete-contract-document', subject: { contract } }, async (tx) => {
    const version = await versionInForce((text, params) => tx.query(text, params), on.tenant, contract)
    if (version === undefined) return false
    await requireNoLifeCycle(tx, on.tenant, contract)
    await endForce(tx, contract, version.model)
    await setState(tx, on.tenant, version, 'retired')
    // Nothing is in force any more, so nothing is left of the policies, whatever the time is.
    await syncCommitPolicies(tx, on.tenant, contract, { nowMs: 0, by: on.actor })
    return true
  })
}
