/**
 * Gives up what no secrets key opens any more, where one was lost, so that the service starts with the key that is set.
 * It counts first. Each step looks only at what does not open, so that it may be repeated after a failure; that the
 * database takes the key as its own comes last. It does not say whether the key is really lost: an operator says so, by
 * the word of what was counted.
 */

import { Fault } from '../../base/fault.ts'
import { type Actor, operator } from '../../core/administration.ts'
import { parseTenantId, type TenantId } from '../../core/tenant.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { type SealedColumn, sealedColumns } from '../database/sealed-columns.ts'
import { tryUnseal } from '../database/sealing.ts'
import type { Tx } from '../database/session.ts'
import { areRootsLost, makeDerivationRoots } from '../keys/derivation-roots.ts'
import { recordKey } from '../keys/key-record.ts'
import { placeOf, type SealedValue, valuesOf } from '../keys/sealed-values.ts'
import { isKeyLost, takeKey, wordOfKeys } from '../keys/secrets-key.ts'
import { endEvery } from '../session/end-where.ts'
import type { Store } from '../store.ts'
import { loseTenantKey } from '../transform/lose-tenant-key.ts'
import { appendUnreadable } from '../webhook/claims.ts'

type Kind = keyof typeof sealedColumns
const kinds = Object.keys(sealedColumns) as readonly Kind[]

/** What no key opens. */
export interface LostKeys {
  /** Whether the database was filled under a key that is not set. */
  readonly isOtherKey: boolean
  /** How many values of each kind. */
  readonly values: Readonly<Record<Kind, number>>
  /** By which an operator gives just this up: other keys, another database or other counts have another one. */
  readonly word: string
}

/** Whether anything is lost. */
export function isAnyLost({ isOtherKey, values }: LostKeys): boolean {
  return isOtherKey || Object.values(values).some((count) => count > 0)
}

/** Counts what the keys of the store do not open, without what was given up before. Changes nothing. @throws Fault `conflict` as `isKeyLost` */
export async function findLostKeys(store: Store): Promise<LostKeys> {
  const isOtherKey = await isKeyLost(store)
  const values = Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<Kind, number>
  for (const kind of kinds) for await (const _ of lostOf(store, kind)) values[kind] += 1
  return { isOtherKey, values, word: await wordOfKeys(store, JSON.stringify([isOtherKey, values])) }
}

/**
 * Gives up what no key opens: it ends, switches off or removes each value, with a record, and then the key that is set is
 * the one of the database.
 * @param word that of a look at the same
 * @returns what it gave up
 * @throws Fault `conflict` where nothing is lost, or as `isKeyLost`; `bad_request` for the word of anything else
 */
export async function loseKeys(store: Store, word: string, by: Actor = operator()): Promise<LostKeys> {
  const lost = await findLostKeys(store)
  if (!isAnyLost(lost))
    throw new Fault('conflict', 'The secrets key opens everything that is stored: nothing is lost.')
  if (word !== lost.word)
    throw new Fault(
      'bad_request',
      'That is not the word of a look with these keys at what is lost now, and nothing was given up: run `covenant keys lost` again, read what it counts, and give the word that it shows.',
    )
  for (const kind of kinds) for await (const row of lostOf(store, kind)) await steps[kind]?.(store, row, by)
  const areSessionsLost = await areRootsLost(store)
  if (areSessionsLost) {
    // No secret of a session that was derived from another root is taken any more.
    await endEvery(store, by, 'service')
    await endEvery(store, by, 'browser')
  }
  await store.adminTransaction(async (tx) => {
    if (lost.values.signingKey > 0) await recordKey(tx, { kind: 'token-signing', action: 'lost', by })
    if (areSessionsLost) {
      await makeDerivationRoots(tx, store.secretsKey, false)
      for (const kind of ['sessions', 'plan-signing'] as const)
        await recordKey(tx, { kind, action: 'lost', by })
    }
    if (!lost.isOtherKey) return
    await recordKey(tx, { kind: 'secrets', action: 'lost', by })
    await takeKey(store, tx)
  })
  return lost
}

/** Values that stay though they were given up, by the condition of those that were not. */
const notGivenUp: { readonly [K in Kind]?: string } = {
  webhookSubscription: `t.state <> 'unreadable'`,
  catalogCredential: `not exists (select from svc.administration_log l where l.tenant_id = t.tenant_id
    and l.action = 'lose-key' and l.subject ->> 'catalog' = t.nickname and l.at >= t.updated_at)`,
}

async function* lostOf(store: Store, kind: Kind): AsyncGenerator<SealedValue> {
  const keys = [store.secretsKey, store.nextKey, store.formerKey]
  const column: SealedColumn = sealedColumns[kind]
  const where = notGivenUp[kind] ?? column.where
  for await (const row of valuesOf(store, { ...column, ...(where !== undefined && { where }) })) {
    const place = placeOf(column, row)
    if (!keys.some((key) => key !== undefined && tryUnseal(key, place, row.value) !== undefined)) yield row
  }
}

type Step = (store: Store, row: SealedValue, by: Actor) => Promise<void>

function tenantOf(row: SealedValue): TenantId {
  const tenant = parseTenantId(String(row.tenant_id))
  if (tenant === undefined) throw new Error('a sealed value has no tenant')
  return tenant
}

async function record(tx: Tx, by: Actor, row: SealedValue, subject: object, value?: object): Promise<void> {
  const change = { action: 'lose-key', subject: { ...subject }, ...(value && { value }) } as const
  await recordAdministration(tx, by, change, tenantOf(row))
}

/** What is done to one value of a kind; the roots are made again together. */
const steps: Readonly<Record<Kind, Step | undefined>> = {
  derivationRoot: undefined,
  // The row stays, because territory and contracts hang on it. To save the catalog again replaces the secret.
  catalogCredential: (store, row, by) =>
    store.adminTransaction((tx) => record(tx, by, row, { catalog: row.nickname })),
  signingKey: (store, row) =>
    store.adminTransaction(async (tx) => {
      await tx.query('delete from svc.signing_key where key_id = $1::uuid', [String(row.key_id)])
    }),
  webhookSubscription: (store, row, by) =>
    store.tenantTransaction(tenantOf(row), async (tx) => {
      const [off] = await tx.query<{ readonly name: string; readonly address: string }>(
        `update svc.webhook_subscription set state = 'unreadable'
         where tenant_id = $1 and subscription_id = $2::uuid and state <> 'unreadable' returning name, address`,
        [tenantOf(row), String(row.subscription_id)],
      )
      if (off === undefined) return
      await appendUnreadable(tx, String(row.subscription_id), off)
      await record(tx, by, row, { webhook: row.subscription_id })
    }),
  reconciliationSource: (store, row, by) =>
    store.adminTransaction(async (tx) => {
      await tx.query(
        'update svc.reconciliation_source set sealed = null where tenant_id = $1 and name = $2',
        [tenantOf(row), String(row.name)],
      )
      await record(tx, by, row, { source: row.name })
    }),
  transformTenantKey: (store, row, by) =>
    store.adminTransaction(async (tx) => {
      await record(tx, by, row, { transform: 'key' }, await loseTenantKey(tx, tenantOf(row)))
    }),
  idToken: (store, row) =>
    store.adminTransaction(async (tx) => {
      await tx.query(
        'update svc.browser_session set id_token = null where tenant_id = $1 and session_id = $2::uuid',
        [tenantOf(row), String(row.session_id)],
      )
    }),
  setAside: (store, row, by) =>
    store.adminTransaction(async (tx) => {
      await tx.query('delete from svc.detection_set_aside where tenant_id = $1 and message_id = $2', [
        tenantOf(row),
        String(row.message_id),
      ])
      await record(tx, by, row, { storage_event: row.message_id })
    }),
}
