/** Saves a commit policy, after its text and the name of its table were checked. */

import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import type { Policy } from '../../core/policy.ts'
import { isPathIdentifier, type TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import { putPolicy } from '../../store/policy/policies.ts'
import type { Store } from '../../store/store.ts'
import { policyView } from './views.ts'

/**
 * Attaches a policy to a table, or replaces it; it takes effect on the next commit.
 * @throws Fault `bad_request` for a text that no commit could be judged by, or a name that no table can have;
 *   `conflict` where a policy of another kind has its id
 */
export async function savePolicy(store: Store, tenant: TenantId, table: TableRef, policy: Policy, by: Actor) {
  for (const name of [...table.namespace, table.name])
    if (!isPathIdentifier(name) || name.length > limits.identifierLengthMax)
      throw new Fault('bad_request', '`table` must be named by letters, digits, _ and -.')
  // Loaded here, because the command line declares this operation and does not wait for the parser of policies.
  const { checkPolicyToSave } = await import('../../policy/check.ts')
  const problems = checkPolicyToSave(policy.definitionCel)
  if (problems.length > 0)
    throw new Fault(
      'bad_request',
      problems.map(({ offset, message }) => `\`definition_cel\`, at ${offset}: ${message}`).join('\n'),
    )
  await putPolicy(store, tenant, table, policy, by)
  return policyView(policy)
}
