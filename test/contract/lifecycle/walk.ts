/**
 * Walks contract versions through their life cycle by random moves of random people, on two replicas, with transactions
 * that fail before they commit. What must always hold is checked against rules that are written here once more.
 */

import type { ChangeContext } from '../../../src/contract/change.ts'
import { addDraft } from '../../../src/contract/lifecycle/add-version.ts'
import { coverVersion, moveVersion, signVersion } from '../../../src/contract/lifecycle/move-version.ts'
import { type Move, moves } from '../../../src/contract/lifecycle/state-machine.ts'
import type { Actor } from '../../../src/core/administration.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { lockContracts } from '../../../src/store/contract/changes.ts'
import { saveLifeCycleSettings } from '../../../src/store/contract/life-cycle.ts'
import { loadGovernance } from '../../../src/store/governance/governance.ts'
import { loadWriteGovernance } from '../../../src/store/policy/policies.ts'
import type { Store } from '../../../src/store/store.ts'
import { performDocumentTask } from '../../../src/wire/odcs/document-task.ts'
import { actorOf } from '../../support/actor.ts'

export const table = { namespace: ['sales'], name: 'orders' }
export const contract = 'orders'

/** A walk that needs more for its moves is not random any more. */
const stepsMax = 3000

const people: readonly Actor[] = [
  { ...actorOf('ann'), roles: [] },
  { ...actorOf('bob'), roles: ['steward'] },
  { ...actorOf('stella'), roles: ['steward'] },
  { ...actorOf('adam'), roles: ['administrator'] },
  { ...actorOf('eva'), roles: ['administrator', 'steward'] },
]

/** A document of the contract. */
export function documentOf(
  version: string,
  more: { columns?: string[]; mask?: boolean; second?: boolean } = {},
) {
  const { columns = ['id', 'email'], mask = true, second = false } = more
  const properties = columns.map((name) => ({
    name,
    ...(mask &&
      name === 'email' && {
        customProperties: [
          {
            property: 'covenant',
            vendor: 'covenant',
            value: { masks: [{ id: 'm', action: 'replace-with-null' }] },
          },
        ],
      }),
  }))
  const value = { table }
  const text = JSON.stringify({
    ...{ apiVersion: 'v3.2.0', kind: 'DataContract', id: contract, version },
    ...(second && { roles: [{ role: 'r', secondLevelApprovers: 'board' }] }),
    schema: [
      { name: 'orders', properties, customProperties: [{ property: 'covenant', vendor: 'covenant', value }] },
    ],
  })
  const bytes = new TextEncoder().encode(text)
  const outcome = performDocumentTask({ kind: 'read', bytes, format: 'json' })
  if (outcome.kind !== 'read') throw new Error(JSON.stringify(outcome))
  return outcome.read
}

/** A store whose transactions may fail after their work, before they commit. */
function crashing(store: Store, crashes: () => boolean): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name !== 'tenantTransaction') return Reflect.get(target, name)
      return (tenant: TenantId, work: Parameters<Store['tenantTransaction']>[1]) =>
        target.tenantTransaction(tenant, async (tx) => {
          const result = await work(tx)
          if (crashes()) throw new Error('crashed')
          return result
        })
    },
  })
}

/** Numbers from 0 to below 1 that are the same in every run. */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

interface VersionRow {
  readonly number: number
  readonly state: string
  readonly sha256: string
  readonly author: string
  readonly second: boolean
  readonly verdict: { readonly breaking: boolean; readonly loosens_access: boolean } | null
}

interface MoveRow {
  readonly number: number
  readonly sha256: string
  readonly move: string
  readonly from_state: string | null
  readonly to_state: string
  readonly sub: string
  readonly roles: readonly string[]
  readonly reason: string | null
  readonly at: Date
  readonly auto: boolean
}

/**
 * Walks `steps` pairs of concurrent actions, and on until each of `kinds` has succeeded. Which of two actions comes first
 * is left to the machine, so a number of steps alone does not tell what succeeds.
 * @throws Error where `stepsMax` steps were not enough
 */
export async function walk(
  stores: readonly [Store, Store],
  tenant: TenantId,
  steps: number,
  seed: number,
  kinds: readonly string[],
): Promise<void> {
  const random = seeded(seed)
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T
  const missing = new Set(kinds)
  let major = 1
  for (let step = 0; step < steps || missing.size > 0; step += 1) {
    if (step >= stepsMax) throw new Error(`never succeeded: ${[...missing]}`)
    const before = await versionsOf(stores[0], tenant)
    const act = (replica: Store) => {
      const dies = random() < 0.2
      const store = crashing(replica, () => dies)
      const on: ChangeContext = { store, tenant, actor: pick(people), checkPolicies }
      const parts = { clock: { now: () => Date.now() }, states: undefined as never }
      const [latest] = before
      const open = before.filter(
        ({ state }) => !['retired', 'rejected', 'withdrawn', 'failed'].includes(state),
      )
      const number = (random() < 0.9 && open.length > 0 ? pick(open) : latest)?.number ?? 1
      const name = { contract, number }
      const kind = random()
      if (kind < 0.15 || latest === undefined) {
        if (random() < 0.7) major += 1
        const read = documentOf(`${major}.0.${step}`, {
          columns: pick([['id', 'email'], ['id', 'email', 'region'], ['id']]),
          mask: random() < 0.8,
          second: random() < 0.3,
        })
        return { kind: 'add', run: () => addDraft(on, read, 'json') }
      }
      if (kind < 0.2) {
        const deployUnverified = random() < 0.8
        const run = () =>
          replica.tenantTransaction(tenant, (tx) => saveLifeCycleSettings(tx, tenant, { deployUnverified }))
        return { kind: 'settings', run }
      }
      const target = before.find((one) => one.number === number)
      if (kind < 0.28) {
        // As the gateway does with the audit of a commit that the version covers.
        const cover = () =>
          store.tenantTransaction(tenant, async (tx) => {
            await lockContracts(tx)
            await coverVersion(parts, on, tx, name, crypto.randomUUID())
          })
        return { kind: 'cover', run: cover }
      }
      if (kind < 0.45) {
        const sha256 = random() < 0.8 ? (target?.sha256 ?? '') : '0'.repeat(64)
        return { kind: 'sign', run: () => signVersion(parts, on, name, { sha256 }) }
      }
      const next: Readonly<Record<string, Move>> = {
        draft: 'propose',
        approved: 'deploy',
        deploying: 'deploy',
        active: 'deprecate',
      }
      const likely = next[target?.state ?? '']
      const move = likely !== undefined && random() < 0.6 ? likely : pick(moves)
      const reason = random() < 0.7 ? 'because' : undefined
      const override = random() < 0.7
      return { kind: move, run: () => moveVersion(parts, on, name, { move, reason, override }) }
    }
    const actions = stores.map(act)
    const outcomes = await Promise.all(
      actions.map(({ run }) =>
        run()
          .then(() => true)
          .catch(() => false),
      ),
    )
    for (const [index, ok] of outcomes.entries()) if (ok) missing.delete(actions[index]?.kind ?? '')
    await checkNow(stores[0], tenant)
  }
  await checkHistory(stores[0], tenant)
}

export async function versionsOf(store: Store, tenant: TenantId): Promise<readonly VersionRow[]> {
  return await store.tenantQuery<VersionRow>(
    tenant,
    `select number, state, encode(sha256, 'hex') as sha256, created_by ->> 'sub' as author,
       (model ->> 'secondApproval')::bool as second, verdict
     from svc.contract_version where tenant_id = $1 order by number desc`,
    [tenant],
  )
}

/** One version in force at most, one deploying at most, and the tables are governed by the one in force. */
export async function checkNow(store: Store, tenant: TenantId): Promise<void> {
  const versions = await versionsOf(store, tenant)
  const inForce = versions.filter(({ state }) => ['active', 'deprecated'].includes(state))
  if (inForce.length > 1) throw new Error(`two versions are in force: ${JSON.stringify(inForce)}`)
  if (versions.filter(({ state }) => state === 'deploying').length > 1) throw new Error('two are deploying')
  // The policies of commits are those of the version in force, and only approved versions cover commits.
  const { policies } = await loadWriteGovernance(store, tenant, table)
  const derived = policies.flatMap((policy) => policy.derived ?? [])
  if (
    derived.some(({ number }) => number !== inForce[0]?.number) ||
    (derived.length === 0) !== (inForce[0] === undefined)
  )
    throw new Error(`the policies are of ${JSON.stringify(derived)}, and ${inForce[0]?.number} is in force`)
  const approved = versions.filter(({ state }) => state === 'approved').map(({ number }) => number)
  if (derived.some(({ covering }) => covering.some(({ number }) => !approved.includes(number))))
    throw new Error(`${JSON.stringify(derived)} cover commits, and ${approved} are approved`)
  const governing = (await loadGovernance(store, tenant, table))?.contract?.version
  if (governing !== inForce[0]?.number)
    throw new Error(`version ${governing} governs, and ${inForce[0]?.number} is in force`)
}

/** From and to of each move, and the role that it takes: written from docs/odcs.md, not from the code. */
const rules: Readonly<Record<string, readonly [from: string, to: string, role?: string]>> = {
  import: ['', 'draft'],
  propose: ['draft', 'proposed'],
  approve: ['proposed', 'approved'],
  break_glass: ['proposed', 'approved', 'administrator'],
  reject: ['proposed', 'rejected', 'steward'],
  withdraw: ['draft proposed approved', 'withdrawn'],
  deploy: ['approved', 'deploying', 'steward'],
  activate: ['deploying', 'active', 'steward'],
  cover: ['approved', 'active'],
  cancel: ['deploying', 'failed', 'steward'],
  deprecate: ['active', 'deprecated', 'steward'],
  retire: ['active deprecated', 'retired', 'steward'],
}

/** Follows every recorded move again: each was allowed, and what it needed was there. */
export async function checkHistory(store: Store, tenant: TenantId): Promise<void> {
  const versions = new Map((await versionsOf(store, tenant)).map((one) => [one.number, one]))
  const made = await store.tenantQuery<MoveRow>(
    tenant,
    `select number, encode(sha256, 'hex') as sha256, move, from_state, to_state, reason, at, auto, actor_sub as sub,
       actor -> 'roles' as roles from svc.contract_move where tenant_id = $1 order by move_seq`,
    [tenant],
  )
  const signed = await store.tenantQuery<{
    number: number
    sha256: string
    level: string
    sub: string
    at: Date
  }>(
    tenant,
    `select number, encode(sha256, 'hex') as sha256, level, actor_sub as sub, at from svc.contract_sign_off
     where tenant_id = $1 order by sign_off_seq`,
    [tenant],
  )
  const states = new Map<number, string>()
  const fail = (row: MoveRow, why: string): never => {
    throw new Error(`${why}: ${JSON.stringify(row)}`)
  }
  for (const row of made) {
    const [from, to, role] = rules[row.move] ?? fail(row, 'no such move')
    const version = versions.get(row.number) ?? fail(row, 'no such version')
    if ((states.get(row.number) ?? null) !== row.from_state) fail(row, 'it was in another state')
    if (!from.split(' ').includes(row.from_state ?? '') || row.to_state !== to) fail(row, 'not a move')
    // A version is retired by the move of the one that replaces it, in whatever role.
    const replaced = row.move === 'retire' && row.auto
    if (role !== undefined && !replaced && !row.roles.includes(role)) fail(row, `without the role ${role}`)
    if (['break_glass', 'reject'].includes(row.move) && row.sub === version.author) fail(row, 'by its author')
    if (['break_glass', 'reject', 'cancel', 'deprecate'].includes(row.move) && !row.reason)
      fail(row, 'no reason')
    if (row.move === 'approve') {
      const needed = version.verdict === null || version.verdict.breaking || version.verdict.loosens_access
      const by = (level: string) =>
        signed.find((one) => one.number === row.number && one.level === level && one.at <= row.at)
      const wanted = needed ? ['first', ...(version.second ? ['second'] : [])] : []
      for (const level of wanted) {
        const one = by(level)
        if (one === undefined || one.sub === version.author || one.sha256 !== version.sha256)
          fail(row, `without the ${level} sign-off`)
      }
      if (wanted.length === 2 && by('first')?.sub === by('second')?.sub) fail(row, 'one person signed twice')
    }
    states.set(row.number, row.to_state)
    const inForce = [...states.values()].filter((state) => ['active', 'deprecated'].includes(state))
    if (inForce.length > 1) fail(row, 'two were in force')
  }
  for (const [number, { state }] of versions)
    if (states.get(number) !== state) throw new Error(`version ${number} is ${state} without a move`)
}
