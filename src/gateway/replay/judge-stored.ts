/**
 * Judges stored changes again: by a draft policy, or by the policies of then. What policies see is made by the functions
 * that the gate uses. It is pure, and runs in the replay's worker.
 */

import { zstdDecompressSync } from 'node:zlib'
import { Fault } from '../../base/fault.ts'
import type { JsonObject } from '../../base/json.ts'
import { type PolicyErrorCode, policyErrorCodes } from '../../core/decision.ts'
import { type PolicyScope, policyTitle } from '../../core/policy.ts'
import {
  type ReplayDraft,
  type Replayed,
  type StoredChange,
  type StoredOutcome,
  type UnavailableReason,
  unavailableReasons,
} from '../../core/policy-replay.ts'
import { type TableRef, tableName } from '../../core/table-ref.ts'
import { limits } from '../../limits.ts'
import { type CompiledPolicy, compilePolicy } from '../../policy/compile.ts'
import type { PolicyBindings } from '../../policy/evaluate.ts'
import { type ExplainedPart, explainTree } from '../../policy/explain-tree.ts'
import { judgeOne } from '../../policy/judge-one.ts'
import { type ManifestFacts, withManifestFacts } from '../../policy/manifest-facts.ts'
import { PolicyError } from '../../policy/policy-error.ts'
import type { PolicyResult } from '../../policy/worker-protocol.ts'
import { parseCommitRequest, renameDestination } from '../../wire/iceberg/commit-request.ts'
import { commitView, tableView } from '../../wire/iceberg/policy-view.ts'
import { factsOfAction, type SeenAction, type Subject, subjectsOf } from '../stages/action-subjects.ts'
import { applicable, type BaseTable, bindingsOf, resultOf } from '../stages/bindings.ts'
import { isInForce, principalBinding } from '../stages/verdicts.ts'

/** Milliseconds that an explanation may take, and one of every part. */
const explainMs = 50
const explainTreeMs = 500

/** A policy asks for what the manifests of the commit say, which is read first. */
export interface AsksManifests {
  readonly outcome: 'asks_manifests'
}

/** The result for a change that cannot be replayed. */
export function unavailable(why: UnavailableReason): Replayed {
  return { outcome: 'unavailable', reason: unavailableReasons[why] }
}

/** A policy of then or the draft, as it is evaluated. */
interface Tried {
  readonly id: string
  readonly kind: ReplayDraft['kind']
  readonly text: string
}

/** The compiled policies of one thread, by text. Those of a replay are few, or were in force, and so are few too. */
const compiledCountMax = 1_000
const compiledByText = new Map<string, CompiledPolicy>()

function compiled(text: string): CompiledPolicy {
  const cached = compiledByText.get(text)
  if (cached !== undefined) return cached
  if (compiledByText.size >= compiledCountMax) compiledByText.clear()
  const policy = compilePolicy(text)
  compiledByText.set(text, policy)
  return policy
}

function evaluate({ text }: Tried, bindings: PolicyBindings): PolicyResult & { readonly asks?: boolean } {
  try {
    const policy = compiled(text)
    const budget = { timeoutMs: limits.policyWorkerMs, ticksMax: limits.policyTicksMax }
    const result = judgeOne(policy, bindings, budget, explainMs)
    return { ...result, asks: policy.asksManifest && result.error === 'ErrPolicyEval' }
  } catch (thrown) {
    const error: PolicyErrorCode = thrown instanceof PolicyError ? thrown.code : 'ErrEvalPanic'
    return { error, ...(thrown instanceof PolicyError && { explanation: thrown.message }) }
  }
}

/** What one policy sees of one name that a change affects. */
interface Seen {
  readonly name: TableRef
  readonly bindings: PolicyBindings
  /** Whether a policy of the kind is evaluated here. */
  readonly takes: (kind: ReplayDraft['kind']) => boolean
  readonly needsGrant: boolean
  readonly unevaluatedKind?: ReplayDraft['kind']
  /** Whether facts of manifests may be asked for. */
  readonly hasManifests: boolean
}

/**
 * Judges one stored change.
 * @param base the parsed metadata file that it was based on; undefined where it had none
 * @param facts of its manifests, once a policy has asked
 */
export function judgeStored(
  draft: ReplayDraft | undefined,
  change: StoredChange,
  base: JsonObject | undefined,
  facts?: ManifestFacts,
): Replayed | AsksManifests {
  if (change.body.length === 0) return unavailable('body')
  let seen: readonly Seen[]
  try {
    seen = seenOf(change, base && { metadata: base, view: tableView(change.table, base) }, facts)
  } catch {
    return unavailable('request')
  }
  return draft === undefined ? compareAll(change, seen, facts) : tryDraft(draft, change, seen, facts)
}

/** What a policy says of one change, part by part. */
export interface TriedPolicy {
  readonly outcome: 'allow' | 'deny' | 'no_verdict'
  readonly error?: PolicyErrorCode
  readonly message?: string
  readonly parts: readonly ExplainedPart[]
  readonly truncated: boolean
}

/**
 * Judges one change by a text, and explains every part of it. Of a change that affects several names the first is judged.
 * @param base as for {@link judgeStored}
 * @throws Fault where the change cannot be made; PolicyError for a text that does not compile
 */
export function tryOnStored(
  text: string,
  change: StoredChange,
  base: JsonObject | undefined,
  facts: ManifestFacts | undefined,
): TriedPolicy | AsksManifests {
  const [seen] = seenOf(change, base && { metadata: base, view: tableView(change.table, base) }, facts)
  if (seen === undefined) throw new Fault('bad_request', 'The change affects nothing.')
  const policy = compiled(text)
  const { value, error, explanation, asks } = evaluate({ id: '', kind: 'schema', text }, seen.bindings)
  if (asks && seen.hasManifests && facts === undefined) return { outcome: 'asks_manifests' }
  return {
    outcome: value === undefined ? 'no_verdict' : value ? 'allow' : 'deny',
    ...(error !== undefined && { error }),
    ...(error !== undefined && explanation !== undefined && { message: explanation }),
    ...explainTree(policy, seen.bindings, explainTreeMs),
  }
}

/** The request of a stored change. Throws where the body is not what it was. */
export function requestOf({ body }: Pick<StoredChange, 'body'>) {
  // The body of a change that is no commit was written again, and so may be longer than it came.
  return parseCommitRequest(zstdDecompressSync(body, { maxOutputLength: 2 * limits.commitBodyBytesMax }))
}

/** The metadata after a stored commit. Throws what applying its updates throws. */
export function resultOfStored(change: StoredChange, base: JsonObject | undefined): JsonObject {
  const seen = { request: requestOf(change), receivedAtMs: change.receivedAtMs }
  return resultOf(seen, base && { metadata: base, view: base })
}

function seenOf(
  change: StoredChange,
  base: BaseTable | undefined,
  facts: ManifestFacts | undefined,
): readonly Seen[] {
  const { action, table, principal, receivedAtMs, origin } = change
  const request = requestOf(change)
  if (action === 'update-table') {
    const bindings = bindingsOf({ table, request, identified: { principal }, receivedAtMs, origin }, base)
    return [
      {
        name: table,
        bindings: facts ? { ...bindings, commit: withManifestFacts(bindings.commit, facts) } : bindings,
        takes: (kind) => applicable([{ kind }], request).length > 0,
        needsGrant: base === undefined,
        hasManifests: true,
      },
    ]
  }
  const [update] = request.updates
  const destination = update && action.startsWith('rename-') ? renameDestination(update) : undefined
  const purge = update?.get('purge-requested') === true
  const seen: SeenAction = { action, table, destination, purge, request, receivedAtMs }
  return subjectsOf(seen, base).map((subject) => seenSubject(seen, subject, change))
}

function seenSubject(
  { action, receivedAtMs }: SeenAction,
  { name, table, result, request, kinds, needsGrant, unevaluatedKind }: Subject,
  { principal, origin }: StoredChange,
): Seen {
  const commit = withManifestFacts(commitView(request, result, receivedAtMs, origin), factsOfAction(action))
  return {
    name,
    bindings: { table, commit, principal: principalBinding(principal) },
    takes: (kind) => kinds.includes(kind),
    needsGrant,
    ...(unevaluatedKind && { unevaluatedKind }),
    hasManifests: false,
  }
}

/** The first that is not true decides, as at the gate. */
function tryDraft(
  draft: ReplayDraft,
  change: StoredChange,
  seen: readonly Seen[],
  facts: ManifestFacts | undefined,
): Replayed | AsksManifests {
  const tried = { id: '', kind: draft.kind, text: draft.definitionCel }
  const title = policyTitle({ name: draft.name, ...nearScope(draft.scope) })
  let isAffected = false
  for (const one of seen.filter(({ name }) => isInScope(draft.scope, name, change.table))) {
    if (one.takes(draft.kind)) {
      isAffected = true
      const { value, error, explanation, asks } = evaluate(tried, one.bindings)
      if (asks && one.hasManifests && facts === undefined) return { outcome: 'asks_manifests' }
      if (asks && facts?.problem !== undefined) return unavailable('manifests')
      if (value === undefined)
        return { outcome: 'no_verdict', reason: error ?? 'ErrEvalPanic', ...(explanation && { explanation }) }
      if (!value) {
        const reason = draft.message === '' ? title : `${title}: ${draft.message}`
        return denied(change, reason, explanation)
      }
    }
    const refusal = refusalOf(draft, change, one)
    if (refusal !== undefined) return denied(change, refusal, undefined)
  }
  if (!isAffected) return { outcome: 'unaffected' }
  return { outcome: deniedOnlyByReplaced(draft, change) ? 'newly_allowed' : 'allowed' }
}

/** What the gate refuses a change for that policies cannot judge, or that none of them grants. */
function refusalOf(draft: ReplayDraft, { action, policies }: StoredChange, seen: Seen): string | undefined {
  if (seen.unevaluatedKind === draft.kind)
    return `${draft.name}: the metadata file to register cannot be evaluated beforehand`
  const grants = policies.some(
    ({ id, kind, mode }) => kind === 'write_acl' && isInForce({ mode }) && id !== draft.replaces,
  )
  if (!seen.needsGrant || draft.kind === 'write_acl' || grants) return undefined
  const named = action === 'update-table' ? 'create-table' : action
  return `no write policy of ${tableName(seen.name)} allows ${named}`
}

function denied(change: StoredChange, reason: string, explanation: string | undefined): Replayed {
  const outcome = change.decision === 'APPROVED' ? 'newly_denied' : 'still_denied'
  return { outcome, reason, ...(explanation !== undefined && { explanation }) }
}

/** Whether the policy that the draft replaces was the one that denied the change. */
function deniedOnlyByReplaced({ replaces }: ReplayDraft, { decision, outcomes }: StoredChange): boolean {
  if (decision !== 'REJECTED' || replaces === undefined) return false
  return outcomes.some(
    ({ policyId, mode, value }) => policyId === replaces && mode === 'enforce' && value === false,
  )
}

function nearScope(scope: PolicyScope) {
  return 'tag' in scope || scope.name === undefined ? { scope } : {}
}

/** Whether a name is in a scope. The table of the change itself is: the store has chosen it by the scope. */
function isInScope(scope: PolicyScope, name: TableRef, chosen: TableRef): boolean {
  if (name === chosen || 'tag' in scope) return name === chosen
  if (scope.name !== undefined) return tableName(scope) === tableName(name)
  return scope.namespace.every((level, index) => name.namespace[index] === level)
}

/** Errors that come again wherever the same policy sees the same. */
const lastingErrors: ReadonlySet<PolicyErrorCode> = new Set(
  policyErrorCodes.filter((code) =>
    ['ErrPolicyCompile', 'ErrPolicyEval', 'ErrPolicyNonBool', 'ErrPolicyBudget'].includes(code),
  ),
)

/** Compares what the policies of then say now with what they said then. */
function compareAll(
  { policies, outcomes }: StoredChange,
  seen: readonly Seen[],
  facts: ManifestFacts | undefined,
): Replayed | AsksManifests {
  const byId = new Map(policies.map(({ id, kind, definitionCel: text }) => [id, { id, kind, text }]))
  for (const outcome of outcomes) {
    const tried = byId.get(outcome.policyId)
    if (tried === undefined || !isComparable(outcome)) continue
    const results = seen
      .filter(({ takes }) => takes(tried.kind))
      .map((one) => ({ one, ...evaluate(tried, one.bindings) }))
    if (results.some(({ one, asks }) => asks && one.hasManifests) && facts === undefined)
      return { outcome: 'asks_manifests' }
    if (results.some(({ asks }) => asks) && facts?.problem !== undefined) return unavailable('manifests')
    if (results.some(({ value, error }) => value === outcome.value && error === outcome.error)) continue
    const [now] = results
    return {
      outcome: 'differs',
      reason: `${outcome.policyId}: ${said(outcome)} then, ${now === undefined ? 'not evaluated' : said(now)} now`,
    }
  }
  return { outcome: 'confirmed' }
}

/** An outcome after a race saw another table, and a time or a file that failed then may not fail now. */
function isComparable({ raced, error }: StoredOutcome): boolean {
  return raced !== true && (error === undefined || lastingErrors.has(error))
}

function said({ value, error }: Pick<StoredOutcome, 'value' | 'error'>): string {
  return error ?? String(value)
}
