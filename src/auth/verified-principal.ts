/**
 * Who reads, and who holds a privileged role (DESIGN): only what was verified here counts. Claims that
 * nobody verified are the write gateway's alone (SPEC 5) and are as good as absent here.
 */

import { Fault } from '../base/fault.ts'
import type { Principal } from '../core/principal.ts'
import type { Session } from '../core/session.ts'
import { peerAddress } from '../http/peer-address.ts'
import type { IdentifyPrincipal } from './principal-chain.ts'

/** Roles that open more than a tenant's own reading and writing. */
export type PrivilegedRole = 'steward' | 'administrator'

/**
 * The principal of a read or of a privileged action: the verified certificate's or bearer's; else the
 * session's own subject, whom a tenant administrator or the identity provider named.
 * @throws Fault `unauthenticated` as the principal chain does
 */
export async function verifiedPrincipal(
  identify: IdentifyPrincipal,
  request: Request,
  session: Session,
): Promise<Principal> {
  const identified = await identify(request.headers, peerAddress(request), session)
  return identified.verified && identified.source !== 'session' ? identified.principal : session.principal
}

/**
 * Who acts in one of some privileged roles; a scope grants none.
 * @throws Fault `forbidden` where the verified principal has none of the roles
 */
export async function requireRole(
  identify: IdentifyPrincipal,
  request: Request,
  session: Session,
  ...roles: readonly PrivilegedRole[]
): Promise<Principal> {
  const principal = await verifiedPrincipal(identify, request, session)
  if (!roles.some((role) => principal.roles.includes(role))) {
    const names = roles.map((role) => `\`${role}\``).join(' or ')
    throw new Fault('forbidden', `This takes the role ${names}, from a verified credential.`)
  }
  return principal
}
