/** Explains a decision on a change to the principal or session whose change it was, and to those who oversee policies. */

import type { Caller } from '../../core/operation.ts'
import { findAudit } from '../../store/commit/audit.ts'
import { showsWritten } from '../../store/governance/written-values.ts'
import type { Store } from '../../store/store.ts'

const overseers = ['steward', 'administrator', 'owner', 'auditor']

/**
 * A decision as its writer may see it: the policies that denied, by name, and the reason that the writer was given.
 * Those who oversee policies and may read all values of the table, and stewards, also see the failing parts with their values.
 * A change that came with a session names the subject of its catalog's token, which is not that of the session.
 * @returns undefined for an unknown decision, and for that of another principal and session
 */
export async function explainDecision(
  store: Store,
  {
    tenant,
    principal,
    session,
  }: Pick<Caller, 'tenant' | 'principal'> & { readonly session: { readonly sessionId: string } },
  id: string,
) {
  const oversees = overseers.some((role) => principal.roles.includes(role))
  const record = await findAudit(store, tenant, id)
  const isOwn = record?.committer === principal.sub || record?.session?.id === session.sessionId
  if (record === undefined || !(oversees || isOwn)) return undefined
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
