/**
 * The tenant middleware (docs/reference/identity.md 2.1): which session a request belongs to, before anything else is
 * looked at.
 */

import { Fault } from '../base/fault.ts'
import type { Session, SessionScope } from '../core/session.ts'
import { sessionCredential } from './credentials.ts'

/**
 * @param credential a service session's secret, a browser session's, or an access token of ours
 * @param prefix a {prefix} to look up for its tenant on the way, where that costs nothing: see `registered`
 * @returns undefined where it is not known, or not valid any more
 */
export type FindSession = (credential: string, prefix?: string) => Promise<Session | undefined>

/**
 * The session that a request carries in `X-Svc-Session`, in an access token of ours or in its cookie.
 * @throws Fault `unauthenticated` without a session that is known, unexpired and unrevoked;
 *   `forbidden` where its scopes do not hold `scope`, or another site's page sent the cookie
 */
export async function requireSession(
  request: Request,
  findSession: FindSession,
  scope: SessionScope,
  prefix?: string,
): Promise<Session> {
  const credential = sessionCredential(request)
  if (credential === undefined)
    throw new Fault(
      'unauthenticated',
      'No session: send a service session secret in the header X-Svc-Session, an access token of this service, or log in.',
    )
  const session = await findSession(credential, prefix)
  if (session === undefined) throw new Fault('unauthenticated', 'The session is unknown, expired or revoked.')
  if (!session.scopes.includes(scope))
    throw new Fault('forbidden', `The session lacks the scope \`${scope}\`.`)
  return session
}

/**
 * What the tenant middleware found, in a handler that cannot do without (docs/reference/gateway.md 1.8).
 * @throws Fault `tenant_context_missing`
 */
export function tenantContext(session: Session | undefined): Session {
  if (session !== undefined) return session
  throw new Fault('tenant_context_missing', 'The request reached its handler without a tenant.')
}
