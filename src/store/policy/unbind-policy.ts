/** Ends what binds a policy to one table, namespace or tag. */

import { Fault } from '../../base/fault.ts'
import { type Actor, operator } from '../../core/administration.ts'
import type { PolicyScope } from '../../core/policy.ts'
import type { TenantId } from '../../core/tenant.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { storableJson } from '../database/names.ts'
import type { Store } from '../store.ts'
import { assertNotDerived } from './policies.ts'
import { namedScope, scopeNode } from './policy-scope.ts'

/**
 * Ends the binding of a policy to one table, namespace or tag; it takes effect on the next commit.
 * @throws Fault `not_found` where there is no such policy or binding; `conflict` where it is the only one, and for a
 *   policy that follows from a contract
 */
export async function unbindPolicy(
  store: Store,
  tenant: TenantId,
  id: string,
  scope: PolicyScope,
  by: Actor = operator(),
): Promise<void> {
  assertNotDerived(id)
  // The sentinel, which is no policy of anybody, has the empty id.
  if (id === '') throw problemOf('no_policy')
  await store.tenantTransaction(tenant, async (tx) => {
    const [row] = await tx.query<{ outcome: 'ended' | Problem }>(
      'select svc.unbind_policy($1, $2::text::jsonb, $3::text::jsonb) as outcome',
      [id, storableJson(scopeNode(scope)), storableJson(by)],
    )
    const outcome = row?.outcome ?? 'no_policy'
    if (outcome !== 'ended') throw problemOf(outcome)
    const subject = { policy: id, ...namedScope(scope) }
    await recordAdministration(tx, by, { action: 'unbind-policy', subject })
  })
}

type Problem = 'no_policy' | 'not_bound' | 'only'

/** What svc.unbind_policy answers where it ends nothing, as a fault. */
function problemOf(problem: Problem): Fault {
  switch (problem) {
    case 'no_policy':
      return new Fault('not_found', 'The tenant has no such policy.')
    case 'not_bound':
      return new Fault('not_found', 'The policy is not bound to this.')
    case 'only':
      return new Fault('conflict', 'The policy is bound to nothing else. Delete the policy.')
  }
}
