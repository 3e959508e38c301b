/** What the operations on contracts are assembled with, and who makes a change. */

import type { Clock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import type { TableStates } from '../catalog/table-states.ts'
import type { OperationContext, SessionAccess } from '../core/operation.ts'
import { operationsOf } from '../http/declare.ts'
import type { Store } from '../store/store.ts'
import type { ChangeContext, CheckPolicies } from './change.ts'

export interface ContractParts {
  readonly store: Store
  readonly clock: Clock
  readonly states: TableStates
  /** What the read path finds wrong with a table's policies. */
  readonly checkPolicies: CheckPolicies
}

/** Declares an operation on contracts. */
export const operation = operationsOf<ContractParts>()

/** Where contracts are. */
export const root = '/api/v1/contracts'
/** Where a table is. */
export const tablePath = `${root}/tables/{namespace}/{table}` as const

export const reading = { scope: 'read' } as const
export const changing = { scope: 'admin', roles: ['steward'] } as const
/** Settings and changes hold the text of policies, so they are for those who may see it. */
export const overseeing = { scope: 'read', roles: ['steward', 'administrator'] } as const

/** Where a change is made and by whom. */
export function changeOf({ parts, caller }: OperationContext<ContractParts, SessionAccess>): ChangeContext {
  const { store, checkPolicies } = parts
  return { store, checkPolicies, tenant: caller.tenant, actor: caller.principal.sub }
}

/** @throws Fault `not_found` where there was nothing to remove */
export async function removed(removing: Promise<boolean>): Promise<void> {
  if (!(await removing)) throw new Fault('not_found', 'There is no such thing to remove.')
}
