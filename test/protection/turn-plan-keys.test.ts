/**
 * The key of plans turns while two replicas sign and take plans: what either makes counts for both at every moment, and
 * what the root before made is refused once the turn has ended.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { isPlanProof } from '../../src/protection/check-proof.ts'
import { type PlanSigners, planSigners } from '../../src/protection/plan-signing.ts'
import { loadDerivationRoots } from '../../src/store/keys/derivation-roots.ts'
import { listKeyRecords } from '../../src/store/keys/key-record.ts'
import { endPlanTurn, makingRoot, readPlanRoots, turnPlanRoot } from '../../src/store/keys/plan-roots.ts'
import type { Store } from '../../src/store/store.ts'
import { makeNonce } from '../../src/transform/plan-proof.ts'
import { actorOf } from '../support/actor.ts'
import { openTenantStore, type TestStore } from '../support/store.ts'

setDefaultTimeout(120_000)

interface Replica {
  readonly store: Store
  readonly signers: PlanSigners
}

let store: TestStore
let replicas: readonly [Replica, Replica]
const now = { ms: Date.now() }
const clock = { now: () => now.ms }
const minuteMs = 60_000
const subject = { tenant: 't', tableUuid: 'u', policyVersion: 'sha256:v' }

beforeAll(async () => {
  ;({ store } = await openTenantStore())
  const replica = async (): Promise<Replica> => {
    const own = { ...store, roots: { ...(await loadDerivationRoots(store, store.secretsKey)) } }
    return { store: own, signers: planSigners(own, clock) }
  }
  replicas = [await replica(), await replica()]
})
afterAll(() => store?.[Symbol.asyncDispose]())

const proofOf = ({ store: { roots } }: Replica) => {
  const nonce = makeNonce(makingRoot(roots, now.ms), subject, Math.floor(now.ms / 1000) + 600)
  return `${subject.policyVersion}:${nonce}`
}
const takes = ({ store: on }: Replica, proof: string) =>
  isPlanProof(on, subject, proof, now.ms, Math.floor(now.ms / 1000))
const present = ({ signers }: Replica) => signers.present().jwk.kid
const listed = ({ signers }: Replica) => signers.all().map(({ jwk }) => jwk.kid)

/** Each takes what the other makes, and lists the key by which it signs. */
function expectAgreement(): void {
  const [one, other] = replicas
  for (const [a, b] of [
    [one, other],
    [other, one],
  ] as const) {
    expect(takes(b, proofOf(a))).toBe(true)
    expect(listed(b)).toContain(present(a))
  }
}

test('what either replica makes counts for both at every moment of a turn, in any order of their looks', async () => {
  const [one, other] = replicas
  const before = present(one)
  const old = proofOf(one)
  expectAgreement()
  await turnPlanRoot(store, actorOf('ada'))
  expectAgreement()
  await readPlanRoots(one.store)
  // The first has read the next root, and still signs by the present one.
  expect(present(one)).toBe(before)
  expect(listed(one)).toHaveLength(2)
  expectAgreement()
  await readPlanRoots(other.store)
  expectAgreement()
  now.ms += 4 * minuteMs
  expect(present(one)).not.toBe(before)
  expect(present(other)).toBe(present(one))
  expect(takes(other, old)).toBe(true)
  expectAgreement()
  expect((await listKeyRecords(store))[0]).toMatchObject({
    kind: 'plan-signing',
    action: 'turned',
    by: 'ada',
  })
})

test('a replica that looks late signs by the key before, which counts as long as its plans', async () => {
  const [one, other] = replicas
  const late = { ...other.store.roots, nextPlans: undefined }
  const nonce = makeNonce(makingRoot(late, now.ms), subject, Math.floor(now.ms / 1000) + 600)
  expect(takes(one, `${subject.policyVersion}:${nonce}`)).toBe(true)
})

test('there is one turn at a time, and it ends two hours after the new key began to sign', async () => {
  const [one] = replicas
  expect(turnPlanRoot(store, actorOf('ada'))).rejects.toThrow('is turning already')
  expect(await endPlanTurn(store)).toBe(false)
  const [signing, former] = listed(one)
  const old = makeNonce(one.store.roots.plans, subject, Math.floor(now.ms / 1000) + 600)
  await store.adminQuery(
    `update svc.derivation_root set makes_from = makes_from - interval '3 hours' where purpose = 'plans-next'`,
  )
  expect(await endPlanTurn(store)).toBe(true)
  await readPlanRoots(one.store)
  expect(listed(one)).toEqual([signing ?? ''])
  expect(listed(one)).not.toContain(former)
  expect(takes(one, `${subject.policyVersion}:${old}`)).toBe(false)
  expect(takes(one, proofOf(one))).toBe(true)
  expect(await endPlanTurn(store)).toBe(false)
})
