/** Mints, lists and revokes sessions for administrators. Only the response to minting holds the secret. */

import { Fault } from '../../base/fault.ts'
import { type SessionScope, sessionScopes } from '../../core/session.ts'
import type { TenantId } from '../../core/tenant.ts'
import { pageView } from '../../http/page-view.ts'
import type { PageRequest } from '../../store/database/page.ts'
import {
  type BrowserSession,
  listBrowserSessions,
  revokeBrowserSession,
} from '../../store/session/browser-sessions.ts'
import {
  createServiceSession,
  listServiceSessions,
  revokeServiceSession,
  type ServiceSession,
} from '../../store/session/sessions.ts'
import type { Store } from '../../store/store.ts'

/** A request for a new session. */
export interface WantedSession {
  readonly name: string
  readonly sub?: string | undefined
  readonly email?: string | undefined
  readonly roles?: readonly string[] | undefined
  readonly scopes: readonly SessionScope[]
  readonly expires_at?: Date | undefined
}

/**
 * Makes a service session; the answer holds its secret.
 * @throws Fault `bad_request` where it would already have expired, or a name is too long
 */
export async function mintSession(store: Store, tenant: TenantId, nowMs: number, wanted: WantedSession) {
  const { name, sub = name, email, roles = [], scopes, expires_at: expiresAt } = wanted
  if (expiresAt !== undefined && expiresAt.getTime() <= nowMs)
    throw new Fault('bad_request', '`expires_at` must be a time in the future.')
  return await createServiceSession(store, tenant, {
    name,
    principal: { sub, ...(email !== undefined && { email }), roles },
    scopes: sessionScopes.filter((scope) => scopes.includes(scope)),
    expiresAt,
  })
}

export const sessionKinds = ['service', 'browser'] as const

/** Sessions of one kind, in pages. */
export async function listSessions(
  store: Store,
  tenant: TenantId,
  kind: (typeof sessionKinds)[number],
  page: PageRequest,
) {
  if (kind === 'browser') {
    return pageView(await listBrowserSessions(store, tenant, page), browserView)
  }
  return pageView(await listServiceSessions(store, tenant, page), serviceView)
}

/**
 * Revokes a session of either kind, with effect on the next request.
 * @throws Fault `not_found`
 */
export async function endSession(store: Store, tenant: TenantId, id: string): Promise<void> {
  const ended =
    (await revokeServiceSession(store, tenant, id)) || (await revokeBrowserSession(store, tenant, id))
  if (!ended) throw new Fault('not_found', 'There is no such session, or it was already revoked.')
}

function serviceView({ id, name, principal, scopes, createdAt, expiresAt, revokedAt }: ServiceSession) {
  return {
    id,
    name,
    principal: principalJson(principal),
    scopes,
    created_at: createdAt,
    expires_at: expiresAt,
    revoked_at: revokedAt,
  }
}

function browserView({ id, principal, scopes, createdAt, seenAt, expiresAt, revokedAt }: BrowserSession) {
  return {
    id,
    principal: principalJson(principal),
    scopes,
    created_at: createdAt,
    seen_at: seenAt,
    expires_at: expiresAt,
    revoked_at: revokedAt,
  }
}

/** A principal's members in responses of the API. */
export function principalJson({ sub, email, roles }: ServiceSession['principal']) {
  return { sub, email, roles }
}
