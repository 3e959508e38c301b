/** What the operations on contracts share: dependencies, paths, permissions, and the principal of a change. */

import type { Clock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import type { TableStates } from '../catalog/table-states.ts'
import type { OperationContext, SessionAccess } from '../core/operation.ts'
import { operationsOf } from '../http/declare.ts'
import type { Store } from '../store/store.ts'
import type { ChangeContext, CheckPolicies, CheckStatement, WarnPolicy } from './change.ts'
import type { CheckService } from './checks/plan-deployment.ts'
import type { DocumentCodec } from './document/document-codec.ts'

export interface ContractParts {
  readonly store: Store
  readonly clock: Clock
  readonly states: TableStates
  /** Finds the problems that the read path would have with a table's policies. */
  readonly checkPolicies: CheckPolicies
  readonly warnPolicy: WarnPolicy
  /** Compiles the statements of quality rules. */
  readonly checkStatement: CheckStatement
  readonly codec: DocumentCodec
  readonly checks: CheckService
}

/** Declares an operation on contracts. */
export const operation = operationsOf<ContractParts>()

/** Where contracts are. */
export const contractsPath = '/api/v1/contracts'
/** Where a table is. */
export const tablePath = `${contractsPath}/tables/{namespace}/{table}` as const

export const reading = { scope: 'read' } as const
export const changing = { scope: 'admin', roles: ['steward'] } as const
/** Settings and changes show the text of policies, so only roles that may see policies may read them. */
export const overseeing = { scope: 'read', roles: ['steward', 'administrator'] } as const
/** Records of changes are for auditors too. */
export const auditing = { scope: 'read', roles: ['steward', 'administrator', 'auditor'] } as const

/** The store, tenant and principal of a change. */
export async function changeOf({
  parts,
  caller,
}: Pick<OperationContext<ContractParts, SessionAccess>, 'parts' | 'caller'>): Promise<ChangeContext> {
  const { store, checkPolicies, warnPolicy, checkStatement } = parts
  return {
    store,
    checkPolicies,
    warnPolicy,
    checkStatement,
    tenant: caller.tenant,
    actor: await caller.actor(),
  }
}

/** Throws `not_found` when there was nothing to remove. */
export async function orNotFound(removing: Promise<boolean>): Promise<void> {
  if (!(await removing)) throw new Fault('not_found', 'There is nothing of that name to remove.')
}
