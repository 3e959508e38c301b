/** Steps 8 to 10 of SPEC 4.1: load the table and its policies, and evaluate every policy. */

import { Fault } from '../../base/fault.ts'
import type { JsonObject, JsonValue } from '../../base/json.ts'
import type { CatalogAction } from '../../core/commit.ts'
import type { PolicyOutcome, Verdict } from '../../core/decision.ts'
import type { Policy } from '../../core/policy.ts'
import type { IdentifiedPrincipal, Principal } from '../../core/principal.ts'
import { type TableRef, tableName } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { PolicyBindings } from '../../policy/evaluate.ts'
import { loadWriteGovernance, type WriteGovernance } from '../../store/policies.ts'
import { applyUpdates, isKnownUpdate } from '../../wire/iceberg/apply-updates.ts'
import { checkRequirements } from '../../wire/iceberg/check-requirements.ts'
import type { CommitRequest } from '../../wire/iceberg/commit-request.ts'
import { commitView, tableView } from '../../wire/iceberg/policy-view.ts'
import type { GatewayParts } from '../parts.ts'
import type { CachedTable } from '../table-cache.ts'
import { loadCurrent, unlessAbsent } from './load-current.ts'
import type { Upstream } from './open-upstream.ts'
import { expiresPinned } from './pinned.ts'
import type { StageTimes } from './stage-times.ts'

export interface Change {
  readonly tenant: TenantId
  readonly table: TableRef
  readonly request: CommitRequest
  readonly identified: IdentifiedPrincipal
  /** Milliseconds since the Unix epoch. */
  readonly receivedAtMs: number
  readonly signal: AbortSignal
  readonly stages: StageTimes
}

export interface Judged {
  /** Undefined for a table that the commit creates. */
  readonly base: CachedTable | undefined
  /** The policies that applied to this change, in id order. */
  readonly policies: readonly Policy[]
  readonly verdict: Verdict
}

/** What a verdict rests on, under way. */
export interface Loads {
  readonly base: Promise<Settled<CachedTable | undefined>>
  readonly governance: Promise<Settled<WriteGovernance>>
  /** What the cache held for the table when its load began, and the verdict on that. */
  readonly known: CachedTable | undefined
  readonly foretold: Promise<Verdict | undefined> | undefined
}

/** Begins to load the table and its policies, side by side. */
export function startLoads(parts: GatewayParts, upstream: Upstream, change: Change): Loads {
  const { tenant, table, stages } = change
  const known = parts.tables.get(tenant, upstream.credential, table)
  const governance = settle(stages.time('policies', () => loadWriteGovernance(parts.store, tenant, table)))
  const base = baseOf(startTableLoad(parts, upstream, change), change.request)
  const foretold = known && governance.then((loaded) => foretell(parts, change, known, loaded))
  return { base, governance, known, foretold }
}

/** Begins to load the table. What fails waits for `baseOf`. */
export function startTableLoad(
  parts: GatewayParts,
  upstream: Upstream,
  { tenant, table, stages, signal }: Omit<Change, 'request' | 'identified' | 'receivedAtMs'>,
): Promise<CachedTable> {
  const load = stages.time('load', () => loadCurrent(parts, tenant, upstream, table, signal))
  load.catch(() => {})
  return load
}

/** What a change applies to; undefined for a table that it creates. */
export function baseOf(load: Promise<CachedTable>, { requirements }: CommitRequest): Loads['base'] {
  const creates = requirements.some((requirement) => requirement.get('type') === 'assert-create')
  return settle(unlessAbsent(load, creates))
}

/**
 * The verdict on one change of one table.
 * Where both loads fail, the table's failure is the outcome, because SPEC 4.1 names that step first. A failure to
 * load policies is the verdict `unavailable`.
 * @param onBase told the base's metadata location as soon as the table has loaded; '' for no base
 * @throws what the load of the table throws; Fault `conflict` or `bad_request` for updates that cannot be applied
 */
export async function judgeChange(
  parts: GatewayParts,
  change: Change,
  loads: Loads,
  onBase: (metadataLocation: string) => void,
): Promise<Judged> {
  const table = await loads.base
  if (!table.ok) throw table.thrown
  const base = table.value
  onBase(base?.metadataLocation ?? '')
  const loaded = await loads.governance
  if (!loaded.ok)
    return { base, policies: [], verdict: policiesUnavailable(parts, change.table, loaded.thrown) }
  const { policies: all, pinnedSnapshotId } = loaded.value
  const policies = applicable(all, change.request)
  const kept = expiresPinned(change.table, pinnedSnapshotId, change.request)
  if (kept !== undefined) return { base, policies, verdict: kept }
  const foretold = base === loads.known ? await loads.foretold : undefined
  // What is not known may expire the pinned snapshot; evaluating refuses it.
  const mayUnpin = pinnedSnapshotId !== undefined && !change.request.updates.every(isKnownUpdate)
  const verdict =
    policies.length === 0 && !mayUnpin
      ? allowed
      : (foretold ??
        (await change.stages.time('evaluate', () => evaluate(parts, policies, change, base, mayUnpin))))
  if (base !== undefined) return { base, policies, verdict }
  return { base, policies, verdict: withGrant(verdict, all, 'create-table', change.table) }
}

/**
 * The verdict on what the cache holds, reached while the upstream is asked whether that is still the table: it
 * counts only where it is. Undefined where there is nothing to evaluate, or evaluating does not give a verdict,
 * which is then left to be found once the table is known.
 */
export async function foretell(
  parts: GatewayParts,
  change: Change,
  known: CachedTable,
  loaded: Settled<WriteGovernance>,
): Promise<Verdict | undefined> {
  const policies = loaded.ok ? applicable(loaded.value.policies, change.request) : []
  if (policies.length === 0) return undefined
  try {
    const judge = async () => await parts.policies.judge(policies, bindingsOf(change, known))
    const verdict = await change.stages.time('evaluate', judge)
    return verdict.kind === 'unavailable' ? undefined : verdict
  } catch {
    return undefined
  }
}

/** What allows everything: no policy governs. */
export const allowed: Verdict = { kind: 'allow', outcomes: [] }

/** The verdict where policies could not be loaded, which is logged. */
export function policiesUnavailable(parts: GatewayParts, table: TableRef, thrown: unknown): Verdict {
  parts.log.error({ err: thrown, table }, 'policies could not be loaded')
  return { kind: 'unavailable', error: 'ErrPolicyLoad', outcomes: [] }
}

/** Whether a policy forms the verdict; one of a mode that this build does not know does. */
export function isInForce({ mode }: Policy): boolean {
  return mode !== 'warn' && mode !== 'shadow'
}

/**
 * Denies what no policy denied, but no write ACL allows either: on a governed name, actions that could shed its
 * governance need one that does (DESIGN). Only policies in force count, on both sides.
 */
export function withGrant(
  verdict: Verdict,
  policies: readonly Policy[],
  action: CatalogAction,
  table: TableRef,
): Verdict {
  const [first, ...rest] = policies.filter(isInForce)
  if (verdict.kind !== 'allow' || first === undefined) return verdict
  if ([first, ...rest].some(({ kind }) => kind === 'write_acl')) return verdict
  return {
    kind: 'deny',
    reason: `no write policy of ${tableName(table)} allows ${action}`,
    policyId: first.id,
    outcomes: verdict.outcomes,
  }
}

/** The verdict where what policies would see could not be made and none is in force: they never alter it. */
export function recordedUnseen(
  parts: GatewayParts,
  policies: readonly Policy[],
  table: TableRef,
  thrown: unknown,
): Verdict {
  parts.log.warn({ err: thrown, table }, 'policies that are only recorded could not be evaluated')
  const outcomes = policies.map(({ id, name, mode }) => ({
    policyId: id,
    name,
    mode,
    error: 'ErrPolicyEval' as const,
  }))
  return { kind: 'allow', outcomes }
}

/**
 * Whatever is thrown on the way to a verdict is the verdict `unavailable`, save a body that is plainly wrong.
 * @param mustBeSeen whether it matters what the commit does where no policy is in force, too
 */
async function evaluate(
  parts: GatewayParts,
  policies: readonly Policy[],
  change: Change,
  base: CachedTable | undefined,
  mustBeSeen: boolean,
): Promise<Verdict> {
  let bindings: PolicyBindings
  try {
    bindings = bindingsOf(change, base)
  } catch (thrown) {
    if (!mustBeSeen && !policies.some(isInForce)) return recordedUnseen(parts, policies, change.table, thrown)
    if (thrown instanceof Fault && thrown.kind === 'conflict') throw thrown
    if (thrown instanceof Fault && thrown.kind === 'bad_request') {
      // Updates that fit an older table do not fit this one: the writer must rebase, not mend its body.
      checkRequirements(base?.metadata, change.request.requirements)
      throw thrown
    }
    return notEvaluated(parts, change.table, thrown)
  }
  return await judgePolicies(parts, policies, change.table, bindings)
}

/** What policies see of a change. @throws what applying its updates throws */
function bindingsOf(change: Change, base: CachedTable | undefined): PolicyBindings {
  const metadata = applyUpdates(base?.metadata, change.request.updates, { nowMs: change.receivedAtMs })
  const result = tableView(change.table, metadata)
  return {
    table: base?.view ?? result,
    commit: commitView(change.request, result, change.receivedAtMs),
    principal: principalView(change.identified.principal),
  }
}

/** The engine's verdict; whatever it throws is `unavailable`. */
export async function judgePolicies(
  parts: GatewayParts,
  policies: readonly Policy[],
  table: TableRef,
  bindings: PolicyBindings,
): Promise<Verdict> {
  if (policies.length === 0) return allowed
  try {
    return await parts.policies.judge(policies, bindings)
  } catch (thrown) {
    return notEvaluated(parts, table, thrown)
  }
}

/** The verdict where what policies would see could not be made, which is logged. */
export function notEvaluated(parts: GatewayParts, table: TableRef, thrown: unknown): Verdict {
  parts.log.error({ err: thrown, table }, 'policies could not be evaluated')
  return { kind: 'unavailable', error: 'ErrEvalPanic', outcomes: [] }
}

/** What policies see as `principal` (SPEC 2.3). */
export function principalView({ sub, email, roles }: Principal): JsonObject {
  const view = new Map<string, JsonValue>([
    ['sub', sub],
    ['roles', roles],
  ])
  if (email !== undefined) view.set('email', email)
  return view
}

/** Retention policies speak of snapshot expiry only (SPEC 2.4), which an update that is not known may be. */
function applicable(policies: readonly Policy[], request: CommitRequest): readonly Policy[] {
  const expires = request.updates.some(
    (update) => update.get('action') === 'remove-snapshots' || !isKnownUpdate(update),
  )
  return expires ? policies : policies.filter((policy) => policy.kind !== 'retention')
}

export type Settled<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly thrown: unknown }

/** The outcome of a promise as a value, so that it can be left alone until its turn. */
export async function settle<T>(promise: Promise<T>): Promise<Settled<T>> {
  try {
    return { ok: true, value: await promise }
  } catch (thrown) {
    return { ok: false, thrown }
  }
}

/** @throws Fault as SPEC 7 words it, where the verdict is not `allow` */
export function assertAllowed(verdict: Verdict): void {
  if (verdict.kind === 'deny') throw new Fault('policy_denied', `policy denied: ${verdict.reason}`)
  if (verdict.kind === 'unavailable')
    throw new Fault('policy_engine_unavailable', 'policy-engine-unavailable', { detail: verdict.error })
}

/** Outcomes of `warn` policies that were not true. */
export function warningsOf(verdict: Verdict): readonly PolicyOutcome[] {
  return verdict.outcomes.filter(({ mode, value }) => mode === 'warn' && value !== true)
}
