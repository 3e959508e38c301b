/** Saves a commit policy, after its text and what it is bound to were checked. */

import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import type { Policy, PolicyScope } from '../../core/policy.ts'
import type { TenantId } from '../../core/tenant.ts'
import { putPolicy } from '../../store/policy/policies.ts'
import { checkScope } from '../../store/policy/policy-scope.ts'
import type { Store } from '../../store/store.ts'
import { pinningView } from './check-policy-text.ts'
import { policyView } from './views.ts'

/**
 * Binds a policy to a table, namespace or tag, or replaces it; it takes effect on the next commit.
 * @throws Fault `bad_request` for a text that no commit could be judged by, or a scope that no table can be in;
 *   `conflict` where a policy of another kind has its id
 */
export async function savePolicy(
  store: Store,
  tenant: TenantId,
  scope: PolicyScope,
  policy: Policy,
  by: Actor,
) {
  checkScope(scope)
  // Loaded here, because the command line declares this operation and does not wait for the parser of policies.
  const { checkPolicyToSave, readsOfText } = await import('../../policy/check.ts')
  const problems = checkPolicyToSave(policy.definitionCel)
  if (problems.length > 0)
    throw new Fault(
      'bad_request',
      problems.map(({ offset, message }) => `\`definition_cel\`, at ${offset}: ${message}`).join('\n'),
    )
  await putPolicy(store, tenant, scope, policy, by)
  return { ...policyView(policy), ...pinningView(readsOfText(policy.definitionCel)) }
}
