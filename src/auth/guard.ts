/** The tenant middleware (SPEC 5): which session a request belongs to, before anything else is looked at. */

import { Fault } from '../base/fault.ts'
import type { Session, SessionScope } from '../core/session.ts'

export type FindSession = (secret: string) => Promise<Session | undefined>

/**
 * The session that a request carries in `X-Svc-Session`.
 * @throws Fault `unauthenticated` without a session that is known, unexpired and unrevoked;
 *   `forbidden` where its scopes do not hold `scope`
 */
export async function requireSession(
  headers: Headers,
  findSession: FindSession,
  scope: SessionScope,
): Promise<Session> {
  const secret = headers.get('x-svc-session')
  if (secret === null || secret === '')
    throw new Fault(
      'unauthenticated',
      'No session: send a service session secret in the header X-Svc-Session.',
    )
  const session = await findSession(secret)
  if (session === undefined) throw new Fault('unauthenticated', 'The session is unknown, expired or revoked.')
  if (!session.scopes.includes(scope))
    throw new Fault('forbidden', `The session lacks the scope \`${scope}\`.`)
  return session
}
