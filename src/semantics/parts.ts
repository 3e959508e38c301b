/** What the operations of the semantic layer share: dependencies, permissions, and the principal of a change. */

import type { Clock } from '../base/clock.ts'
import type { Caller, OperationContext, SessionAccess } from '../core/operation.ts'
import { operationsOf } from '../http/declare.ts'
import type { QueryService } from '../query/query-service.ts'
import type { SemanticChange } from '../store/semantics/changes.ts'
import type { Store } from '../store/store.ts'

interface SemanticParts {
  readonly store: Store
  readonly clock: Clock
  readonly queries: QueryService
}

/** Declares an operation on the semantic layer. */
export const operation = operationsOf<SemanticParts>()

export const modelling = { scope: 'admin', roles: ['steward'], capability: 'semantic-layer' } as const
export const browsing = { scope: 'read', capability: 'semantic-layer' } as const
/** Asking for metrics, and learning which there are. */
export const asking = { scope: 'read', capability: 'metrics' } as const
export const defining = { scope: 'admin', roles: ['steward'], capability: 'metrics' } as const

/** The store, tenant and principal of a change. */
export async function changeOf({
  parts,
  caller,
}: Pick<OperationContext<SemanticParts, SessionAccess>, 'parts' | 'caller'>): Promise<SemanticChange> {
  return { store: parts.store, tenant: caller.tenant, actor: await caller.actor() }
}

/** Who asks for metrics, and of which tenant. */
export function askingOf({
  parts: { store, clock },
  caller: { tenant, principal },
}: {
  readonly parts: Pick<SemanticParts, 'store' | 'clock'>
  readonly caller: Pick<Caller, 'tenant' | 'principal'>
}) {
  return { store, clock, tenant, principal }
}
