/** What the changes of the semantic layer share: one lock, one record, the number of the next version. */

import type { Actor, ContractAction } from '../../core/administration.ts'
import type { TenantId } from '../../core/tenant.ts'
import { lockContracts, recordChange } from '../contract/changes.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'

/** Who changes the semantic layer of which tenant. */
export interface SemanticChange {
  readonly store: Store
  readonly tenant: TenantId
  readonly actor: Actor
}

/** Makes a change in one transaction, one at a time in a tenant. */
export function changeSemantics<T>(
  { store, tenant }: SemanticChange,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  return store.tenantTransaction(tenant, async (tx) => {
    await lockContracts(tx)
    return await work(tx)
  })
}

/** Records a change in its transaction. */
export function recordSemantics(
  tx: Tx,
  { actor }: SemanticChange,
  action: ContractAction,
  subject: Readonly<Record<string, unknown>>,
  value?: object,
): Promise<void> {
  return recordChange(tx, actor, { action, subject, ...(value !== undefined && { value }) })
}
