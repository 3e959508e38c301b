/** Who looks after all tables of a tenant, also those that may not be read. The rule for values is in `store/governance`. */

import type { Principal } from './principal.ts'
import type { Session } from './session.ts'

/**
 * Whether a principal sees that tables without a readable contract exist: stewards put them under contracts, and
 * administrators run their catalogs.
 */
export function overseesTables({ roles }: Pick<Principal, 'roles'>): boolean {
  return isSteward({ roles }) || roles.includes('administrator') || roles.includes('owner')
}

/**
 * Whether a principal learns that something ran over a table, and what was found, also of tables that may not be read:
 * who looks after all tables, and auditors, who read records. Samples and counts have rules of their own.
 */
export function readsAllRecords({ roles }: Pick<Principal, 'roles'>): boolean {
  return overseesTables({ roles }) || roles.includes('auditor')
}

/** Whether a principal writes the contracts of the tenant, and so sees what they hide from others. */
export function isSteward({ roles }: Pick<Principal, 'roles'>): boolean {
  return roles.includes('steward')
}

const textRight = 'lineage:text'

/** Whether a caller sees SQL texts and error messages of lineage: by a scope of its session, or a role of that name. */
export function seesLineageText({
  principal,
  session,
}: {
  readonly principal: Pick<Principal, 'roles'>
  readonly session: Pick<Session, 'scopes'>
}): boolean {
  return session.scopes.includes(textRight) || principal.roles.includes(textRight)
}
