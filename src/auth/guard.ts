/** The tenant middleware (docs/reference/identity.md 2.1): finds the session of a request before anything else is read. */

import { Fault } from '../base/fault.ts'
import type { Session, SessionScope } from '../core/session.ts'
import { bearerSecret, sessionCredential, takesBearerSecret } from './credentials.ts'

/**
 * Looks up the session of a credential.
 * @param credential a service session's secret, a browser session's secret, or an access token of this service
 * @param prefix a {prefix} to look up in the same round trip, where the store can: see `registered`
 * @returns undefined where the session is unknown, expired or revoked
 */
export type FindSession = (credential: string, prefix?: string) => Promise<Session | undefined>

/**
 * The session that a request carries in `X-Svc-Session`, in an access token or in its cookie; for the scopes `lineage`
 * and `scim` also in a bearer secret.
 * @throws Fault `unauthenticated` without a session that is known, unexpired and unrevoked; `forbidden` where it lacks
 *   `scope`, or another site's page sent the cookie
 */
export async function requireSession(
  request: Request,
  findSession: FindSession,
  scope: SessionScope,
  prefix?: string,
): Promise<Session> {
  const credential =
    sessionCredential(request) ?? (takesBearerSecret(scope) ? bearerSecret(request) : undefined)
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
 * The session that the tenant middleware found, for a handler that needs one (docs/reference/gateway.md 1.8).
 * @throws Fault `tenant_context_missing`
 */
export function tenantContext(session: Session | undefined): Session {
  if (session !== undefined) return session
  throw new Fault('tenant_context_missing', 'The request reached its handler without a tenant.')
}
