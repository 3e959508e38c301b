/** Checks each request against the access that its operation declares. All operations are checked here. */

import { Fault, toFault } from '../base/fault.ts'
import { sameSecret } from '../base/same-secret.ts'
import type { Access, Caller } from '../core/operation.ts'
import type { Session, SessionScope } from '../core/session.ts'
import { peerAddress } from '../http/peer-address.ts'
import type { Licensed } from '../license/licensed.ts'
import { type FindSession, requireSession, tenantContext } from './guard.ts'
import type { IdentifyPrincipal } from './principal-chain.ts'
import { requireRole, verifiedPart } from './verified-principal.ts'

export interface AdmitParts {
  readonly findSession: FindSession
  readonly identify: IdentifyPrincipal
  readonly licensed: Pick<Licensed, 'require'>
  /** Undefined: /admin refuses everyone. */
  readonly internalAdminOrgId: string | undefined
}

/**
 * Checks one request.
 * @returns the caller; undefined where the access needs no session, or a session without a principal
 * @throws Fault `unauthenticated` or `forbidden`; checks session, scope, license, principal and role in this order
 */
export type Admit = (request: Request, access: Access) => Promise<Caller | undefined>

/**
 * Makes the check.
 * @param tenantSession the tenant middleware: finds the session of a request, which must hold the scope
 */
export function admitter(
  parts: AdmitParts,
  tenantSession: (request: Request, scope: SessionScope) => Promise<Session | undefined> = (request, scope) =>
    requireSession(request, parts.findSession, scope),
): Admit {
  return async (request, access) => {
    if ('open' in access) return undefined
    if ('organization' in access) {
      await requireInternalAdmin(parts, request)
      return undefined
    }
    const session = tenantContext(await tenantSession(request, access.scope))
    if (access.capability !== undefined) parts.licensed.require(access.capability)
    const identified = await parts.identify(request.headers, peerAddress(request), session)
    const principal = verifiedPart(identified, session)
    if (access.roles !== undefined) requireRole(principal, ...access.roles)
    return { session, tenant: session.tenant, principal, identified }
  }
}

/**
 * Checks that the session is one of the internal admin organization.
 * @throws Fault `forbidden` for every refusal, so that /admin does not reveal which sessions exist
 */
export async function requireInternalAdmin(
  { findSession, internalAdminOrgId: internal }: AdmitParts,
  request: Request,
): Promise<void> {
  const session = await requireSession(request, findSession, 'admin').catch((thrown: unknown) => {
    const fault = toFault(thrown)
    if (fault.kind !== 'unauthenticated') throw fault
    return undefined
  })
  const organization = session?.organizationId
  if (organization === undefined || internal === undefined || !sameSecret(organization, internal))
    throw new Fault('forbidden', 'Administration is for members of the internal admin organization.')
}
