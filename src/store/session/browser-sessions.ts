/**
 * Creates, finds and revokes browser sessions (docs/reference/identity.md 6). Only the hash of the cookie's secret is
 * stored.
 */

import { Fault } from '../../base/fault.ts'
import { type Actor, operator } from '../../core/administration.ts'
import type { Principal } from '../../core/principal.ts'
import type { Session, SessionScope } from '../../core/session.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import { assertIndexable, storableJson, storableText } from '../database/names.ts'
import { afterUuid, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import { sealedColumns } from '../database/sealed-columns.ts'
import { seal, unseal } from '../database/sealing.ts'
import type { Store } from '../store.ts'
import { outUntilText } from '../vended/vended-credentials.ts'
import { hasEnded } from './ended-logins.ts'
import { standingAtLogin } from './provisioning.ts'
import { browserSecretPrefix, newSessionSecret, sessionSecretDigest } from './session-secret.ts'
import { revokeSession, type SessionRow, toPrincipal, toSession } from './sessions.ts'

interface NewBrowserSession {
  readonly principal: Principal
  readonly scopes: readonly SessionScope[]
  /** The identity provider's id of the login, where it gives one. */
  readonly providerSid: string | undefined
  /** When the provider issued the login's ID token, in milliseconds since 1970; default: now. */
  readonly issuedAtMs?: number
  /** The ID token, by which the person logs out at the provider; kept sealed. */
  readonly idToken?: string | undefined
  /** Of the request that completed the login. */
  readonly requestId?: string | undefined
}

/** A browser session as a listing shows it. */
export interface BrowserSession {
  readonly id: string
  readonly principal: Principal
  readonly scopes: readonly SessionScope[]
  readonly createdAt: Date
  /** The person who logged in; undefined for a session that was made before its creator was recorded. */
  readonly createdBy: Actor | undefined
  readonly seenAt: Date
  readonly expiresAt: Date
  readonly revokedAt: Date | undefined
  /** Until when it holds storage credentials; undefined where it holds none. */
  readonly outUntil: Date | undefined
}

/**
 * Creates a browser session and revokes the one that the browser had before, which prevents session fixation.
 * It also removes some sessions that expired more than a week ago.
 * @param replaced the browser's previous cookie value, valid or not
 * @returns the secret for the cookie; undefined where the tenant is not active
 * @throws Fault `bad_request` for a subject or a login id that is too long, `unauthenticated` where the provider has
 *   ended the login meanwhile
 */
export async function createBrowserSession(
  store: Store,
  tenant: TenantId,
  login: NewBrowserSession,
  replaced: string | undefined,
): Promise<string | undefined> {
  const { principal, scopes, providerSid, idToken } = login
  const { issuedAtMs = Date.now(), requestId = crypto.randomUUID() } = login
  assertIndexable(principal.sub, 'A subject')
  assertIndexable(providerSid ?? '', 'The identity provider’s id of a login')
  const id = crypto.randomUUID()
  const { secret, digest } = newSessionSecret(store, browserSecretPrefix)
  const by: Actor = { ...principal, source: 'login', requestId }
  return await store.adminTransaction(async (tx) => {
    if (await hasEnded(tx, { sid: providerSid, sub: principal.sub, atMs: issuedAtMs }))
      throw new Fault('unauthenticated', 'The identity provider has ended this login. Start again at /login.')
    const standing = await standingAtLogin(tx, tenant, principal)
    const isSame = standing.kind !== 'by groups' || Bun.deepEquals(standing.roles, principal.roles)
    if (standing.kind === 'refused' || !isSame)
      throw new Fault('unauthenticated', 'Your access has changed meanwhile. Start again at /login.')
    const before =
      replaced === undefined ? undefined : sessionSecretDigest(store, browserSecretPrefix, replaced)
    if (before !== undefined) await tx.query(revokeByDigest, [before])
    await tx.query(
      `delete from svc.browser_session where (tenant_id, session_id) in
         (select tenant_id, session_id from svc.browser_session
          where expires_at < now() - interval '7 days' limit 100 for update skip locked)`,
    )
    const rows = await tx.query(
      `insert into svc.browser_session (tenant_id, session_id, secret_sha256, principal_sub, principal_email,
         principal_roles, scopes, provider_sid, expires_at, created_by, id_token)
       select tenant_id, $2, $3, $4, $5, $6::text::jsonb, $7::text::jsonb, $8,
         now() + $9::float8 * interval '1 ms', $10::text::jsonb, $11
       from svc.tenant where tenant_id = $1 and state = 'active' returning 1`,
      [
        tenant,
        id,
        digest,
        storableText(principal.sub),
        principal.email === undefined ? null : storableText(principal.email),
        storableJson(principal.roles),
        storableJson(scopes),
        providerSid === undefined ? null : storableText(providerSid),
        limits.browserSessionMs,
        storableJson(by),
        idToken === undefined
          ? null
          : seal(store.secretsKey, sealedColumns.idToken.place(tenant, id), idToken),
      ],
    )
    return rows.length === 1 ? secret : undefined
  })
}

const revokeByDigest =
  'update svc.browser_session set revoked_at = now() where secret_sha256 = $1 and revoked_at is null returning tenant_id, session_id, id_token'

/**
 * The session of a cookie's secret; undefined where it is unknown, revoked, expired or idle for too long, or its
 * tenant is suspended. The same statement records, at most once a minute, that the session was used.
 */
export async function findBrowserSession(store: Store, secret: string): Promise<Session | undefined> {
  const digest = sessionSecretDigest(store, browserSecretPrefix, secret)
  if (digest === undefined) return undefined
  const [row] = await store.adminQuery<SessionRow>(
    `with found as (
       select s.*, t.organization_id, t.issuers_version from svc.browser_session s join svc.tenant t using (tenant_id)
       where s.secret_sha256 = $1 and s.revoked_at is null and t.state = 'active'
         and s.expires_at > clock_timestamp() and s.seen_at > clock_timestamp() - $2::float8 * interval '1 ms'),
     touched as (
       update svc.browser_session s set seen_at = clock_timestamp() from found
       where (s.tenant_id, s.session_id) = (found.tenant_id, found.session_id)
         and s.seen_at < clock_timestamp() - interval '1 minute')
     select session_id, tenant_id, organization_id, issuers_version, principal_sub, principal_email, principal_roles, scopes
     from found`,
    [digest, limits.browserSessionIdleMs],
  )
  return row && toSession(row, 'browser')
}

/**
 * Revokes the session of a cookie's secret, at logout.
 * @returns the ID token of its login, where there is one
 */
export async function endBrowserSession(store: Store, secret: string): Promise<string | undefined> {
  const digest = sessionSecretDigest(store, browserSecretPrefix, secret)
  if (digest === undefined) return undefined
  const [ended] = await store.adminQuery<{
    readonly tenant_id: TenantId
    readonly session_id: string
    readonly id_token: Uint8Array | null
  }>(revokeByDigest, [digest])
  if (ended === undefined || ended.id_token === null) return undefined
  return unseal(store, sealedColumns.idToken.place(ended.tenant_id, ended.session_id), ended.id_token)
}

/** Revokes a session at once. @returns whether there was one that was not revoked before */
export function revokeBrowserSession(
  store: Store,
  tenant: TenantId,
  id: string,
  by: Actor = operator(),
): Promise<boolean> {
  return revokeSession(store, tenant, 'browser', id, by)
}

/** The tenant's browser sessions by id, including expired and revoked ones. */
export async function listBrowserSessions(
  store: Store,
  tenant: TenantId,
  page: PageRequest = {},
): Promise<Page<BrowserSession>> {
  const limit = pageLimit(page)
  const rows = await store.tenantQuery<
    SessionRow & {
      readonly created_at: Date
      readonly created_by: Actor | null
      readonly seen_at: Date
      readonly expires_at: Date
      readonly revoked_at: Date | null
      readonly out_until: Date | null
    }
  >(
    tenant,
    `select session_id, principal_sub, principal_email, principal_roles, scopes, created_at, created_by, seen_at,
       expires_at, revoked_at, ${outUntilText} as out_until
     from svc.browser_session s where tenant_id = $1 and session_id > $2 order by session_id limit $3::int`,
    [tenant, afterUuid(page), limit + 1],
  )
  const sessions = rows.map((row) => ({
    id: row.session_id,
    principal: toPrincipal(row),
    scopes: row.scopes,
    createdAt: row.created_at,
    createdBy: row.created_by ?? undefined,
    seenAt: row.seen_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at ?? undefined,
    outUntil: row.out_until ?? undefined,
  }))
  return toPage(sessions, limit, ({ id }) => id)
}

/** Whether a browser session may read now; its tenant is checked by the caller's own session. */
export async function mayBrowserSessionRead(store: Store, tenant: TenantId, id: string): Promise<boolean> {
  const rows = await store.tenantQuery(
    tenant,
    `select 1 from svc.browser_session where tenant_id = $1 and session_id = $2::uuid and revoked_at is null
       and expires_at > clock_timestamp() and scopes ? 'read'`,
    [tenant, id],
  )
  return rows.length === 1
}
