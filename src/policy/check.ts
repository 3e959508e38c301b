/**
 * Checks a policy's text when it is saved and before every compilation: size, shape, names, functions, arity and result
 * type. A policy that passes may still fail at evaluation, which then refuses the commit.
 */

import { parse } from '@bufbuild/cel'
import type { Expr, ParsedExpr, SourceInfo } from '@bufbuild/cel-spec/cel/expr/syntax_pb.js'
import { limits } from '../limits.ts'
import { asksManifest } from './manifest-facts.ts'
import { PolicyError, type PolicyProblem } from './policy-error.ts'
import { prescan } from './prescan.ts'
import { type PolicyReads, readsOf } from './reads.ts'
import { saveHints } from './save-hints.ts'
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
  /** Whether it calls a function that answers with manifest facts. */
  readonly asksManifest: boolean
}

/** A text with problems, and its tree if it has one. */
interface UnfitPolicy {
  readonly problems: readonly PolicyProblem[]
  readonly root?: Expr
  readonly sourceInfo?: SourceInfo | undefined
}

/**
 * Checks a policy's text as its compilation does (docs/reference/policies.md 1.3).
 *
 * @returns its problems, by their offsets; empty if it compiles
 */
export function checkPolicy(text: string): readonly PolicyProblem[] {
  return check(text, false)
}

/**
 * Checks a policy's text that is to be saved: as {@link checkPolicy}, and for mistakes with which it would compile.
 *
 * @returns its problems, by their offsets; empty if it may be saved
 */
export function checkPolicyToSave(text: string): readonly PolicyProblem[] {
  return check(text, true)
}

/** What a text reads of a table; undefined if it does not compile. */
export function readsOfText(text: string): PolicyReads | undefined {
  try {
    const policy = parsePolicy(text)
    return policy.problems === undefined ? readsOf(policy.root) : undefined
  } catch (thrown) {
    if (!(thrown instanceof PolicyError)) throw thrown
    return undefined
  }
}

function check(text: string, toSave: boolean): readonly PolicyProblem[] {
  try {
    const policy = parsePolicy(text)
    const problems = policy.problems ?? []
    if (policy.root === undefined || (problems.length === 0 && !toSave)) return problems
    const hints = saveHints(policy.root, policy.problems ? policy.sourceInfo : policy.parsed.sourceInfo)
    const found = problems.map(({ message, offset }) => ({
      message: hints.wordings.get(offset) ?? message,
      offset,
    }))
    return toSave ? [...found, ...hints.problems].toSorted((a, b) => a.offset - b.offset) : found
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
): (ParsedPolicy & { readonly problems?: never }) | UnfitPolicy {
  const scan = prescan(text)
  if (scan.problem !== undefined) return { problems: [scan.problem] }
  let parsed: ParsedExpr
  try {
    parsed = watchedCpu(() => parse(scan.source.trimEnd()), parseMs)
  } catch (thrown) {
    if (thrown instanceof WatchdogTimeout)
      throw new PolicyError('ErrPolicyTimeout', 'the policy takes too long to parse', { cause: thrown })
    return { problems: [parseProblem(thrown, scan.source)] }
  }
  const root = parsed.expr
  if (root === undefined) return { problems: [{ message: 'The policy is empty.', offset: 0 }] }
  const counted = countNodes(root)
  if (counted === undefined)
    return {
      problems: [
        {
          message: `The policy is too complex: at most ${limits.policyNodesMax} nodes, nested ${limits.policyDepthMax} deep.`,
          offset: 0,
        },
      ],
    }
  const { type, problems } = inferType(root, parsed.sourceInfo)
  if (problems.length > 0)
    return { problems: problems.toSorted((a, b) => a.offset - b.offset), root, sourceInfo: parsed.sourceInfo }
  if (type !== 'bool' && type !== 'dyn')
    return { problems: [{ message: `A policy must be a bool, this one is ${type}.`, offset: 0 }] }
  return { parsed, root, ...counted }
}

function parseProblem(thrown: unknown, source: string): PolicyProblem {
  const offset = (thrown as { location?: { start?: { offset?: unknown } } } | null)?.location?.start?.offset
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  const at = typeof offset === 'number' ? offset : 0
  const word =
    /\b(not|and|or)\s*$/.exec(source.slice(0, at))?.[1] ?? /^\s*(and|or)\b/.exec(source.slice(at))?.[1]
  const hint = word === undefined ? '' : ` CEL writes ${celOperators[word]} for ${word}.`
  return { message: `Not a CEL expression: ${message.slice(0, 300)}.${hint}`, offset: at }
}

const celOperators: Readonly<Record<string, string>> = { not: '!x', and: '&&', or: '||' }

/** @returns undefined if the tree has more nodes or is deeper than the limits allow */
function countNodes(root: Expr): Pick<ParsedPolicy, 'nodeCount' | 'asksManifest'> | undefined {
  let nodeCount = 0
  let asks = false
  const pending: { readonly expr: Expr; readonly depth: number }[] = [{ expr: root, depth: 1 }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (++nodeCount > limits.policyNodesMax || next.depth > limits.policyDepthMax) return undefined
    asks ||= asksManifest(next.expr)
    for (const expr of children(next.expr)) pending.push({ expr, depth: next.depth + 1 })
  }
  return { nodeCount, asksManifest: asks }
}
