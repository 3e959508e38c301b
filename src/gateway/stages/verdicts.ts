/** Evaluates policies and builds verdicts, for commits and for other changes. */

import { Fault } from '../../base/fault.ts'
import type { JsonObject, JsonValue } from '../../base/json.ts'
import type { CatalogAction } from '../../core/commit.ts'
import type { PolicyOutcome, Verdict } from '../../core/decision.ts'
import { type Policy, policyTitle } from '../../core/policy.ts'
import type { Principal } from '../../core/principal.ts'
import { type TableRef, tableName } from '../../core/table-ref.ts'
import type { PolicyBindings } from '../../policy/evaluate.ts'
import type { ReadManifestFacts } from '../../policy/manifest-facts.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { Change } from './change.ts'

/** The verdict if no policy applies. */
export const allowed: Verdict = { kind: 'allow', outcomes: [] }

/** The verdict if policies could not be loaded. Logs the failure. */
export function policiesUnavailable(parts: GatewayParts, table: TableRef, thrown: unknown): Verdict {
  parts.log.error({ err: thrown, table }, 'policies could not be loaded, so the change is refused')
  const why = thrown instanceof Fault ? thrown.detail : undefined
  const detail = `the policies could not be loaded${why === undefined ? '' : `: ${why}`}`
  return { kind: 'unavailable', error: 'ErrPolicyLoad', detail, outcomes: [] }
}

/** Whether a policy decides the verdict. A policy with a mode that this build does not support does. */
export function isInForce({ mode }: Pick<Policy, 'mode'>): boolean {
  return mode !== 'warn' && mode !== 'shadow'
}

/**
 * Denies an action on a governed name that no write ACL allows, because it could remove the name's governance
 * (docs/reference/gateway.md 4.2). Policies that only warn or record are ignored.
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
    reason: `no write policy of ${tableName(table)} allows ${action}${governedBy(first)}`,
    policyId: first.id,
    outcomes: verdict.outcomes,
  }
}

/** Says through which namespace or tag a policy governs the name; nothing where it is bound to the name itself. */
function governedBy(policy: Policy): string {
  return policy.scope === undefined ? '' : `: it is governed by ${policyTitle(policy)}`
}

/** The verdict if bindings could not be built and no policy is in force: allowed, with an error for each policy. */
export function allowedUnevaluated(
  parts: GatewayParts,
  policies: readonly Policy[],
  table: TableRef,
  thrown: unknown,
): Verdict {
  parts.log.warn(
    { err: thrown, table },
    'policies of mode warn or shadow could not be evaluated; the change is not affected',
  )
  const outcomes = policies.map(({ id, name, mode }) => ({
    policyId: id,
    name,
    mode,
    error: 'ErrPolicyEval' as const,
  }))
  return { kind: 'allow', outcomes }
}

/**
 * The engine's verdict; `unavailable` if it throws.
 * @param readFacts reads the manifests of the commit, once a policy asks
 */
export async function judgePolicies(
  parts: GatewayParts,
  policies: readonly Policy[],
  { tenant, table }: Pick<Change, 'tenant' | 'table'>,
  bindings: PolicyBindings,
  readFacts: ReadManifestFacts,
): Promise<Verdict> {
  if (policies.length === 0) return allowed
  try {
    return await parts.policies.judge(tenant, policies, bindings, readFacts)
  } catch (thrown) {
    return notEvaluated(parts, table, thrown)
  }
}

/** The verdict if the policies' bindings could not be built or the engine threw. Logs the failure. */
export function notEvaluated(parts: GatewayParts, table: TableRef, thrown: unknown): Verdict {
  parts.log.error({ err: thrown, table }, 'policies could not be evaluated')
  // Faults are in words of ours; what else was thrown may quote the table, and is in the log.
  const why = thrown instanceof Fault ? (thrown.detail ?? thrown.publicMessage) : undefined
  const detail = why ?? 'what the policies see of the change could not be made'
  return { kind: 'unavailable', error: 'ErrEvalPanic', detail, outcomes: [] }
}

/** The value that policies see as `principal` (docs/reference/policies.md 2.3). */
export function principalBinding({ sub, email, roles }: Principal): JsonObject {
  const view = new Map<string, JsonValue>([
    ['sub', sub],
    ['roles', roles],
  ])
  if (email !== undefined) view.set('email', email)
  return view
}

/** The outcomes of `warn` policies that were not true. */
export function warningsOf(verdict: Verdict): readonly PolicyOutcome[] {
  return verdict.outcomes.filter(({ mode, value }) => mode === 'warn' && value !== true)
}
