/**
 * Checks the secrets keys against the database, which holds a text that the key has sealed. A process whose keys do not
 * open all that is stored does not start, because it would run without its catalog credentials. The key turns in steps:
 * the next one is announced, then it seals, and when everything is sealed by it the former one opens nothing more.
 * Sealing the values again is not here.
 */

import { createHmac } from 'node:crypto'
import { Fault } from '../../base/fault.ts'
import { canOpenStoredConfigs } from '../catalog-credential/catalog-credentials.ts'
import { seal, tryUnseal } from '../database/sealing.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'
import { makeDerivationRoots } from './derivation-roots.ts'
import { recordKey } from './key-record.ts'

interface Check {
  readonly sealed: Uint8Array | null
  readonly next_sealed: Uint8Array | null
  readonly turning_since: Date | null
}

const place = ['secrets_key_check']
const sealCheck = (key: Uint8Array) => seal(key, place, 'covenant')
const opens = (key: Uint8Array | undefined, sealed: Uint8Array | null) =>
  key !== undefined && sealed !== null && tryUnseal(key, place, sealed) !== undefined

const refusals = {
  other:
    'SVC_SECRETS_KEY (or secrets.key) is not the key under which this database was filled: start with that key.',
  formerMissing:
    'Secrets are still sealed under the former key: set SVC_SECRETS_KEY_FORMER to it until the log says that none is.',
  formerAlone:
    'The secrets key turns, and SVC_SECRETS_KEY is the former one: set SVC_SECRETS_KEY to the new key and SVC_SECRETS_KEY_FORMER to this one.',
  notBegun:
    'The secrets key has not begun to turn: start a replica with these keys first, or use the former key as SVC_SECRETS_KEY.',
  notAnnounced:
    'Other replicas may not have this secrets key yet: first start every replica with the former one as SVC_SECRETS_KEY and this one as SVC_SECRETS_KEY_NEXT.',
} as const

async function readCheck(store: Store): Promise<Check | undefined> {
  const [row] = await store.adminQuery<Check>(
    'select sealed, next_sealed, turning_since from svc.secrets_key_check',
  )
  return row
}

/**
 * Whether the database takes the store's key as its own. A row without a text is an operator's word that the former key is
 * lost. No row: a database without the check.
 */
async function isUnfilled(store: Store, check: Check | undefined): Promise<boolean> {
  return check === undefined ? await canOpenStoredConfigs(store) : check.sealed === null
}

/**
 * Asserts that the store's keys open what the database holds, and begins what they are the word of an operator for: that
 * a next key is there, or that the new one seals from now on. Of replicas that start at once on an empty database, the
 * first decides.
 * @param mayTurn whether the keys may announce another, or begin a turn; a command may not, because no job would follow
 * @returns the key under which the database was filled
 * @throws Fault `misconfigured` where they do not, with what to do
 */
export async function assertSecretsKey(store: Store, mayTurn = true): Promise<Uint8Array> {
  if (await isUnfilled(store, await readCheck(store))) await fillCheck(store)
  const check = await readCheck(store)
  const refusal = check === undefined ? refusals.other : refusalOf(store, check)
  if (check === undefined || refusal !== undefined)
    throw new Fault('misconfigured', refusal ?? refusals.other)
  const { secretsKey, nextKey, formerKey } = store
  const hasPresentKey = opens(secretsKey, check.sealed)
  const filledBy = hasPresentKey ? secretsKey : (formerKey ?? secretsKey)
  if (check.turning_since !== null) return filledBy
  if (!hasPresentKey) {
    if (!mayTurn) throw new Fault('misconfigured', refusals.notBegun)
    return (await beginTurn(store, check)) ? filledBy : await assertSecretsKey(store)
  }
  if (mayTurn) await announce(store, nextKey, check)
  return filledBy
}

/**
 * Asserts the same, and begins nothing.
 * @throws Fault `misconfigured` where the store's keys do not open what the database holds
 */
export async function assertKeysOpen(store: Store): Promise<void> {
  const check = await readCheck(store)
  if (await isUnfilled(store, check)) return
  const refusal = check === undefined ? refusals.other : refusalOf(store, check)
  if (refusal !== undefined) throw new Fault('misconfigured', refusal)
}

function refusalOf(store: Store, { sealed, next_sealed: next, turning_since: turning }: Check) {
  const { secretsKey, nextKey, formerKey } = store
  const isPresent = opens(secretsKey, sealed)
  if (turning !== null) {
    // A replica that has not turned yet goes on, because it opens what the others seal.
    if (isPresent) return opens(nextKey, next) ? undefined : refusals.formerAlone
    if (!opens(secretsKey, next)) return refusals.other
    return opens(formerKey, sealed) ? undefined : refusals.formerMissing
  }
  if (isPresent) return undefined
  if (!opens(formerKey, sealed)) return opens(secretsKey, next) ? refusals.formerMissing : refusals.other
  // The embedded store has one process.
  return store.backend === 'embedded' || opens(secretsKey, next) ? undefined : refusals.notAnnounced
}

async function fillCheck(store: Store): Promise<void> {
  await store.adminTransaction(async (tx) => {
    const filled = await tx.query<{ readonly is_new: boolean }>(
      `insert into svc.secrets_key_check as c (sealed) values ($1)
       on conflict (only_row) do update set sealed = excluded.sealed, next_sealed = null, turning_since = null,
         in_force_at = clock_timestamp() where c.sealed is null
       returning xmax = 0 as is_new`,
      [sealCheck(store.secretsKey)],
    )
    const [row] = filled
    if (row === undefined) return
    // What was filled before the check existed was derived from the key itself.
    const isOld = row.is_new && (await tx.query('select from svc.tenant limit 1')).length > 0
    await makeDerivationRoots(tx, store.secretsKey, isOld)
  })
}

/**
 * Announces the next key, in place of another one. Without one, it withdraws what was announced: from now on a replica may
 * lack that key, so no other may begin to seal by it until it is announced again.
 */
async function announce(
  store: Store,
  next: Uint8Array | undefined,
  { sealed, next_sealed: announced }: Check,
): Promise<void> {
  if (next === undefined ? announced === null : opens(next, announced)) return
  await store.adminTransaction(async (tx) => {
    const rows = await tx.query(
      `update svc.secrets_key_check set next_sealed = $1, announced_at = case when $1::bytea is not null then clock_timestamp() end
       where turning_since is null and sealed = $2 and next_sealed is not distinct from $3 returning 1`,
      [next === undefined ? null : sealCheck(next), sealed, announced],
    )
    if (rows.length > 0)
      await recordKey(tx, { kind: 'secrets', action: next === undefined ? 'withdrawn' : 'announced' })
  })
}

/** From now on the store's key seals. @returns false where another replica began at the same time */
async function beginTurn(store: Store, { sealed }: Check): Promise<boolean> {
  return await store.adminTransaction(async (tx) => {
    const begun = await tx.query(
      `update svc.secrets_key_check set next_sealed = $1, turning_since = clock_timestamp()
       where turning_since is null and sealed = $2 returning 1`,
      [sealCheck(store.secretsKey), sealed],
    )
    if (begun.length > 0) await recordKey(tx, { kind: 'secrets', action: 'begun' })
    return begun.length > 0
  })
}

/** Whether the store's key is that of the database, and no turn is under way. */
export async function hasTurned(store: Store): Promise<boolean> {
  const check = await readCheck(store)
  return check !== undefined && check.turning_since === null && opens(store.secretsKey, check.sealed)
}

/** From now on only the store's key opens the database. @returns whether it was turning until now */
export async function endTurn(store: Store): Promise<boolean> {
  const check = await readCheck(store)
  if (check === undefined || check.turning_since === null || !opens(store.secretsKey, check.next_sealed))
    return false
  return await store.adminTransaction(async (tx) => {
    const ended = await tx.query(
      `update svc.secrets_key_check set sealed = next_sealed, next_sealed = null, in_force_at = turning_since,
         announced_at = null, turning_since = null where turning_since is not null and next_sealed = $1 returning 1`,
      [check.next_sealed],
    )
    if (ended.length > 0) await recordKey(tx, { kind: 'secrets', action: 'turned' })
    return ended.length > 0
  })
}

/**
 * Whether the key under which the database was filled, or the one from which it turns, is none of the store's.
 * @throws Fault `conflict` where the keys are there but stand in the wrong settings, with what to do
 */
export async function isKeyLost(store: Store): Promise<boolean> {
  const check = await readCheck(store)
  if (await isUnfilled(store, check)) return false
  if (check === undefined) return true
  const refusal = refusalOf(store, check)
  if (refusal === undefined) return false
  const isMisplaced = opens(store.nextKey, check.sealed) || opens(store.nextKey, check.next_sealed)
  if (!isMisplaced && (refusal === refusals.other || refusal === refusals.formerMissing)) return true
  throw new Fault('conflict', refusal)
}

/**
 * A short word for a text about this database and the store's keys. With another key, or at another database, it is another
 * word. It gives no key away.
 */
export async function wordOfKeys(store: Store, text: string): Promise<string> {
  const check = await readCheck(store)
  const hex = (bytes: Uint8Array | null | undefined) => bytes && Buffer.from(bytes).toString('hex')
  const of = [check?.sealed, check?.next_sealed, store.nextKey, store.formerKey].map(
    (part) => hex(part) ?? '',
  )
  const mac = createHmac('sha256', store.secretsKey).update(JSON.stringify([...of, text]))
  return mac.digest('hex').slice(0, 8)
}

/**
 * Makes the store's key that of the database, whatever key that had, in the transaction of what gives the other up. Where
 * the former key is that of the database, it turns into the store's, so that no start goes without it too early.
 */
export async function takeKey(store: Store, tx: Tx): Promise<void> {
  const [check] = await tx.query<Pick<Check, 'sealed'>>('select sealed from svc.secrets_key_check')
  if (check !== undefined && opens(store.formerKey, check.sealed)) {
    await tx.query(
      `update svc.secrets_key_check set next_sealed = $1, announced_at = null, turning_since = clock_timestamp()`,
      [sealCheck(store.secretsKey)],
    )
    return
  }
  await tx.query(
    `insert into svc.secrets_key_check as c (sealed) values ($1)
     on conflict (only_row) do update set sealed = excluded.sealed, next_sealed = null, announced_at = null,
       turning_since = null, in_force_at = clock_timestamp()`,
    [sealCheck(store.secretsKey)],
  )
}
