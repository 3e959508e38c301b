/** Explains a decision on a change to the principal whose change it was, and to those who oversee policies. */

import type { Principal } from '../../core/principal.ts'
import type { TenantId } from '../../core/tenant.ts'
import { findAudit } from '../../store/commit/audit.ts'
import { showsWritten } from '../../store/governance/written-values.ts'
import type { Store } from '../../store/store.ts'

const overseers = ['steward', 'administrator', 'owner', 'auditor']

/**
 * A decision as its writer may see it: the policies that denied, by name, and the reason that the writer was given.
 * Those who oversee policies and may read all values of the table, and stewards, also see the failing parts with their values.
 * @param principal verified
 * @returns undefined for an unknown decision, and for that of another principal
 */
export async function explainDecision(store: Store, tenant: TenantId, id: string, principal: Principal) {
  const oversees = overseers.some((role) => principal.roles.includes(role))
  const record = await findAudit(store, tenant, id)
  if (record === undefined || (!oversees && record.committer !== principal.sub)) return undefined
  const { commitId, action, table, decision, reason, createdAt, outcomes } = record
  const isShown = oversees && (await showsWritten(store, tenant, principal, [table]))(table)
  return {
    ...{ commitId, action, table, decision, reason, createdAt },
    policies: outcomes
      .filter(({ value, error }) => value === false || error !== undefined)
      .map(({ name, mode, error, explanation }) => ({
        ...{ name, mode },
        ...(error !== undefined && { error }),
        ...(isShown && explanation !== undefined && { explanation }),
      })),
  }
}
