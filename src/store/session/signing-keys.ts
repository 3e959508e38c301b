/** Creates, rotates and loads the keys that sign access tokens. The private half is sealed; all replicas share them. */

import { generateKeyPairSync } from 'node:crypto'
import type { Actor } from '../../core/administration.ts'
import { limits } from '../../limits.ts'
import { sealedColumns } from '../database/sealed-columns.ts'
import { seal, unseal } from '../database/sealing.ts'
import type { Tx } from '../database/session.ts'
import { recordKey } from '../keys/key-record.ts'
import type { Store } from '../store.ts'

/** An ES256 key pair as JSON Web Keys (RFC 7517). */
interface SigningKey {
  readonly id: string
  readonly publicJwk: Readonly<Record<string, string>>
  readonly privateJwk: Readonly<Record<string, string>>
}

interface Row {
  readonly key_id: string
  readonly public_jwk: Readonly<Record<string, string>>
  readonly sealed: Uint8Array
}

const { place } = sealedColumns.signingKey
/** Any constant of our own. */
const lockKey = 7_242_020

/**
 * All keys that a token may be signed with, the one that signs first: the newest, but only five seconds after it was made.
 * Until then another replica may have read the keys without it, a second ago at most. Creates one where there is none.
 * A key that was sealed with another secrets key is left out, because the sessions of its tokens ended with that key.
 */
export async function loadSigningKeys(store: Store): Promise<readonly [SigningKey, ...SigningKey[]]> {
  const [first, ...rest] = (await readKeys(store)).flatMap((row) => open(store, row) ?? [])
  if (first !== undefined) return [first, ...rest]
  return [await store.adminTransaction((tx) => addKey(store, tx))]
}

/**
 * Creates a new key where the newest is older than `olderThanMs`, and deletes keys that no valid token needs.
 * @returns whether it created one
 */
export async function rotateSigningKeys(
  store: Store,
  olderThanMs: number = limits.signingKeyMs,
): Promise<boolean> {
  return await store.adminTransaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1::bigint)', [lockKey])
    const young = await tx.query(
      `select 1 from svc.signing_key where created_at > clock_timestamp() - $1::float8 * interval '1 ms' limit 1`,
      [olderThanMs],
    )
    if (young.length > 0) return false
    await turnIn(store, tx)
    return true
  })
}

/** Creates a new key, whatever the age of the others, and puts on record who did. @returns its id */
export async function turnSigningKey(store: Store, by: Actor): Promise<string> {
  return await store.adminTransaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1::bigint)', [lockKey])
    return await turnIn(store, tx, by)
  })
}

async function turnIn(store: Store, tx: Tx, by?: Actor): Promise<string> {
  const { id } = await insertKey(store, tx)
  // A key is deleted when a newer one has existed for longer than a token is valid.
  await tx.query(
    `delete from svc.signing_key k where exists (select from svc.signing_key newer
       where newer.created_at > k.created_at
         and newer.created_at < clock_timestamp() - $1::float8 * interval '1 ms')`,
    [2 * limits.accessTokenMs],
  )
  await recordKey(tx, { kind: 'token-signing', action: 'turned', ...(by !== undefined && { by }) })
  return id
}

const selectKeys = `select key_id, public_jwk, sealed from svc.signing_key
  order by case when created_at <= clock_timestamp() - interval '5 s' then created_at end desc nulls last,
    created_at, key_id`

async function readKeys(store: Store): Promise<readonly Row[]> {
  return await store.adminQuery<Row>(selectKeys)
}

/** Creates the first key. Replicas may start at once on an empty database: the first creates it, all use it. */
async function addKey(store: Store, tx: Tx): Promise<SigningKey> {
  await tx.query('select pg_advisory_xact_lock($1::bigint)', [lockKey])
  const [key] = (await tx.query<Row>(selectKeys)).flatMap((row) => open(store, row) ?? [])
  return key ?? (await insertKey(store, tx))
}

async function insertKey(store: Store, tx: Tx): Promise<SigningKey> {
  const id = crypto.randomUUID()
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const publicJwk = publicKey.export({ format: 'jwk' }) as Record<string, string>
  const privateJwk = privateKey.export({ format: 'jwk' }) as Record<string, string>
  await tx.query(
    'insert into svc.signing_key (key_id, public_jwk, sealed) values ($1, $2::text::jsonb, $3)',
    [id, JSON.stringify(publicJwk), seal(store.secretsKey, place(id), JSON.stringify(privateJwk))],
  )
  return { id, publicJwk, privateJwk }
}

function open(store: Store, row: Row): SigningKey | undefined {
  let text: string
  try {
    text = unseal(store, place(row.key_id), row.sealed)
  } catch {
    return undefined
  }
  const privateJwk = JSON.parse(text) as Record<string, string>
  return { id: row.key_id, publicJwk: row.public_jwk, privateJwk }
}
