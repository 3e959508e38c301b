/**
 * Checks a policy's text when it is saved and before every compilation: size, shape, names, functions, arity and result
 * type. A policy that passes may still fail at evaluation, which then refuses the commit.
 */

import { parse } from '@bufbuild/cel'
import type { Expr, ParsedExpr } from '@bufbuild/cel-spec/cel/expr/syntax_pb.js'
import { limits } from '../limits.ts'
import { PolicyError, type PolicyProblem } from './policy-error.ts'
import { prescan } from './prescan.ts'
import { inferType } from './static-type.ts'
import { children } from './tree.ts'
import { WatchdogTimeout, watchedCpu } from './watchdog.ts'

/** Processor time, far above what 8 KiB of accepted text take. Only text that makes the parser backtrack reaches it. */
const parseMsMax = 500

/** A policy that passed the check: plain data that structured clone can copy. */
export interface ParsedPolicy {
  readonly parsed: ParsedExpr
  readonly root: Expr
  /** Nodes in the tree, which measure the memory that the policy takes. */
  readonly nodeCount: number
}

/**
 * Checks a policy's text (docs/reference/policies.md 1.3).
 *
 * @returns its problems, by their offsets; empty if it may be saved
 */
export function checkPolicy(text: string): readonly PolicyProblem[] {
  try {
    return parsePolicy(text).problems ?? []
  } catch (thrown) {
    if (!(thrown instanceof PolicyError)) throw thrown
    return [{ message: 'The policy takes too long to parse. Write it shorter, or try again.', offset: 0 }]
  }
}

/**
 * Parses and checks.
 * @param parseMs the processor time that the parser may take, in milliseconds
 * @throws PolicyError `ErrPolicyTimeout`, which says nothing about the text
 */
export function parsePolicy(
  text: string,
  parseMs = parseMsMax,
): (ParsedPolicy & { readonly problems?: never }) | { readonly problems: readonly PolicyProblem[] } {
  const scan = prescan(text)
  if (scan.problem !== undefined) return { problems: [scan.problem] }
  let parsed: ParsedExpr
  try {
    parsed = watchedCpu(() => parse(scan.source.trimEnd()), parseMs)
  } catch (thrown) {
    if (thrown instanceof WatchdogTimeout)
      throw new PolicyError('ErrPolicyTimeout', 'the policy takes too long to parse', { cause: thrown })
    return { problems: [parseProblem(thrown)] }
  }
  const root = parsed.expr
  if (root === undefined) return { problems: [{ message: 'The policy is empty.', offset: 0 }] }
  const nodeCount = countNodes(root)
  if (nodeCount === undefined)
    return {
      problems: [
        {
          message: `The policy is too complex: at most ${limits.policyNodesMax} nodes, nested ${limits.policyDepthMax} deep.`,
          offset: 0,
        },
      ],
    }
  const { type, problems } = inferType(root, parsed.sourceInfo)
  if (problems.length > 0) return { problems: problems.toSorted((a, b) => a.offset - b.offset) }
  if (type !== 'bool' && type !== 'dyn')
    return { problems: [{ message: `A policy must be a bool, this one is ${type}.`, offset: 0 }] }
  return { parsed, root, nodeCount }
}

function parseProblem(thrown: unknown): PolicyProblem {
  const offset = (thrown as { location?: { start?: { offset?: unknown } } } | null)?.location?.start?.offset
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return {
    message: `Not a CEL expression: ${message.slice(0, 300)}.`,
    offset: typeof offset === 'number' ? offset : 0,
  }
}

/** @returns undefined if the tree has more nodes or is deeper than the limits allow */
function countNodes(root: Expr): number | undefined {
  let count = 0
  const pending: { readonly expr: Expr; readonly depth: number }[] = [{ expr: root, depth: 1 }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (++count > limits.policyNodesMax || next.depth > limits.policyDepthMax) return undefined
    for (const expr of children(next.expr)) pending.push({ expr, depth: next.depth + 1 })
  }
  return count
}
