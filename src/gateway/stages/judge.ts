/**
 * Judges a commit (step 10 of docs/reference/gateway.md 2.1): applies its updates in memory, and evaluates every policy
 * on the table before and after.
 */

import { Fault } from '../../base/fault.ts'
import type { ContractBreak } from '../../core/contract-break.ts'
import type { Verdict } from '../../core/decision.ts'
import { type DerivedPolicy, inEffect, type Policy } from '../../core/policy.ts'
import type { PolicyBindings } from '../../policy/evaluate.ts'
import { isSupportedUpdate } from '../../wire/iceberg/apply-updates.ts'
import { checkRequirements } from '../../wire/iceberg/check-requirements.ts'
import { locationsNamed } from '../../wire/iceberg/named-locations.ts'
import { judgeByContract, tableColumns } from '../base/judge-by-contract.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { CachedTable } from '../base/table-cache.ts'
import type { Upstream } from '../base/upstream.ts'
import { applicable, bindingsOf, exemptible, resultOf } from './bindings.ts'
import type { Change, Judged } from './change.ts'
import { altersEncryption, isEncrypted } from './encryption.ts'
import type { Loads } from './loads.ts'
import { manifestFactsOf } from './manifest-facts.ts'
import { judgeManifests } from './new-manifests.ts'
import { expiresPinned } from './pinned.ts'
import { judgeTerritory, taking } from './territory.ts'
import {
  allowed,
  allowedUnevaluated,
  isInForce,
  judgePolicies,
  notEvaluated,
  policiesUnavailable,
  withGrant,
} from './verdicts.ts'

/**
 * The verdict that was reached on an assumed table and assumed policies, if both were confirmed. Undefined if there is
 * none: then the policies are evaluated.
 */
export type SpeculativeVerdict = (base: CachedTable | undefined) => Promise<Verdict | undefined>

/**
 * Judges one change of one table. If policies cannot be loaded, the verdict is `unavailable`.
 * @param base the loaded table; undefined if the change creates it
 * @param speculative gives the speculative verdict, if there is one
 * @throws Fault `conflict` or `bad_request` for updates that cannot be applied
 */
export async function judgeChange(
  parts: GatewayParts,
  upstream: Upstream,
  change: Change & { readonly commitId: string },
  base: CachedTable | undefined,
  loads: Pick<Loads, 'governance'>,
  speculative: SpeculativeVerdict = async () => undefined,
): Promise<Judged> {
  const { table, request } = change
  const loaded = await loads.governance
  if (!loaded.ok)
    return { base, table, policies: [], verdict: policiesUnavailable(parts, table, loaded.thrown) }
  const { pinnedSnapshotId, territory: found } = loaded.value
  // A grant is for commits to a table, not for making one.
  const commit = base && exemptible(change, base)
  const all = inEffect(loaded.value.policies, change.receivedAtMs, commit)
  const policies = applicable(all, request)
  const denied =
    expiresPinned(table, pinnedSnapshotId, request) ?? altersEncryption(table, base?.metadata, request)
  if (denied !== undefined) return { base, table, policies, verdict: denied }
  const placed = { ...change, named: locationsNamed(request.updates) }
  const territory = await judgeTerritory(parts, upstream, placed, base?.metadata, found)
  if (territory.verdict !== undefined) return { base, table, policies, verdict: territory.verdict }
  const early = await speculative(base)
  // An unknown update may expire the pinned snapshot or remove a key; evaluating refuses it.
  const isGuarded = pinnedSnapshotId !== undefined || isEncrypted(base?.metadata)
  const mustApply = isGuarded && !request.updates.every(isSupportedUpdate)
  const judge = (by: readonly Policy[]) =>
    change.stages.time('evaluate', () => evaluate(parts, upstream, by, change, base, mustApply))
  const verdict = policies.length === 0 && !mustApply ? allowed : (early ?? (await judge(policies)))
  const { deniedBy, ...judged } = await judgeByContract(policies, verdict, change.receivedAtMs, (by) =>
    judge(applicable(by, request)),
  )
  const granted = base === undefined ? withGrant(judged.verdict, all, 'create-table', table) : judged.verdict
  const breaks = deniedBy && breakOf(change, base, deniedBy)
  if (granted.kind !== 'allow') return { base, table, ...judged, verdict: granted, ...(breaks && { breaks }) }
  const { prefixes } = territory
  const refused = await judgeManifests(parts, upstream, change, base?.metadata, {
    ...{ found, prefixes },
    result: () => (request.updates.every(isSupportedUpdate) ? resultOf(change, base) : base?.metadata),
  })
  return { base, table, ...judged, verdict: refused ?? (await taking(granted, territory)) }
}

function breakOf(
  change: Change,
  base: CachedTable | undefined,
  { contract, number, version }: DerivedPolicy,
): ContractBreak {
  const before = base && tableColumns(base.metadata)
  const after = tableColumns(resultOf(change, base))
  const { table, identified } = change
  return { contract, number, version, table, before, after, session: identified.session }
}

/**
 * Evaluates the policies. Anything thrown makes the verdict `unavailable`, except the Faults of an invalid body.
 * @param mustApply whether updates that cannot be applied are refused even if no policy is in force
 */
async function evaluate(
  parts: GatewayParts,
  upstream: Upstream,
  policies: readonly Policy[],
  change: Change,
  base: CachedTable | undefined,
  mustApply: boolean,
): Promise<Verdict> {
  let bindings: PolicyBindings
  try {
    bindings = bindingsOf(change, base)
  } catch (thrown) {
    if (!mustApply && !policies.some(isInForce))
      return allowedUnevaluated(parts, policies, change.table, thrown)
    if (thrown instanceof Fault && thrown.kind === 'conflict') throw thrown
    if (thrown instanceof Fault && thrown.kind === 'bad_request') {
      // Updates that fit an older table may not fit this one: then the writer must rebase, not change its body.
      checkRequirements(base?.metadata, change.request.requirements)
      throw thrown
    }
    return notEvaluated(parts, change.table, thrown)
  }
  const facts = manifestFactsOf(parts, upstream, change, base?.metadata, () => resultOf(change, base))
  return await judgePolicies(parts, policies, change, bindings, facts)
}
