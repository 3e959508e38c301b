/**
 * Identifies the caller of an MCP request: by an access token of the authorization server, or by a service session as a
 * bearer or in X-Svc-Session. A cookie is never used, because another site's page could send it. A token for another
 * resource, and the catalog's access tokens, are for another audience.
 */

import { type AdmitParts, admitter } from '../../auth/admit.ts'
import { resourceOf } from '../../auth/authorization/metadata.ts'
import { accessTokenPrefix, openTicket } from '../../auth/authorization/tickets.ts'
import { bearerToken, claimsToBeOurs } from '../../auth/bearer.ts'
import type { ReadCredential } from '../../auth/read-credential.ts'
import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import { sameSecret } from '../../base/same-secret.ts'
import type { McpScope } from '../../core/mcp-scope.ts'
import type { Caller } from '../../core/operation.ts'
import { isSessionSecret, serviceSecretPrefix } from '../../store/session/session-secret.ts'
import type { Store } from '../../store/store.ts'
import { ReadSession } from '../read-session.ts'
import { scopesOf } from './scopes.ts'

export interface McpCaller {
  readonly caller: Caller
  /** The session as the read path checks it. */
  readonly reader: ReadSession
  readonly scopes: readonly McpScope[]
}

/** @throws Fault `unauthenticated`, or `forbidden` without the scope `read` or a license */
export type AdmitMcp = (request: Request) => Promise<McpCaller>

interface McpAdmitParts extends AdmitParts {
  readonly store: Store
  readonly clock: Clock
  readonly publicUrl: () => URL
}

/** Makes the check of callers. */
export function mcpAdmitter(parts: McpAdmitParts): AdmitMcp {
  const { findSession, identify } = parts
  const admit = admitter(
    {
      ...parts,
      // A credential of ours says who the session is, and nothing more of a person.
      identify: (headers, peer, session) => identify(withoutOwnBearer(headers), peer, session),
    },
    async ({ headers }, scope) => {
      const session = await findSession(credentialOf(parts, headers).secret)
      if (session === undefined)
        throw new Fault('unauthenticated', 'The session is unknown, expired or revoked.')
      if (!session.scopes.includes(scope))
        throw new Fault('forbidden', `The session lacks the scope \`${scope}\`.`)
      return session
    },
  )
  return async (request) => {
    const caller = await admit(request, { scope: 'read', capability: 'mcp' })
    if (caller === undefined) throw new Fault('tenant_context_missing', 'The request has no tenant.')
    const { secret, granted } = credentialOf(parts, request.headers)
    const reader = new ReadSession(readCredentialOf(parts, caller, secret))
    const own = scopesOf(caller.session)
    return {
      caller,
      reader,
      scopes: granted === undefined ? own : own.filter((one) => granted.includes(one)),
    }
  }
}

interface Credential {
  /** Of the session. */
  readonly secret: string
  /** The scopes of an access token; undefined: all of the session's. */
  readonly granted?: readonly string[]
}

/** @throws Fault `unauthenticated` unless the request has exactly one credential that is for this resource */
function credentialOf({ store, clock, publicUrl }: McpAdmitParts, headers: Headers): Credential {
  const token = bearerToken(headers.get('authorization'))
  const header = headers.get('x-svc-session') ?? ''
  if (token?.startsWith(accessTokenPrefix) && header === '') {
    const grant = openTicket(store, 'access', resourceOf(publicUrl()), token, clock.now())
    if (grant !== undefined) return { secret: grant.secret, granted: grant.scopes }
  }
  const secret = header === '' ? (token ?? '') : header
  const isOther = token !== undefined && isOwnBearer(token) && !sameSecret(token, secret)
  if (isSessionSecret(serviceSecretPrefix, secret) && !isOther && !(token && claimsToBeOurs(token)))
    return { secret }
  throw new Fault(
    'unauthenticated',
    'Send one credential as Authorization: Bearer: a service session (svc_…), or a token of the authorization server.',
  )
}

function isOwnBearer(token: string | undefined): boolean {
  return token?.startsWith(serviceSecretPrefix) === true || token?.startsWith(accessTokenPrefix) === true
}

function withoutOwnBearer(headers: Headers): Headers {
  if (!isOwnBearer(bearerToken(headers.get('authorization')))) return headers
  const others = new Headers(headers)
  others.delete('authorization')
  return others
}

/** The session as the read path checks it while a statement runs. */
function readCredentialOf(
  { findSession }: McpAdmitParts,
  { session, principal, identified }: Caller,
  secret: string,
): ReadCredential {
  const { tenant, sessionId, expiresAtMs, kind } = session
  return {
    tenant,
    principal,
    principalSource: principal === session.principal ? 'session' : identified.source,
    expiresAtMs,
    // The store's load of a statement knows service sessions only.
    sessionToCheck: () => (kind === 'service' ? sessionId : undefined),
    async stillValid() {
      const now = await findSession(secret)
      return now?.sessionId === sessionId && now.scopes.includes('read')
    },
  }
}
