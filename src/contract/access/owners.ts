/**
 * Tells whether somebody is an owner of a contract, as the team in its document says. The document is text by people,
 * so what is not plain gives no right. Who is a steward is decided elsewhere.
 */

import type { Actor } from '../../core/administration.ts'
import { isReservedSubject } from '../../core/principal.ts'
import type { Contacts } from '../../core/whom-to-ask.ts'

/**
 * Whether a person is an owner at a time: every member of the team with their name has the role `owner`, and is in the
 * team. A service is no owner, and neither is a session that an owner made for somebody else.
 * @param names by which the person may be named: see `namesOf`
 */
export function isOwner(contacts: Contacts | undefined, names: readonly string[], nowMs: number): boolean {
  const named = (contacts?.people ?? []).filter(
    ({ username }) => username !== undefined && names.includes(username),
  )
  return (
    named.length > 0 &&
    named.every(({ role, until }) => isOwnerRole(role) && (until === undefined || nowMs < Date.parse(until)))
  )
}

/** Whether the role of a member of a team is that of an owner, who decides about access. */
export function isOwnerRole(role = ''): boolean {
  return role.trim().toLowerCase() === 'owner'
}

/**
 * The names by which a document may mean an actor: the subject; and the address where the tenant matches its people by it,
 * which says that nobody chooses their own.
 */
export function namesOf(
  { sub, email }: Pick<Actor, 'sub' | 'email'>,
  { matchesByEmail }: { readonly matchesByEmail: boolean },
): readonly string[] {
  if (isReservedSubject(sub)) return []
  return matchesByEmail && email !== undefined ? [sub, email] : [sub]
}
