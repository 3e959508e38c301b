/**
 * Identifies the caller of an MCP request. A service session comes as a bearer or in X-Svc-Session; a cookie is never
 * used, because another site's page could send it. Access tokens of the catalog are for another audience.
 */

import { type AdmitParts, admitter } from '../../auth/admit.ts'
import { bearerToken, claimsToBeOurs } from '../../auth/bearer.ts'
import type { ReadCredential } from '../../auth/read-credential.ts'
import { Fault } from '../../base/fault.ts'
import type { Caller } from '../../core/operation.ts'
import type { Session } from '../../core/session.ts'
import { isSessionSecret, serviceSecretPrefix } from '../../store/session/session-secret.ts'
import { findServiceSessionById } from '../../store/session/sessions.ts'
import type { Store } from '../../store/store.ts'
import { ReadSession } from '../read-session.ts'
import { type McpScope, scopesOf } from './scopes.ts'

export interface McpCaller {
  readonly caller: Caller
  /** The session as the read path checks it. */
  readonly reader: ReadSession
  readonly scopes: readonly McpScope[]
}

/** @throws Fault `unauthenticated`, or `forbidden` without the scope `read` or a license */
export type AdmitMcp = (request: Request) => Promise<McpCaller>

/** Makes the check of callers. */
export function mcpAdmitter(parts: AdmitParts & { readonly store: Store }): AdmitMcp {
  const { store, findSession, identify } = parts
  const admit = admitter(
    {
      ...parts,
      // A session secret as a bearer says who the session is, and nothing of a person.
      identify: (headers, peer, session) => identify(withoutSecret(headers), peer, session),
    },
    async (request, scope) => {
      const session = await sessionOf(request.headers, findSession)
      if (!session.scopes.includes(scope))
        throw new Fault('forbidden', `The session lacks the scope \`${scope}\`.`)
      return session
    },
  )
  return async (request) => {
    const caller = await admit(request, { scope: 'read', capability: 'mcp' })
    if (caller === undefined) throw new Fault('tenant_context_missing', 'The request has no tenant.')
    const reader = new ReadSession(readCredentialOf(store, caller))
    return { caller, reader, scopes: scopesOf(caller.session) }
  }
}

async function sessionOf(headers: Headers, findSession: AdmitParts['findSession']): Promise<Session> {
  const given = [headers.get('x-svc-session'), secretOf(headers)].filter((one) => one !== null && one !== '')
  const [secret, other] = given
  const token = bearerToken(headers.get('authorization'))
  const isForOthers = token !== undefined && claimsToBeOurs(token)
  const isService = typeof secret === 'string' && isSessionSecret(serviceSecretPrefix, secret)
  if (!isService || isForOthers || (other !== undefined && other !== secret))
    throw new Fault('unauthenticated', 'Send the secret of one service session: Authorization: Bearer svc_….')
  const session = await findSession(secret)
  if (session === undefined) throw new Fault('unauthenticated', 'The session is unknown, expired or revoked.')
  return session
}

/** The service session's secret that is sent as a bearer. */
function secretOf(headers: Headers): string | null {
  const token = bearerToken(headers.get('authorization'))
  return token?.startsWith(serviceSecretPrefix) ? token : null
}

function withoutSecret(headers: Headers): Headers {
  if (secretOf(headers) === null) return headers
  const others = new Headers(headers)
  others.delete('authorization')
  return others
}

/** The session as the read path checks it while a statement runs. */
function readCredentialOf(store: Store, { session, principal, identified }: Caller): ReadCredential {
  const { tenant, sessionId, expiresAtMs } = session
  return {
    tenant,
    principal,
    principalSource: principal === session.principal ? 'session' : identified.source,
    expiresAtMs,
    sessionToCheck: () => sessionId,
    async stillValid() {
      const now = await findServiceSessionById(store, sessionId)
      return now !== undefined && now.tenant === tenant && now.scopes.includes('read')
    },
  }
}
