/** Mints, lists and revokes sessions for administrators. Only the response to minting holds the secret. */

import type { Logger } from 'pino'
import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import { serviceSubject } from '../../core/principal.ts'
import {
  type SessionKind,
  type SessionScope,
  type SessionState,
  sessionScopes,
  sessionStateOf,
} from '../../core/session.ts'
import type { TenantId } from '../../core/tenant.ts'
import { actorView } from '../../http/actor-view.ts'
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
  turnSessionSecret,
} from '../../store/session/sessions.ts'
import type { Store } from '../../store/store.ts'
import { sessionOut } from '../../store/vended/vended-credentials.ts'
import type { Metrics } from '../../telemetry/metrics.ts'

/** What the operations on sessions are assembled with. */
export interface SessionParts {
  readonly store: Store
  readonly clock: Clock
  /** Absent where an operator works on the store itself. */
  readonly log?: Logger
  readonly metrics?: Pick<Metrics, 'sessionsQuarantined'>
}

/** A request for a new session. */
interface WantedSession {
  readonly name: string
  readonly sub?: string | undefined
  readonly roles?: readonly string[] | undefined
  readonly scopes: readonly SessionScope[]
  readonly expires_at?: Date | undefined
}

/** Who mints a session. */
interface Minter {
  readonly actor: Actor
  /** The operator owns every tenant. In a tenant, so does a principal with the role `owner`. */
  readonly isOperator: boolean
}

/**
 * Makes a service session, whose subject is a name of its own; the answer holds its secret.
 * @throws Fault `forbidden` where the minter neither holds each role nor owns the tenant, `bad_request` where the
 *   session would already have expired, or a name is empty or too long
 */
export async function mintSession(
  store: Store,
  tenant: TenantId,
  nowMs: number,
  wanted: WantedSession,
  minter: Minter,
) {
  const { name, roles = [], scopes, expires_at: expiresAt } = wanted
  assertMayGrant(minter, roles)
  if (expiresAt !== undefined && expiresAt.getTime() <= nowMs)
    throw new Fault('bad_request', '`expires_at` must be a time in the future.')
  const sub = serviceSubject(wanted.sub ?? name)
  if (sub === serviceSubject('')) throw new Fault('bad_request', 'A service session needs a subject.')
  const made = await createServiceSession(
    store,
    tenant,
    {
      name,
      principal: { sub, roles },
      scopes: sessionScopes.filter((scope) => scopes.includes(scope)),
      expiresAt,
    },
    minter.actor,
  )
  return { ...made, sub }
}

/**
 * Gives a session another secret.
 * @returns the secret
 * @throws Fault `not_found`, and `forbidden` as {@link mintSession} or where the session is in the name of a person
 */
export async function turnSecret(
  store: Store,
  tenant: TenantId,
  id: string,
  minter: Minter,
): Promise<string> {
  const secret = await turnSessionSecret(store, tenant, id, minter.actor, ({ sub, roles }) => {
    assertMayGrant(minter, roles)
    if (serviceSubject(sub) !== sub)
      throw new Fault('forbidden', 'This session is in the name of a person: make a new one in its place.')
  })
  if (secret === undefined)
    throw new Fault('not_found', 'There is no such service session, or it has ended, or has no secret.')
  return secret
}

/** Nobody grants a role that they do not hold unless they own the tenant (docs/reference/identity.md 5.5). */
export function assertMayGrant({ actor, isOperator }: Minter, roles: readonly string[]): void {
  if (isOperator || actor.roles.includes('owner')) return
  const lacking = roles.filter((role) => !actor.roles.includes(role))
  if (lacking.length === 0) return
  const names = lacking.map((role) => `\`${role}\``).join(', ')
  throw new Fault(
    'forbidden',
    `You do not hold ${names}. Only an owner of the tenant may give a session a role that they do not hold.`,
  )
}

/** Sessions of one kind, in pages. */
export async function listSessions(
  { store, clock }: SessionParts,
  tenant: TenantId,
  kind: SessionKind,
  page: PageRequest,
) {
  const nowMs = clock.now()
  if (kind === 'browser')
    return pageView(await listBrowserSessions(store, tenant, page), (one) => browserView(one, nowMs))
  return pageView(await listServiceSessions(store, tenant, page), (one) => serviceView(one, nowMs))
}

/** What a revoked session still holds, as the API shows it. */
interface EndedSession {
  readonly state: SessionState
  readonly quarantined_until: Date | undefined
  readonly credentials_out: number
}

/**
 * Revokes a session of either kind, with effect on the next request.
 * @returns the storage credentials that it still holds
 * @throws Fault `not_found`
 */
export async function endSession(
  { store, log, metrics }: SessionParts,
  tenant: TenantId,
  id: string,
  by: Actor,
): Promise<EndedSession> {
  const ended =
    (await revokeServiceSession(store, tenant, id, by)) || (await revokeBrowserSession(store, tenant, id, by))
  if (!ended) throw new Fault('not_found', 'There is no such session, or it was already revoked.')
  const { credentials, until } = await store.tenantTransaction(tenant, (tx) => sessionOut(tx, tenant, id))
  if (until === undefined) return { state: 'revoked', quarantined_until: undefined, credentials_out: 0 }
  metrics?.sessionsQuarantined.inc()
  log?.warn({ tenant, session: id, credentials, until }, 'a revoked session still holds storage credentials')
  return { state: 'quarantined', quarantined_until: until, credentials_out: credentials }
}

function serviceView(session: ServiceSession, nowMs: number) {
  const { id, name, principal, scopes, createdAt, createdBy, expiresAt, revokedAt } = session
  return {
    id,
    kind: 'service' as const,
    name,
    principal: principalJson(principal),
    scopes,
    created_at: createdAt,
    created_by: creatorView(createdBy),
    expires_at: expiresAt,
    revoked_at: revokedAt,
    trusted_engine: session.isTrustedEngine,
    exchanged: session.isExchanged || undefined,
    ...stateView(session, nowMs),
  }
}

function browserView(session: BrowserSession, nowMs: number) {
  const { id, principal, scopes, createdAt, createdBy, seenAt, expiresAt, revokedAt } = session
  return {
    id,
    kind: 'browser' as const,
    principal: principalJson(principal),
    scopes,
    created_at: createdAt,
    created_by: creatorView(createdBy),
    seen_at: seenAt,
    expires_at: expiresAt,
    revoked_at: revokedAt,
    ...stateView(session, nowMs),
  }
}

function stateView(session: ServiceSession | BrowserSession, nowMs: number) {
  const state = sessionStateOf(session, nowMs)
  return { state, quarantined_until: state === 'quarantined' ? session.outUntil : undefined }
}

function creatorView(createdBy: Actor | undefined) {
  return createdBy && { ...actorView(createdBy), request_id: createdBy.requestId }
}

/** A principal's members in responses of the API. */
export function principalJson({ sub, email, roles }: ServiceSession['principal']) {
  return { sub, email, roles }
}
