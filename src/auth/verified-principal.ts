/**
 * Who reads, and who holds a privileged role (docs/reference/identity.md 4.2): only what was verified here counts.
 * Claims that nobody verified are the write gateway's alone (docs/reference/identity.md 4.1) and are as good as absent
 * here.
 */

import { Fault } from '../base/fault.ts'
import type { IdentifiedPrincipal, Principal, PrivilegedRole } from '../core/principal.ts'
import type { Session } from '../core/session.ts'

/**
 * The principal of a read or of a privileged action: the verified certificate's or bearer's; else the
 * session's own subject, whom a tenant administrator or the identity provider named.
 */
export function verifiedPart(identified: IdentifiedPrincipal, session: Session): Principal {
  return identified.verified && identified.source !== 'session' ? identified.principal : session.principal
}

/**
 * Lets one of some privileged roles through; a scope grants none.
 * @param principal verified
 * @throws Fault `forbidden` where it has none of the roles
 */
export function requireRole(principal: Principal, ...roles: readonly PrivilegedRole[]): void {
  if (roles.some((role) => principal.roles.includes(role))) return
  const names = roles.map((role) => `\`${role}\``).join(' or ')
  throw new Fault('forbidden', `This takes the role ${names}, from a verified credential.`)
}
