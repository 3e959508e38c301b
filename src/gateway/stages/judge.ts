/** Steps 8 to 10 of SPEC 4.1: load the table and its policies, and evaluate every policy. */

import { Fault } from '../../base/fault.ts'
import type { JsonObject, JsonValue } from '../../base/json.ts'
import type { Verdict } from '../../core/decision.ts'
import type { Policy } from '../../core/policy.ts'
import type { IdentifiedPrincipal, Principal } from '../../core/principal.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { loadPolicies } from '../../store/policies.ts'
import { applyUpdates } from '../../wire/iceberg/apply-updates.ts'
import type { CommitRequest } from '../../wire/iceberg/commit-request.ts'
import { commitView, tableView } from '../../wire/iceberg/policy-view.ts'
import type { GatewayParts } from '../parts.ts'
import type { CachedTable } from '../table-cache.ts'
import type { DeclaredIntent } from './intent.ts'
import { loadCurrent } from './load-current.ts'
import type { Upstream } from './open-upstream.ts'

export interface Change {
  readonly tenant: TenantId
  readonly table: TableRef
  readonly request: CommitRequest
  readonly identified: IdentifiedPrincipal
  /** Milliseconds since the Unix epoch. */
  readonly receivedAtMs: number
  readonly signal: AbortSignal
}

export interface Judged {
  /** Undefined for a table that the commit creates. */
  readonly base: CachedTable | undefined
  /** The policies that applied to this change, in id order. */
  readonly policies: readonly Policy[]
  readonly verdict: Verdict
}

/**
 * The verdict on one change of one table.
 * The table and the policies load side by side; where both fail, the table's failure is the outcome, because
 * SPEC 4.1 names that step first. A failure to load policies is the verdict `unavailable`.
 * @param declared told of the base as soon as the table has loaded
 */
export async function judgeChange(
  parts: GatewayParts,
  upstream: Upstream,
  change: Change,
  declared: DeclaredIntent,
): Promise<Judged> {
  const creates = change.request.requirements.some(
    (requirement) => requirement.get('type') === 'assert-create',
  )
  const policiesLoad = settle(loadPolicies(parts.store, change.tenant, change.table))
  const base = await loadCurrent(parts, change.tenant, upstream, change.table, creates, change.signal)
  declared.declare(base?.metadataLocation ?? '')
  const loaded = await policiesLoad
  if (!loaded.ok) {
    parts.log.error({ err: loaded.thrown, table: change.table }, 'policies could not be loaded')
    return { base, policies: [], verdict: { kind: 'unavailable', error: 'ErrPolicyLoad', outcomes: [] } }
  }
  const policies = applicable(loaded.value, change.request)
  if (policies.length === 0) return { base, policies, verdict: { kind: 'allow', outcomes: [] } }

  return { base, policies, verdict: await evaluate(parts, policies, change, base) }
}

/** Whatever is thrown on the way to a verdict is the verdict `unavailable`, save a body that is plainly wrong. */
async function evaluate(
  parts: GatewayParts,
  policies: readonly Policy[],
  change: Change,
  base: CachedTable | undefined,
): Promise<Verdict> {
  try {
    const metadata = applyUpdates(base?.metadata, change.request.updates, { nowMs: change.receivedAtMs })
    const result = tableView(change.table, metadata)
    return await parts.policies.judge(policies, {
      table: base?.view ?? result,
      commit: commitView(change.request, result, change.receivedAtMs),
      principal: principalView(change.identified.principal),
    })
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.kind === 'bad_request') throw thrown
    parts.log.error({ err: thrown, table: change.table }, 'policies could not be evaluated')
    return { kind: 'unavailable', error: 'ErrEvalPanic', outcomes: [] }
  }
}

/** What policies see as `principal` (SPEC 2.3). */
function principalView({ sub, email, roles }: Principal): JsonObject {
  const view = new Map<string, JsonValue>([
    ['sub', sub],
    ['roles', roles],
  ])
  if (email !== undefined) view.set('email', email)
  return view
}

/** Retention policies speak of snapshot expiry only (SPEC 2.4). */
function applicable(policies: readonly Policy[], request: CommitRequest): readonly Policy[] {
  const expires = request.updates.some((update) => update.get('action') === 'remove-snapshots')
  return expires ? policies : policies.filter((policy) => policy.kind !== 'retention')
}

type Settled<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly thrown: unknown }

async function settle<T>(promise: Promise<T>): Promise<Settled<T>> {
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
