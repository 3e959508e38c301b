/** Checks each request against the access that its operation declares. All operations are checked here. */

import { Fault, toFault } from '../base/fault.ts'
import { sameSecret } from '../base/same-secret.ts'
import type { Actor } from '../core/administration.ts'
import type { Access, Caller } from '../core/operation.ts'
import { purposeHeader, purposeOfHeader } from '../core/purpose.ts'
import type { Session, SessionScope } from '../core/session.ts'
import { aboutRequest } from '../http/about-request.ts'
import type { Licensed } from '../license/licensed.ts'
import { bearerSecret, takesBearerSecret } from './credentials.ts'
import { type FindSession, requireSession, tenantContext } from './guard.ts'
import type { IdentifyPrincipal } from './principal-chain.ts'
import { requireData, requireRole, verifiedPart } from './verified-principal.ts'

export interface AdmitParts {
  readonly findSession: FindSession
  readonly identify: IdentifyPrincipal
  readonly licensed: Pick<Licensed, 'require'>
  /** Undefined: /admin refuses everyone. */
  readonly internalAdminOrgId: string | undefined
  /** The subject of who made a service session; undefined where that is not recorded. */
  readonly findCreator: (session: Session) => Promise<string | undefined>
}

/**
 * Checks one request.
 * @returns the caller; undefined where the access needs no session
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
    if ('organization' in access) return await admitInternalAdmin(parts, request)
    const session = tenantContext(await tenantSession(request, access.scope))
    if (access.capability !== undefined) parts.licensed.require(access.capability)
    const caller = await identifyCaller(parts, request, session, headersOfPrincipal(request, access.scope))
    if (access.roles !== undefined) requireRole(caller.principal, ...access.roles)
    if (access.scope === 'commit') requireData(caller.principal)
    return caller
  }
}

/** A bearer that is the session's secret names no principal. */
function headersOfPrincipal(request: Request, scope: SessionScope): Headers {
  if (!takesBearerSecret(scope) || bearerSecret(request) === undefined) return request.headers
  const headers = new Headers(request.headers)
  headers.delete('authorization')
  return headers
}

async function identifyCaller(
  parts: AdmitParts,
  request: Request,
  session: Session,
  headers = request.headers,
): Promise<Caller> {
  const identified = await parts.identify(headers, aboutRequest(request).peer, session)
  const principal = verifiedPart(identified, session)
  const source = principal === session.principal ? 'session' : identified.source
  const requestId = aboutRequest(request).id ?? crypto.randomUUID()
  const actor = async (): Promise<Actor> => {
    const createdBy = await parts.findCreator(session)
    const through = {
      id: session.sessionId,
      kind: session.kind,
      ...(createdBy !== undefined && { createdBy }),
    }
    return { ...principal, source, session: through, requestId }
  }
  const purpose = purposeOfHeader(request.headers.get(purposeHeader))
  const stated = purpose === undefined ? {} : { purpose }
  return { session, tenant: session.tenant, principal, identified, actor, ...stated }
}

/**
 * Admits a session of the internal admin organization.
 * @throws Fault `forbidden` for every refusal, so that /admin does not reveal which sessions exist
 */
async function admitInternalAdmin(parts: AdmitParts, request: Request): Promise<Caller> {
  const { findSession, internalAdminOrgId: internal } = parts
  const session = await unlessUnauthenticated(requireSession(request, findSession, 'admin'))
  const organization = session?.organizationId
  if (session === undefined || organization === undefined || internal === undefined) throw notInternal()
  if (!sameSecret(organization, internal)) throw notInternal()
  const caller = await unlessUnauthenticated(identifyCaller(parts, request, session))
  if (caller === undefined) throw notInternal()
  return caller
}

const notInternal = () =>
  new Fault('forbidden', 'Administration is for members of the internal admin organization.')

async function unlessUnauthenticated<T>(step: Promise<T>): Promise<T | undefined> {
  return await step.catch((thrown: unknown) => {
    const fault = toFault(thrown)
    if (fault.kind !== 'unauthenticated') throw fault
    return undefined
  })
}
