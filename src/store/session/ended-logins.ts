/**
 * Ends logins when the identity provider says so (docs/reference/identity.md 6.4): revokes their browser sessions, and
 * remembers the login, because one that completes late and a token of it must open nothing.
 */

import { createHash } from 'node:crypto'
import { providerActor } from '../../core/administration.ts'
import { limits } from '../../limits.ts'
import type { Param, Tx } from '../database/session.ts'
import type { Store } from '../store.ts'
import { endWhere } from './end-where.ts'
import { useOnce } from './used-once.ts'

/** Milliseconds for which it is kept that a login has ended. No session lives as long. */
const endedLoginMs = 2 * limits.browserSessionMs

/** What a verified logout token names: one login, or every login of a person. At least one of the two is there. */
export interface LoggedOut {
  /** Identifies the token, over all replicas. */
  readonly id: string
  readonly sid: string | undefined
  readonly sub: string | undefined
  /** When it was issued, in milliseconds since 1970. */
  readonly atMs: number
}

/** Who logged in: the provider's id of the login where it gives one, the subject, and when its token was issued. */
export interface Login {
  readonly sid: string | undefined
  readonly sub: string
  /** Milliseconds since 1970 by the provider's clock. */
  readonly atMs: number
}

/**
 * Ends the logins that a logout token names, all or nothing, once.
 * @param keptMs milliseconds after which the token is refused for its age anyway
 * @param requestId for the administration log
 * @returns false where the token was used before
 */
export async function endLogins(
  store: Store,
  { id, sid, sub, atMs }: LoggedOut,
  keptMs: number,
  requestId: string = crypto.randomUUID(),
): Promise<boolean> {
  const by = providerActor('identity-provider', requestId)
  return await store.adminTransaction(async (tx) => {
    if (!(await useOnce(tx, 'logout token', id, keptMs))) return false
    await rememberEnded(tx, sid === undefined ? subDigest(String(sub)) : sidDigest(sid), atMs)
    if (sid === undefined) await endWhere(tx, by, 'browser', 'principal_sub = $1', [String(sub)])
    else if (sub === undefined) await endWhere(tx, by, 'browser', 'provider_sid = $1', [sid])
    else await endWhere(tx, by, 'browser', 'provider_sid = $1 and principal_sub = $2', [sid, sub])
    return true
  })
}

async function rememberEnded(tx: Tx, login: Uint8Array, atMs: number): Promise<void> {
  await lockLogins(tx, [login])
  await tx.query(
    `delete from svc.ended_login where login_sha256 in
       (select login_sha256 from svc.ended_login where expires_at < now() limit 100 for update skip locked)`,
  )
  await tx.query(
    `insert into svc.ended_login as ended (login_sha256, ended_at, expires_at)
     values ($1, to_timestamp($2::float8 / 1000), clock_timestamp() + $3::float8 * interval '1 ms')
     on conflict (login_sha256) do update
       set ended_at = greatest(ended.ended_at, excluded.ended_at), expires_at = excluded.expires_at`,
    [login, atMs, endedLoginMs],
  )
}

/**
 * Whether the provider has ended a login. In the transaction that makes its session, so that none is made meanwhile.
 */
export async function hasEnded(tx: Tx, login: Login): Promise<boolean> {
  await lockLogins(tx, digestsOf(login))
  return (await tx.query(...endedQuery(login))).length > 0
}

/** As `hasEnded`, for a token of the login. */
export async function hasLoginEnded(store: Store, login: Login): Promise<boolean> {
  return (await store.adminQuery(...endedQuery(login))).length > 0
}

function endedQuery(login: Login): [string, readonly Param[]] {
  return [
    `select 1 from svc.ended_login where expires_at > clock_timestamp()
       and (login_sha256 = $1 or (login_sha256 = $2 and ended_at >= to_timestamp($3::float8 / 1000)))`,
    [login.sid === undefined ? null : sidDigest(login.sid), subDigest(login.sub), login.atMs],
  ]
}

/** Logout and login take turns: otherwise neither would see the row of the other. In one order, against deadlocks. */
async function lockLogins(tx: Tx, digests: readonly Uint8Array[]): Promise<void> {
  const keys = digests.map((digest) => Buffer.from(digest).readBigInt64BE()).sort(ascending)
  for (const key of keys) await tx.query('select pg_advisory_xact_lock($1::bigint)', [key])
}

const ascending = (a: bigint, b: bigint) => (a < b ? -1 : Number(a > b))

function digestsOf({ sid, sub }: Login): readonly Uint8Array[] {
  return sid === undefined ? [subDigest(sub)] : [sidDigest(sid), subDigest(sub)]
}

const sidDigest = (sid: string) => digest('sid', sid)
const subDigest = (sub: string) => digest('sub', sub)

function digest(kind: string, name: string): Uint8Array {
  return createHash('sha256').update(`${kind}\0`).update(name).digest()
}
