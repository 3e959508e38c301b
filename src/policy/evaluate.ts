/** Evaluates a compiled policy under a tick budget and a watchdog. Any result but true or false is an error. */

import { type CelResult, isCelError } from '@bufbuild/cel'
import type { JsonValue } from '../base/json.ts'
import { meterExhausted, startMeter } from './budget.ts'
import type { CompiledPolicy, Program, ProgramBindings } from './compile.ts'
import { dropRegexCache } from './environment.ts'
import { PolicyError } from './policy-error.ts'
import { WatchdogTimeout, watched } from './watchdog.ts'

/** What a policy sees (docs/reference/policies.md 2). `docs/policies.md` says what each holds. */
export interface PolicyBindings {
  /** The table's metadata before the commit. */
  readonly table: JsonValue
  /**
   * `requirements`, `updates`, `result` (null if unknown), `received_at` (ms since the Unix epoch), and through what it
   * came: `session`, `client`, `branch`.
   */
  readonly commit: JsonValue
  /** `sub`, `email` if known, and `roles`. */
  readonly principal: JsonValue
}

export interface EvaluationBudget {
  /** Whole milliseconds, at least 1. */
  readonly timeoutMs: number
  readonly ticksMax: number
}

/**
 * Evaluates one policy.
 *
 * @returns true to allow the commit, false to deny it
 * @throws PolicyError `ErrPolicyBudget`, `ErrPolicyTimeout`, `ErrPolicyEval`, `ErrPolicyNonBool` or `ErrEvalPanic`
 */
export function evaluatePolicy(
  compiled: CompiledPolicy,
  bindings: PolicyBindings,
  budget: EvaluationBudget,
): boolean {
  const value = runProgram(compiled.program, programBindings(bindings), budget)
  if (value === true) return true
  if (value === false) return false
  if (!isCelError(value)) throw new PolicyError('ErrPolicyNonBool', 'the result of the policy is not a bool')
  const panic = isPanic(value)
  throw new PolicyError(panic ? 'ErrEvalPanic' : 'ErrPolicyEval', value.message, { cause: value })
}

/**
 * Counts how many of the first policies are true. They share one watchdog, because entering it costs as much as a small
 * policy; each has its own tick budget. {@link evaluatePolicy} finds out why the next one is not true.
 *
 * @returns 0 if they were cut off
 */
export function countTrue(
  policies: readonly CompiledPolicy[],
  bindings: PolicyBindings,
  budget: EvaluationBudget,
): number {
  const seen = programBindings(bindings)
  const run = () => {
    for (const [index, { program }] of policies.entries()) {
      startMeter(budget.ticksMax)
      if (program(seen) !== true || meterExhausted()) return index
    }
    return policies.length
  }
  try {
    return watched(run, budget.timeoutMs)
  } catch (thrown) {
    if (thrown instanceof WatchdogTimeout) dropRegexCache()
    return 0
  }
}

/** Without a prototype, so that only the three names resolve. */
export function programBindings({ table, commit, principal }: PolicyBindings): ProgramBindings {
  return Object.assign(Object.create(null) as object, { table, commit, principal }) as ProgramBindings
}

/**
 * Runs any program; CEL errors are values of the result.
 *
 * @throws PolicyError `ErrPolicyBudget`, `ErrPolicyTimeout` or `ErrEvalPanic`
 */
export function runProgram(program: Program, bindings: ProgramBindings, budget: EvaluationBudget): CelResult {
  startMeter(budget.ticksMax)
  let value: CelResult
  try {
    value = watched(() => program(bindings), budget.timeoutMs)
  } catch (thrown) {
    if (!(thrown instanceof WatchdogTimeout))
      throw new PolicyError('ErrEvalPanic', 'evaluation threw', { cause: thrown })
    dropRegexCache()
    throw new PolicyError('ErrPolicyTimeout', thrown.message)
  }
  if (meterExhausted()) throw new PolicyError('ErrPolicyBudget', `more than ${budget.ticksMax} ticks`)
  return value
}

/** Whether an error is a JavaScript defect. The library turns everything that its functions throw into values. */
function isPanic(error: unknown): boolean {
  for (let at = error, hops = 0; at instanceof Error && hops < 8; at = at.cause, hops++) {
    if (at instanceof TypeError || at instanceof ReferenceError) return true
    if (at instanceof RangeError && /call stack/i.test(at.message)) return true
    if (Array.isArray(at.cause)) return at.cause.some(isPanic)
  }
  return false
}
