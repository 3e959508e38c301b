/** Evaluates one policy to a result, with an explanation if it is not true. Runs alike on both threads. */

import type { CompiledPolicy } from './compile.ts'
import { type EvaluationBudget, evaluatePolicy, type PolicyBindings } from './evaluate.ts'
import { explainPolicy } from './explain.ts'
import { PolicyError } from './policy-error.ts'
import type { PolicyResult } from './worker-protocol.ts'

/** Of the evaluator's own message, which stands in where there was no time to explain. */
const messageLengthMax = 500

/**
 * Never throws: failures become error codes.
 *
 * @param explainMs whole milliseconds that the explanation may take on top of the budget
 */
export function judgeOne(
  compiled: CompiledPolicy,
  bindings: PolicyBindings,
  budget: EvaluationBudget,
  explainMs: number,
): PolicyResult {
  let result: PolicyResult
  let said: string | undefined
  try {
    const value = evaluatePolicy(compiled, bindings, budget)
    if (value) return { value }
    result = { value }
  } catch (thrown) {
    if (!(thrown instanceof PolicyError)) return { error: 'ErrEvalPanic' }
    // No explanation: a policy that ran out of time or ticks would do so again.
    if (thrown.code === 'ErrPolicyTimeout' || thrown.code === 'ErrPolicyBudget') return { error: thrown.code }
    result = { error: thrown.code }
    said = thrown.message.slice(0, messageLengthMax)
  }
  const explanation = explainPolicy(compiled, bindings, explainMs) ?? said
  return explanation === undefined ? result : { ...result, explanation }
}
