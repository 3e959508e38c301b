/** Compiles a policy's text to a bounded program. Without one there is no verdict (docs/reference/policies.md 1.1). */

import { type CelResult, plan } from '@bufbuild/cel'
import type { Expr, ParsedExpr } from '@bufbuild/cel-spec/cel/expr/syntax_pb.js'
import type { JsonValue } from '../base/json.ts'
import { type ParsedPolicy, parsePolicy } from './check.ts'
import { environment } from './environment.ts'
import { instrument } from './instrument.ts'
import { PolicyError, type PolicyProblem } from './policy-error.ts'
import { type PolicyReads, readsOf } from './reads.ts'

/** The values of a program's free names. */
export type ProgramBindings = Readonly<Record<string, JsonValue>>
export type Program = (bindings: ProgramBindings) => CelResult

/** Immutable. It may be evaluated any number of times, on this thread only. */
export interface CompiledPolicy {
  readonly program: Program
  /** The tree as written, which explanations walk. */
  readonly parsed: ParsedExpr
  readonly nodeCount: number
  readonly asksManifest: boolean
  readonly reads: PolicyReads
}

/**
 * Compiles a policy's text.
 *
 * @param parseMs the processor time that the parser may take, in milliseconds
 * @throws PolicyError `ErrPolicyCompile`, naming the first problem and its offset, or `ErrPolicyTimeout`
 */
export function compilePolicy(text: string, parseMs?: number): CompiledPolicy {
  const policy = parsePolicy(text, parseMs)
  if (policy.problems === undefined) return planPolicy(policy)
  throw new PolicyError('ErrPolicyCompile', problemText(policy.problems))
}

/** The first problem of a text and its offset. */
export function problemText([first]: readonly PolicyProblem[]): string {
  return `${first?.message} (at ${first?.offset})`
}

/**
 * Plans a parsed policy, the second half of compilation. Takes time linear in the size of the tree.
 *
 * @throws PolicyError `ErrPolicyCompile`
 */
export function planPolicy({ parsed, root, nodeCount, asksManifest }: ParsedPolicy): CompiledPolicy {
  try {
    return { program: planExpression(root), parsed, nodeCount, asksManifest, reads: readsOf(root) }
  } catch (thrown) {
    throw new PolicyError('ErrPolicyCompile', 'the policy cannot be planned', { cause: thrown })
  }
}

/** Plans a bounded program for any CEL expression of bounded depth. Checks no name, function or type. */
export function planExpression(expr: Expr): Program {
  return plan(environment, instrument(expr)) as Program
}
