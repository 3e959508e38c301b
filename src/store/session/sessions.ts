/**
 * Creates, finds and revokes service sessions (docs/reference/identity.md 2.2). They prove the tenant of clients such
 * as engines, which cannot follow a login redirect.
 */

import { createHmac } from 'node:crypto'
import { Fault } from '../../base/fault.ts'
import { sameSecret } from '../../base/same-secret.ts'
import { type Actor, operator } from '../../core/administration.ts'
import { type Principal, serviceSubject } from '../../core/principal.ts'
import type { Session, SessionKind, SessionScope } from '../../core/session.ts'
import { isPathIdentifier } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import {
  formatScramVerifier,
  makeScramVerifier,
  parseScramVerifier,
  type ScramVerifier,
} from '../../wire/postgres/scram.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { type CatalogCredentialRow, toSealedCredential } from '../catalog-credential/catalog-credentials.ts'
import { assertIndexable, storableJson } from '../database/names.ts'
import { afterUuid, isUuid, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import { appendEvent } from '../event/events.ts'
import type { Store } from '../store.ts'
import { outUntilText, sessionOut } from '../vended/vended-credentials.ts'
import { newSessionSecret, serviceSecretPrefix, sessionSecretDigest } from './session-secret.ts'

interface NewServiceSession {
  readonly name: string
  readonly principal: Principal
  readonly scopes: readonly SessionScope[]
  /** Absent: the session is valid until it is revoked. */
  readonly expiresAt?: Date | undefined
}

export interface ServiceSession extends NewServiceSession {
  readonly id: string
  readonly createdAt: Date
  /** Undefined for a session that was made before its creator was recorded. */
  readonly createdBy: Actor | undefined
  readonly revokedAt: Date | undefined
  /** Until when it holds storage credentials; undefined where it holds none. */
  readonly outUntil: Date | undefined
  /** Whether a workload exchanged a token of its own for it. */
  readonly isExchanged: boolean
  /** Whether an administrator vouches that its engine applies `read-restrictions`. */
  readonly isTrustedEngine: boolean
}

interface Row {
  readonly session_id: string
  readonly name: string
  readonly principal_sub: string
  readonly principal_email: string | null
  readonly principal_roles: readonly string[]
  readonly scopes: readonly SessionScope[]
  readonly created_at: Date
  readonly created_by: Actor | null
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
  readonly out_until: Date | null
  readonly trusted_engine: boolean
  readonly is_exchanged: boolean
}

/** The principal that a session's row names. */
export function toPrincipal(
  row: Pick<Row, 'principal_sub' | 'principal_email' | 'principal_roles'>,
): Principal {
  return {
    sub: row.principal_sub,
    ...(row.principal_email !== null && { email: row.principal_email }),
    roles: row.principal_roles,
  }
}

/**
 * Creates a service session.
 * @param by who makes it; the operator where the caller has the store at hand
 * @returns its id and the secret, which is not stored and cannot be shown again
 * @throws Fault `bad_request` for an empty or too long name or subject
 */
export async function createServiceSession(
  store: Store,
  tenant: TenantId,
  { name, principal, scopes, expiresAt }: NewServiceSession,
  by: Actor = operator(),
): Promise<{ readonly id: string; readonly secret: string }> {
  if (name.trim() === '' || name.length > 255)
    throw new Fault('bad_request', 'A service session needs a name of 1 to 255 characters.')
  if (principal.sub === '') throw new Fault('bad_request', 'A service session needs a subject.')
  assertIndexable(principal.sub, 'A subject')
  const id = crypto.randomUUID()
  const { secret, digest } = newSessionSecret(store, serviceSecretPrefix)
  await store.tenantTransaction(tenant, async (tx) => {
    await tx.query(
      `insert into svc.service_session (tenant_id, session_id, secret_sha256, name, principal_sub, principal_email,
         principal_roles, scopes, expires_at, scram_verifier, created_by)
       values ($1, $2, $3, $4, $5, $6, $7::text::jsonb, $8::text::jsonb, $9, $10, $11::text::jsonb)`,
      [
        tenant,
        id,
        digest,
        name,
        principal.sub,
        principal.email ?? null,
        storableJson(principal.roles),
        storableJson(scopes),
        expiresAt ?? null,
        formatScramVerifier(makeScramVerifier(secret, scramSalt(store, id))),
        storableJson(by),
      ],
    )
    const value = { name, sub: principal.sub, roles: principal.roles, scopes, expires_at: expiresAt }
    await recordAdministration(tx, by, { action: 'create-session', subject: { session: id }, value })
  })
  return { id, secret }
}

/**
 * Gives a live session another secret, with effect on the next request and log-in. What was opened with the one before
 * stays open: connections of SQL clients, and access tokens until they end.
 * @param permit throws where the caller may not have a secret of this principal
 * @returns the secret, which cannot be shown again; undefined where there is no such session, or it has no secret
 */
export async function turnSessionSecret(
  store: Store,
  tenant: TenantId,
  id: string,
  by: Actor,
  permit: (principal: Principal) => void,
): Promise<string | undefined> {
  if (!isUuid(id)) return undefined
  const { secret, digest } = newSessionSecret(store, serviceSecretPrefix)
  return await store.tenantTransaction(tenant, async (tx) => {
    // One that was exchanged for a token of its workload is asked for by that.
    const [row] = await tx.query<Pick<Row, 'principal_sub' | 'principal_email' | 'principal_roles'>>(
      `select principal_sub, principal_email, principal_roles from svc.service_session
       where tenant_id = $1 and session_id = $2 and revoked_at is null and trust_id is null
         and (expires_at is null or expires_at > clock_timestamp()) for update`,
      [tenant, id],
    )
    if (row === undefined) return undefined
    permit(toPrincipal(row))
    await tx.query(
      `update svc.service_session set secret_sha256 = $3, scram_verifier = $4, secret_turned_at = clock_timestamp()
       where tenant_id = $1 and session_id = $2`,
      [tenant, id, digest, formatScramVerifier(makeScramVerifier(secret, scramSalt(store, id)))],
    )
    const subject = { session: id, sub: row.principal_sub }
    await recordAdministration(tx, by, { action: 'turn-session-secret', subject })
    return secret
  })
}

/** The columns of a session's row from which `toSession` makes a session. */
export type SessionRow = Pick<
  Row,
  'session_id' | 'principal_sub' | 'principal_email' | 'principal_roles' | 'scopes'
> & {
  readonly tenant_id: TenantId
  readonly organization_id: string | null
  readonly issuers_version: string
  readonly expires_at?: Date | null
}

/** The session of a row. */
export function toSession(row: SessionRow, kind: SessionKind): Session {
  return {
    sessionId: row.session_id,
    kind,
    tenant: row.tenant_id,
    organizationId: row.organization_id ?? undefined,
    ...(row.issuers_version !== '0' && { issuersVersion: row.issuers_version }),
    principal: toPrincipal(row),
    scopes: row.scopes,
    ...(row.expires_at && { expiresAtMs: row.expires_at.getTime() }),
  }
}

/**
 * The session of a secret; undefined where it is unknown, expired or revoked, or its tenant is suspended.
 * A secret that was not made with this key costs one HMAC, compared in constant time.
 * @param prefix a {prefix} whose catalog credential is looked up in the same statement
 */
export async function findServiceSession(
  store: Store,
  secret: string,
  prefix?: string,
): Promise<Session | undefined> {
  const digest = serviceSecretDigest(store, secret)
  return digest && (await find(store, digest, null, prefix))
}

/** The digest by which SQL looks a service session up; undefined for a secret that was not made with this key. */
export function serviceSecretDigest(store: Store, secret: string): Uint8Array | undefined {
  return sessionSecretDigest(store, serviceSecretPrefix, secret)
}

/** The service session of this id, which an access token names, under the same conditions. */
export async function findServiceSessionById(
  store: Store,
  id: string,
  prefix?: string,
): Promise<Session | undefined> {
  return isUuid(id) ? await find(store, null, id, prefix) : undefined
}

type FoundRow = SessionRow & {
  [Column in keyof CatalogCredentialRow]: CatalogCredentialRow[Column] | null
} & {
  readonly fingerprint: string
}

async function find(
  store: Store,
  digest: Uint8Array | null,
  id: string | null,
  given: string | undefined,
): Promise<Session | undefined> {
  const prefix = given !== undefined && isPathIdentifier(given) ? given : undefined
  const [row] = await store.adminCall<FoundRow>('find_service_session', [digest, id, prefix ?? null])
  if (row === undefined || prefix === undefined) return row && toSession(row, 'service')
  const credential = row.credential_id === null ? undefined : toSealedCredential(row as CatalogCredentialRow)
  const { fingerprint } = row
  return { ...toSession(row, 'service'), registered: { prefix, credential, fingerprint } }
}

/**
 * The session of this id as in findServiceSessionById, with the SCRAM verifier of its secret. Undefined also where the
 * verifier is missing or was made with another secrets key, because SCRAM cannot check the HMAC in the secret.
 */
export async function findScramVerifier(
  store: Store,
  id: string,
): Promise<{ readonly session: Session; readonly verifier: ScramVerifier } | undefined> {
  const session = await findServiceSessionById(store, id)
  if (session === undefined) return undefined
  const [row] = await store.adminQuery<{ readonly scram_verifier: string | null }>(
    'select scram_verifier from svc.service_session where session_id = $1',
    [id],
  )
  const verifier = verifierOf(store, id, row?.scram_verifier)
  return verifier && { session, verifier }
}

function verifierOf(store: Store, id: string, text: string | null | undefined): ScramVerifier | undefined {
  const verifier = parseScramVerifier(text ?? '')
  return verifier && sameSecret(verifier.salt, scramSalt(store, id)) ? verifier : undefined
}

/**
 * Whose session it is that would be valid, were its tenant not suspended. It lets nobody in.
 * @param key the digest of its secret, or its id
 */
export async function findSuspendedSession(
  store: Store,
  key: { readonly digest: Uint8Array } | { readonly id: string },
): Promise<
  | {
      readonly sub: string
      readonly scopes: readonly SessionScope[]
      readonly verifier?: ScramVerifier | undefined
    }
  | undefined
> {
  if ('id' in key && !isUuid(key.id)) return undefined
  const [column, value] = 'id' in key ? ['session_id', key.id] : ['secret_sha256', key.digest]
  const [row] = await store.adminQuery<
    Pick<Row, 'session_id' | 'principal_sub' | 'scopes'> & { readonly scram_verifier: string | null }
  >(
    `select s.session_id, s.principal_sub, s.scopes, s.scram_verifier
     from svc.service_session s join svc.tenant t using (tenant_id)
     where s.${column} = $1 and s.revoked_at is null and t.state = 'suspended'
       and (s.expires_at is null or s.expires_at > clock_timestamp())`,
    [value ?? null],
  )
  if (row === undefined) return undefined
  const verifier = verifierOf(store, row.session_id, row.scram_verifier)
  return { sub: row.principal_sub, scopes: row.scopes, verifier }
}

/** A salt that differs for every session and every root. */
function scramSalt(store: Store, id: string): Uint8Array {
  return createHmac('sha256', store.roots.sessions).update(`scram salt\0${id}`).digest().subarray(0, 16)
}

/**
 * The subject of the person who made the session that a request carries, by a session of a service or through several.
 * What the operator made on the store is of nobody, so that the first service in such a chain stands for itself. A login
 * makes a browser session for its own person.
 * @returns undefined where the creator was not recorded
 */
export async function findSessionCreator(
  store: Store,
  { sessionId, tenant, kind, principal }: Pick<Session, 'sessionId' | 'tenant' | 'kind' | 'principal'>,
): Promise<string | undefined> {
  if (kind === 'browser') return principal.sub
  const [row] = await store.tenantQuery<{ readonly sub: string | null }>(
    tenant,
    `select case when starts_with(created_by ->> 'sub', $3)
         then coalesce(nullif(created_by #>> '{session,createdBy}', $4), created_by ->> 'sub')
         else created_by ->> 'sub' end as sub
     from svc.service_session where tenant_id = $1 and session_id = $2`,
    [tenant, sessionId, serviceSubject(''), operator().sub],
  )
  return row?.sub ?? undefined
}

/** Revokes a session at once. @returns whether there was one that was not revoked before */
export function revokeServiceSession(
  store: Store,
  tenant: TenantId,
  id: string,
  by: Actor = operator(),
): Promise<boolean> {
  return revokeSession(store, tenant, 'service', id, by)
}

/** Revokes a session of one kind at once, and records who did. */
export async function revokeSession(
  store: Store,
  tenant: TenantId,
  kind: SessionKind,
  id: string,
  by: Actor,
): Promise<boolean> {
  if (!isUuid(id)) return false
  return await store.tenantTransaction(tenant, async (tx) => {
    const [revoked] = await tx.query<Pick<Row, 'principal_sub'>>(
      `update svc.${kind}_session set revoked_at = now()
       where tenant_id = $1 and session_id = $2 and revoked_at is null returning principal_sub`,
      [tenant, id],
    )
    if (revoked === undefined) return false
    const subject = { session: id, kind, sub: revoked.principal_sub }
    const { credentials, until } = await sessionOut(tx, tenant, id)
    const value = { credentials_out: credentials, quarantined_until: until }
    await recordAdministration(tx, by, {
      action: 'revoke-session',
      subject,
      ...(credentials > 0 && { value }),
    })
    if (until !== undefined)
      await appendEvent(tx, {
        type: 'session.quarantined',
        subject: id,
        data: { credentials, until: until.toISOString() },
      })
    return true
  })
}

/** The tenant's service sessions by id, including revoked ones. */
export async function listServiceSessions(
  store: Store,
  tenant: TenantId,
  page: PageRequest = {},
): Promise<Page<ServiceSession>> {
  const limit = pageLimit(page)
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select session_id, name, principal_sub, principal_email, principal_roles, scopes, created_at,
       created_by, expires_at, revoked_at, trusted_engine, trust_id is not null as is_exchanged, ${outUntilText} as out_until
     from svc.service_session s where tenant_id = $1 and session_id > $2 order by session_id limit $3::int`,
    [tenant, afterUuid(page), limit + 1],
  )
  const sessions = rows.map((row) => ({
    id: row.session_id,
    name: row.name,
    principal: toPrincipal(row),
    scopes: row.scopes,
    createdAt: row.created_at,
    createdBy: row.created_by ?? undefined,
    expiresAt: row.expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
    outUntil: row.out_until ?? undefined,
    isTrustedEngine: row.trusted_engine,
    isExchanged: row.is_exchanged,
  }))
  return toPage(sessions, limit, ({ id }) => id)
}
