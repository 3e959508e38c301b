/** What verdicts on commits and on other changes share: evaluating policies, and the denials that need no policy. */

import type { JsonObject, JsonValue } from '../../base/json.ts'
import type { CatalogAction } from '../../core/commit.ts'
import type { PolicyOutcome, Verdict } from '../../core/decision.ts'
import type { Policy } from '../../core/policy.ts'
import type { Principal } from '../../core/principal.ts'
import { type TableRef, tableName } from '../../core/table-ref.ts'
import type { PolicyBindings } from '../../policy/evaluate.ts'
import type { GatewayParts } from '../base/parts.ts'

/** What allows everything: no policy governs. */
export const allowed: Verdict = { kind: 'allow', outcomes: [] }

/** The verdict where policies could not be loaded. Logs it. */
export function policiesUnavailable(parts: GatewayParts, table: TableRef, thrown: unknown): Verdict {
  parts.log.error({ err: thrown, table }, 'policies could not be loaded')
  return { kind: 'unavailable', error: 'ErrPolicyLoad', outcomes: [] }
}

/** Whether a policy decides the verdict. One whose mode this build does not know does. */
export function isInForce({ mode }: Policy): boolean {
  return mode !== 'warn' && mode !== 'shadow'
}

/**
 * Denies an action that no policy denied and no write ACL allows. On a governed name, actions that could remove its
 * governance need a write ACL that allows them (docs/reference/gateway.md 4.2). Policies that only warn or record are ignored.
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

/** The verdict where the policies' bindings could not be built and none is in force: such policies never alter it. */
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

/** The verdict where the policies' bindings could not be built, or the engine threw. Logs it. */
export function notEvaluated(parts: GatewayParts, table: TableRef, thrown: unknown): Verdict {
  parts.log.error({ err: thrown, table }, 'policies could not be evaluated')
  return { kind: 'unavailable', error: 'ErrEvalPanic', outcomes: [] }
}

/** What policies see as `principal` (docs/reference/policies.md 2.3). */
export function principalView({ sub, email, roles }: Principal): JsonObject {
  const view = new Map<string, JsonValue>([
    ['sub', sub],
    ['roles', roles],
  ])
  if (email !== undefined) view.set('email', email)
  return view
}

/** Outcomes of `warn` policies that were not true. */
export function warningsOf(verdict: Verdict): readonly PolicyOutcome[] {
  return verdict.outcomes.filter(({ mode, value }) => mode === 'warn' && value !== true)
}
