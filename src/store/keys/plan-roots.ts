/**
 * The turn of the root from which the signatures and proofs of plans are derived. The next root is stored beside the
 * present one and makes nothing for three minutes, in which every replica reads it; then it makes what is new, and the
 * present one counts until its last proof has ended.
 */

import { randomBytes } from 'node:crypto'
import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import type { Roots } from '../database/roots.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'
import { loadDerivationRoots, sealRoot } from './derivation-roots.ts'
import { recordKey } from './key-record.ts'

/** Minutes in which replicas read the next root, each of which looks every minute. */
const announcedMinutes = 3
/** Hours after which nothing counts that the root before made: a plan ends after ten minutes, its proof an hour later. */
const countsHours = 2

/** The root that makes what is new at a time. */
export function makingRoot({ plans, nextPlans }: Roots, nowMs: number): Uint8Array {
  return nextPlans !== undefined && nowMs >= nextPlans.makesFromMs ? nextPlans.root : plans
}

/** Every root of which what was made counts, the one that makes what is new first. */
export function countingRoots(roots: Roots, nowMs: number): readonly Uint8Array[] {
  const making = makingRoot(roots, nowMs)
  const all = roots.nextPlans === undefined ? [roots.plans] : [roots.plans, roots.nextPlans.root]
  return [making, ...all.filter((root) => root !== making)]
}

/**
 * Begins a turn.
 * @returns from when on the next root makes what is new
 * @throws Fault `conflict` where a turn is under way
 */
export async function turnPlanRoot(store: Store, by: Actor): Promise<Date> {
  return await store.adminTransaction(async (tx) => {
    const [made] = await tx.query<{ readonly makes_from: Date }>(
      `insert into svc.derivation_root (purpose, sealed, makes_from)
       values ('plans-next', $1, clock_timestamp() + $2::int * interval '1 minute')
       on conflict (purpose) do nothing returning makes_from`,
      [sealRoot(store.secretsKey, 'plans-next', randomBytes(32)), announcedMinutes],
    )
    if (made === undefined)
      throw new Fault(
        'conflict',
        `The key of plans is turning already. That ends ${countsHours} hours after the new one began to sign.`,
      )
    await recordKey(tx, { kind: 'plan-signing', action: 'turned', by })
    return made.makes_from
  })
}

/** Reads the roots of plans again, so that this process makes and takes what the other replicas do. */
export async function readPlanRoots(store: Store): Promise<void> {
  const { plans, nextPlans } = await loadDerivationRoots(store, store.secretsKey)
  store.roots.plans = plans
  store.roots.nextPlans = nextPlans
}

/** Ends a turn whose root before counts for nothing any more. @returns whether one ended */
export async function endPlanTurn(store: Store): Promise<boolean> {
  const { nextPlans } = await loadDerivationRoots(store, store.secretsKey)
  if (nextPlans === undefined) return false
  return await store.adminTransaction((tx) => promote(store, tx, nextPlans.root))
}

async function promote(store: Store, tx: Tx, root: Uint8Array): Promise<boolean> {
  const [ended] = await tx.query<{ readonly makes_from: Date }>(
    `delete from svc.derivation_root where purpose = 'plans-next'
       and makes_from < clock_timestamp() - $1::int * interval '1 hour' returning makes_from`,
    [countsHours],
  )
  if (ended === undefined) return false
  await tx.query(
    `update svc.derivation_root set sealed = $1, created_at = $2, turned_at = $2 where purpose = 'plans'`,
    [sealRoot(store.secretsKey, 'plans', root), ended.makes_from],
  )
  return true
}
