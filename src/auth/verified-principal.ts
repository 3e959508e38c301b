/**
 * Finds the principal of reads and privileged actions (docs/reference/identity.md 4.2), from verified credentials only.
 * Unverified claims are for the write gateway (docs/reference/identity.md 4.1) and are ignored here.
 */

import { Fault } from '../base/fault.ts'
import {
  type IdentifiedPrincipal,
  type Principal,
  type PrivilegedRole,
  readsRecordsOnly,
  recordsOnly,
} from '../core/principal.ts'
import type { Session } from '../core/session.ts'

/**
 * The principal of a read or of a privileged action. It is that of the verified certificate or bearer. Else it is the
 * session's own subject, whom a tenant administrator or the identity provider named.
 */
export function verifiedPart(identified: IdentifiedPrincipal, session: Session): Principal {
  return identified.verified && identified.source !== 'session' ? identified.principal : session.principal
}

/**
 * Requires one of some privileged roles. A scope never stands in for a role.
 * @param principal verified
 * @throws Fault `forbidden` where it has none of the roles
 */
export function requireRole(principal: Pick<Principal, 'roles'>, ...roles: readonly PrivilegedRole[]): void {
  if (roles.some((role) => principal.roles.includes(role))) return
  const names = roles.map((role) => `\`${role}\``).join(' or ')
  throw new Fault('forbidden', `This request needs the role ${names}, from a verified credential.`)
}

/**
 * Requires a principal that may read data, or write it.
 * @param principal verified
 * @throws Fault `forbidden` for an auditor who is nothing else
 */
export function requireData(principal: Pick<Principal, 'roles'>): void {
  if (readsRecordsOnly(principal)) throw new Fault('forbidden', recordsOnly)
}
