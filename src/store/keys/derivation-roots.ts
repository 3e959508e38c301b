/**
 * Loads the roots from which session secrets, salts of passwords, and the signatures and proofs of plans are derived. They
 * are stored, sealed by the secrets key, so that they stay the same where that turns. In a database from before they were
 * stored, they are the secrets key that it had then.
 */

import { randomBytes } from 'node:crypto'
import { Fault } from '../../base/fault.ts'
import type { Roots } from '../database/roots.ts'
import { sealedColumns } from '../database/sealed-columns.ts'
import { seal, tryUnseal, unseal } from '../database/sealing.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'

/** Those that every database has. */
const purposes = ['sessions', 'plans'] as const
const { place } = sealedColumns.derivationRoot

/**
 * Stores the roots of a database, in place of any that are there.
 * @param fromKey whether the key itself is the root of both; else they are random
 */
export async function makeDerivationRoots(tx: Tx, secretsKey: Uint8Array, fromKey: boolean): Promise<void> {
  // One that was to follow is of no use without the one before it.
  await tx.query(`delete from svc.derivation_root where purpose = 'plans-next'`)
  for (const purpose of purposes)
    await tx.query(
      `insert into svc.derivation_root (purpose, sealed) values ($1, $2)
       on conflict (purpose) do update set sealed = excluded.sealed, created_at = clock_timestamp()`,
      [purpose, sealRoot(secretsKey, purpose, fromKey ? secretsKey : randomBytes(32))],
    )
}

/**
 * The roots of a database. Stores them where there are none.
 * @param filledBy the key under which the database was filled
 * @throws Fault `misconfigured` where they do not open
 */
export async function loadDerivationRoots(store: Store, filledBy: Uint8Array): Promise<Roots> {
  const stored = await readRoots(store)
  if (stored !== undefined) return stored
  for (const purpose of purposes)
    await store.adminQuery(
      'insert into svc.derivation_root (purpose, sealed) values ($1, $2) on conflict (purpose) do nothing',
      [purpose, sealRoot(store.secretsKey, purpose, filledBy)],
    )
  const roots = await readRoots(store)
  if (roots === undefined)
    throw new Fault('misconfigured', 'The roots of sessions and plans cannot be stored in the database.')
  return roots
}

/** Whether a root is missing or opens under no key, so that both are to be made again. */
export async function areRootsLost(store: Store): Promise<boolean> {
  const rows = await store.adminQuery<{ readonly purpose: string; readonly sealed: Uint8Array }>(
    'select purpose, sealed from svc.derivation_root',
  )
  const keys = [store.secretsKey, store.nextKey, store.formerKey]
  const opened = rows.filter(({ purpose, sealed }) =>
    keys.some((key) => key !== undefined && tryUnseal(key, place(purpose), sealed) !== undefined),
  )
  return opened.length < Math.max(purposes.length, rows.length)
}

/** A root as it is stored. */
export function sealRoot(key: Uint8Array, purpose: string, root: Uint8Array): Uint8Array {
  return seal(key, place(purpose), Buffer.from(root).toString('base64'))
}

async function readRoots(store: Store): Promise<Roots | undefined> {
  const rows = await store.adminQuery<{
    readonly purpose: string
    readonly sealed: Uint8Array
    readonly makes_in_ms: number | null
  }>(
    `select purpose, sealed, (extract(epoch from makes_from - clock_timestamp()) * 1000)::float8 as makes_in_ms
     from svc.derivation_root`,
  )
  const found = (purpose: string) => rows.find((one) => one.purpose === purpose)
  const root = (purpose: string) => {
    const row = found(purpose)
    return row && new Uint8Array(Buffer.from(unseal(store, place(purpose), row.sealed), 'base64'))
  }
  const [sessions, plans, next] = [root('sessions'), root('plans'), root('plans-next')]
  const makesInMs = found('plans-next')?.makes_in_ms
  const nextPlans = next && { root: next, makesFromMs: Date.now() + (makesInMs ?? 0) }
  return sessions && plans && { sessions, plans, ...(nextPlans && { nextPlans }) }
}
