/**
 * Judges a commit on one table (docs/reference/policies.md 5, docs/reference/gateway.md 5.1): compiles its policies,
 * runs them in id order and turns their outcomes into a verdict. Owns the compiled programs and the worker thread.
 */

import { Lru } from '../base/lru.ts'
import type { PolicyErrorCode, PolicyOutcome, Verdict } from '../core/decision.ts'
import { type Policy, policyTitle } from '../core/policy.ts'
import type { TenantId } from '../core/tenant.ts'
import { limits } from '../limits.ts'
import { type CompiledPolicy, compilePolicy, planPolicy } from './compile.ts'
import { countTrue, evaluatePolicy, type PolicyBindings } from './evaluate.ts'
import { judgeOne } from './judge-one.ts'
import { askedBy, type ReadManifestFacts } from './manifest-facts.ts'
import { PolicyError } from './policy-error.ts'
import { allReads, type PolicyReads } from './reads.ts'
import { SeenCommit } from './seen-commit.ts'
import { WorkerHost } from './worker-host.ts'
import type { PolicyResult, WorkerTask } from './worker-protocol.ts'

/** Compiled policies that are cached. */
const policyCacheCount = 10_000

/** Limits that tests lower. Each defaults to the one of the same name in limits.ts. */
export interface PolicyEngineOptions {
  readonly inlineMs?: number
  readonly workerMs?: number
  readonly ticksMax?: number
  readonly cacheCount?: number
  readonly workerUrl?: URL
}

/** Texts up to this length parse in about the time that a policy may block the HTTP thread. */
const inlineParseLengthMax = 1_024
/** High, because starting on a busy machine is slow without being broken. */
const probeMs = 30_000
/** Time for a worker to explain and reply after its own watchdog fired, before it is treated as hung. */
const hangGraceMs = 500
/** How many worker timeouts a task may wait for its turn. */
const waitFactor = 5
const waitingCountMax = 64
/** A cached policy takes one cache unit per so many nodes, so that the limit holds for large ones too. */
const nodesPerCacheUnit = 64

type Compiled = CompiledPolicy | { readonly error: PolicyErrorCode; readonly explanation?: string }

interface Runnable {
  readonly policy: Policy
  readonly compiled: CompiledPolicy
}

export class PolicyEngine {
  readonly #inlineMs: number
  readonly #workerMs: number
  readonly #ticksMax: number
  /** By policy id. An entry is valid only for the text that it was compiled from. */
  readonly #programs: Lru<string, { readonly text: string; readonly compiled: Compiled }>
  readonly #host: WorkerHost
  #closed = false

  /** Starts the worker and compiles a first policy. Throws a PolicyError if CEL itself does not work. */
  constructor(options: PolicyEngineOptions = {}) {
    this.#inlineMs = options.inlineMs ?? limits.policyInlineMs
    this.#workerMs = options.workerMs ?? limits.policyWorkerMs
    this.#ticksMax = options.ticksMax ?? limits.policyTicksMax
    this.#programs = new Lru(options.cacheCount ?? policyCacheCount)
    const probe = { table: new Map(), commit: new Map(), principal: new Map([['roles', ['probe']]]) }
    const budget = { timeoutMs: probeMs, ticksMax: this.#ticksMax }
    if (!evaluatePolicy(compilePolicy('principal.role(principal, "probe")', probeMs), probe, budget))
      throw new PolicyError('ErrPolicyCompile', 'the policy compiler does not work')
    this.#host = new WorkerHost({
      workerUrl: options.workerUrl ?? new URL('./worker.ts', import.meta.url),
      hangMs: this.#workerMs + hangGraceMs,
      waitMs: this.#workerMs * waitFactor,
      waitingCountMax,
    })
  }

  /** Whether the compiler works and the worker is up (docs/reference/operations.md 1.2). */
  ready(): boolean {
    return !this.#closed && this.#host.ready
  }

  /** Ends the worker. Later verdicts are `unavailable`. */
  close(): void {
    this.#closed = true
    this.#host.close()
  }

  /**
   * Judges one commit. Never rejects: if it fails, the verdict is `unavailable`.
   *
   * @param tenant whose turn it is in the worker
   * @param policies every policy of the table, in any order; modes `warn` and `shadow` do not affect the verdict
   * @param readFacts called at most once, if a policy's value depends on the manifests of the commit. Without it such
   *   a commit gets no verdict
   * @returns the verdict with each policy's outcome, in the order in which they ran
   */
  async judge(
    tenant: TenantId,
    policies: readonly Policy[],
    bindings: PolicyBindings,
    readFacts?: ReadManifestFacts,
  ): Promise<Verdict> {
    try {
      if (this.#closed) return unavailable('ErrEvalPanic', undefined, [])
      const recorded = policies.filter(isRecordedOnly)
      const enforced = policies.filter((policy) => !isRecordedOnly(policy))
      const seen = new SeenCommit(bindings, readFacts, askedBy(policies))
      const verdict = await this.#enforce(tenant, inIdOrder(enforced), seen)
      if (verdict.kind === 'unavailable' || recorded.length === 0) return verdict
      const outcomes = await this.#record(tenant, inIdOrder(recorded), seen).catch(() => [])
      if (seen.lacksFacts) return unavailable('ErrManifestRead', undefined, [])
      return { ...verdict, outcomes: [...verdict.outcomes, ...outcomes] }
    } catch {
      return unavailable('ErrEvalPanic', undefined, [])
    }
  }

  /** What the policies read together; undefined where one of them does not compile. */
  async readsOf(tenant: TenantId, policies: readonly Policy[]): Promise<PolicyReads | undefined> {
    const reads: PolicyReads[] = []
    for (const policy of policies) {
      const compiled = this.#cached(policy) ?? (await this.#compile(tenant, policy, true))
      if ('error' in compiled) return undefined
      reads.push(compiled.reads)
    }
    return allReads(reads)
  }

  async #enforce(tenant: TenantId, policies: readonly Policy[], seen: SeenCommit): Promise<Verdict> {
    const runnable: Runnable[] = []
    for (const policy of policies) {
      const compiled = this.#cached(policy) ?? (await this.#compile(tenant, policy, true))
      if ('error' in compiled) return unavailable(compiled.error, policy.id, [outcomeOf(policy, compiled)])
      runnable.push({ policy, compiled })
    }
    const outcomes: PolicyOutcome[] = []
    const results = await this.#run(tenant, runnable, seen, true)
    for (const [index, { policy }] of runnable.entries()) {
      const result = results[index] ?? { error: 'ErrEvalPanic' as const }
      outcomes.push(outcomeOf(policy, result))
      if (result.value === true && result.error === undefined) continue
      if (result.value !== false || result.error !== undefined)
        return unavailable(result.error ?? 'ErrEvalPanic', policy.id, outcomes, seen.problem)
      const title = policyTitle(policy)
      const reason = policy.message === '' ? title : `${title}: ${policy.message}`
      return { kind: 'deny', reason, policyId: policy.id, outcomes }
    }
    return { kind: 'allow', outcomes }
  }

  /** Runs warn and shadow policies, on their own budget. */
  async #record(
    tenant: TenantId,
    policies: readonly Policy[],
    seen: SeenCommit,
  ): Promise<readonly PolicyOutcome[]> {
    const runnable: Runnable[] = []
    const refused = new Map<string, PolicyResult>()
    for (const policy of policies) {
      const compiled = this.#cached(policy) ?? (await this.#compile(tenant, policy, false))
      if ('error' in compiled) refused.set(policy.id, compiled)
      else runnable.push({ policy, compiled })
    }
    const results = await this.#run(tenant, runnable, seen, false)
    const ran = new Map(runnable.map(({ policy }, index) => [policy.id, results[index]]))
    return policies.map((policy) =>
      outcomeOf(policy, ran.get(policy.id) ?? refused.get(policy.id) ?? { error: 'ErrEvalPanic' }),
    )
  }

  /**
   * Runs policies in order, first without manifest facts: CEL's `true || …` needs none. What failed and asks for them
   * runs once more with them.
   *
   * @returns results of the first policies; with `stopAtFirst` none after the first that is not true
   */
  async #run(
    tenant: TenantId,
    runnable: readonly Runnable[],
    seen: SeenCommit,
    stopAtFirst: boolean,
  ): Promise<readonly PolicyResult[]> {
    let results = await this.#runOnce(tenant, runnable, seen.bindings, stopAtFirst)
    const first = results.findIndex((result, index) => mayNeedFacts(result, runnable[index]))
    if (first >= 0 && !seen.hasFacts) {
      const again = await this.#runOnce(tenant, runnable.slice(first), await seen.askFacts(), stopAtFirst)
      results = [...results.slice(0, first), ...again]
    }
    return results.map((result, index) =>
      seen.problem !== undefined && mayNeedFacts(result, runnable[index])
        ? { error: 'ErrManifestRead', explanation: seen.problem }
        : result,
    )
  }

  async #runOnce(
    tenant: TenantId,
    runnable: readonly Runnable[],
    bindings: PolicyBindings,
    stopAtFirst: boolean,
  ): Promise<PolicyResult[]> {
    const results = this.#runInline(runnable, bindings, stopAtFirst)
    const rest = runnable.slice(results.length)
    const undecided = rest.length > 0 && (!stopAtFirst || results.every(({ value }) => value === true))
    if (undecided) results.push(...(await this.#runInWorker(tenant, rest, bindings, stopAtFirst)))
    return results
  }

  /**
   * Runs the policies that fit into the time that a commit may block this thread.
   *
   * @returns results of the first policies, in order; the worker runs those without a result
   */
  #runInline(runnable: readonly Runnable[], bindings: PolicyBindings, stopAtFirst: boolean): PolicyResult[] {
    const endsAt = performance.now() + this.#inlineMs
    const budget = { timeoutMs: this.#inlineMs, ticksMax: this.#ticksMax }
    const count = countTrue(
      runnable.map(({ compiled }) => compiled),
      bindings,
      budget,
    )
    const results = Array.from({ length: count }, (): PolicyResult => ({ value: true }))
    for (const { compiled } of runnable.slice(count)) {
      const leftMs = endsAt - performance.now()
      if (leftMs <= 0) break
      const budget = { timeoutMs: Math.ceil(leftMs), ticksMax: this.#ticksMax }
      const result = judgeOne(compiled, bindings, budget, limits.policyInlineMs)
      if (result.error === 'ErrPolicyTimeout') break
      results.push(result)
      if (stopAtFirst && result.value !== true) break
    }
    return results
  }

  async #runInWorker(
    tenant: TenantId,
    runnable: readonly Runnable[],
    bindings: PolicyBindings,
    stopAtFirst: boolean,
  ): Promise<readonly PolicyResult[]> {
    const task: WorkerTask = {
      kind: 'evaluate',
      policies: runnable.map(({ policy }) => ({ id: policy.id, text: policy.definitionCel })),
      bindings,
      stopAtFirst,
      timeoutMs: this.#workerMs,
      ticksMax: this.#ticksMax,
    }
    const outcome = await this.#host.run(tenant, task, stopAtFirst)
    if (outcome.kind === 'evaluated') return outcome.results
    const error = outcome.kind === 'failed' ? outcome.error : 'ErrEvalPanic'
    return runnable.map(() => ({ error }))
  }

  #cached(policy: Policy): Compiled | undefined {
    const entry = this.#programs.get(policy.id)
    return entry?.text === policy.definitionCel ? entry.compiled : undefined
  }

  async #compile(tenant: TenantId, policy: Policy, urgent: boolean): Promise<Compiled> {
    const text = policy.definitionCel
    const compiled = await this.#compileText(tenant, text, urgent).catch(failureOf)
    // Any other failure may be the machine's, and says nothing about the text.
    const isVerdict = !('error' in compiled) || compiled.error === 'ErrPolicyCompile'
    const units = 'error' in compiled ? 1 : 1 + Math.floor(compiled.nodeCount / nodesPerCacheUnit)
    if (isVerdict) this.#programs.set(policy.id, { text, compiled }, units)
    return compiled
  }

  async #compileText(tenant: TenantId, text: string, urgent: boolean): Promise<Compiled> {
    if (text.length <= inlineParseLengthMax) return compilePolicy(text)
    const outcome = await this.#host.run(tenant, { kind: 'parse', text }, urgent)
    if (outcome.kind === 'parsed') return planPolicy(outcome.policy)
    if (outcome.kind === 'evaluated') return { error: 'ErrEvalPanic' }
    const { kind: _, ...refused } = outcome
    return refused
  }
}

/** A mode that this build does not support is enforced. */
function isRecordedOnly({ mode }: Policy): boolean {
  return mode === 'warn' || mode === 'shadow'
}

function inIdOrder(policies: readonly Policy[]): readonly Policy[] {
  if (policies.length < 2) return policies
  return policies.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
}

function outcomeOf(
  { id, name, mode, enforceFromMs, grant }: Policy,
  { value, error, explanation }: PolicyResult,
): PolicyOutcome {
  return {
    policyId: id,
    name,
    mode,
    ...(mode === 'shadow' && enforceFromMs !== undefined && { enforceFromMs }),
    ...(grant !== undefined && { grant }),
    ...(value !== undefined && { value }),
    ...(error !== undefined && { error }),
    ...(explanation !== undefined && { explanation }),
  }
}

function failureOf(thrown: unknown): PolicyResult & { readonly error: PolicyErrorCode } {
  if (!(thrown instanceof PolicyError)) return { error: 'ErrEvalPanic' }
  return { error: thrown.code, explanation: thrown.message }
}

function mayNeedFacts({ error }: PolicyResult, runnable: Runnable | undefined): boolean {
  return error === 'ErrPolicyEval' && runnable?.compiled.asksManifest === true
}

function unavailable(
  error: PolicyErrorCode,
  policyId: string | undefined,
  outcomes: readonly PolicyOutcome[],
  problem?: string,
): Verdict {
  const detail = error === 'ErrManifestRead' ? problem : undefined
  return {
    kind: 'unavailable',
    error,
    outcomes,
    ...(policyId !== undefined && { policyId }),
    ...(detail !== undefined && { detail }),
  }
}
