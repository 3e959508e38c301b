/**
 * Explains to the author of a policy what every part of it gives for one commit. It runs under a budget of its own: the
 * number of parts, the lengths of texts and values, ticks and time are bounded. It decides nothing.
 */

import { isCelError, isCelList, isCelMap } from '@bufbuild/cel'
import type { Expr, SourceInfo } from '@bufbuild/cel-spec/cel/expr/syntax_pb.js'
import type { JsonValue } from '../base/json.ts'
import { startMeter } from './budget.ts'
import type { CompiledPolicy, ProgramBindings } from './compile.ts'
import { dropRegexCache } from './environment.ts'
import { type PolicyBindings, programBindings } from './evaluate.ts'
import { clip, evaluate, format, isNamespace, source, withVariable } from './explain.ts'
import { children } from './tree.ts'
import { watched } from './watchdog.ts'

const partsMax = 200
const textLengthMax = 300
const ticksMax = 100_000

/** One part of a policy, with what it gives. */
export interface ExplainedPart {
  /** As written, shortened. */
  readonly text: string
  /** Where it begins, in UTF-16 code units. */
  readonly offset: number
  /** How many parts it is inside of. */
  readonly depth: number
  /** JSON-like, shortened; absent where it fails. */
  readonly value?: string
  /** Why it has no value. */
  readonly error?: string
  /** The element for which the body of a loop was evaluated, as `name = value`. */
  readonly where?: string
}

interface ExplainedTree {
  /** From the whole to its parts, in the order of the text. */
  readonly parts: readonly ExplainedPart[]
  /** Whether the budget ran out before all parts were evaluated. */
  readonly truncated: boolean
}

interface Walk {
  readonly sourceInfo: SourceInfo | undefined
  readonly parts: ExplainedPart[]
}

/**
 * Evaluates each part of a policy by itself. Both sides of `&&` and `||` are shown, whichever decided. Of a loop, its
 * body is shown for the element that decided it, else for the first. Never throws.
 * @param timeoutMs whole milliseconds, at least 1
 */
export function explainTree(
  compiled: CompiledPolicy,
  bindings: PolicyBindings,
  timeoutMs: number,
): ExplainedTree {
  const { expr, sourceInfo } = compiled.parsed
  const walk: Walk = { sourceInfo, parts: [] }
  if (expr === undefined) return { parts: [], truncated: false }
  try {
    startMeter(ticksMax)
    const isWhole = watched(() => visit(walk, expr, programBindings(bindings), 0, undefined), timeoutMs)
    return { parts: walk.parts, truncated: !isWhole }
  } catch {
    dropRegexCache()
    return { parts: walk.parts, truncated: true }
  }
}

/** @returns false where there are more parts than are shown */
function visit(
  walk: Walk,
  expr: Expr,
  bindings: ProgramBindings,
  depth: number,
  where: string | undefined,
): boolean {
  if (walk.parts.length >= partsMax) return false
  const value = evaluate(expr, bindings)
  walk.parts.push({
    text: clip(source(expr, walk.sourceInfo), textLengthMax),
    offset: walk.sourceInfo?.positions[String(expr.id)] ?? 0,
    depth,
    ...(isCelError(value) ? { error: clip(value.message, textLengthMax) } : { value: format(value) }),
    ...(where !== undefined && { where }),
  })
  if (expr.exprKind.case === 'comprehensionExpr') return visitLoop(walk, expr, bindings, depth)
  return shownChildren(expr).every((child) => visit(walk, child, bindings, depth + 1, undefined))
}

/** The parts that have a value of their own: no constants, and no first parts of functions' names. */
function shownChildren(expr: Expr): readonly Expr[] {
  const kind = expr.exprKind
  const target = kind.case === 'callExpr' ? kind.value.target : undefined
  const isFunctionName = target?.exprKind.case === 'identExpr' && isNamespace(target)
  // A path such as `a.b.c` is one value; its steps say no more.
  if (isPath(expr)) return []
  return children(expr).filter(
    (child) => child.exprKind.case !== 'constExpr' && !(isFunctionName && child === target),
  )
}

function isPath({ exprKind }: Expr): boolean {
  if (exprKind.case === 'identExpr') return true
  return (
    exprKind.case === 'selectExpr' && exprKind.value.operand !== undefined && isPath(exprKind.value.operand)
  )
}

function visitLoop(walk: Walk, expr: Expr, bindings: ProgramBindings, depth: number): boolean {
  if (expr.exprKind.case !== 'comprehensionExpr') return true
  const { iterRange, iterVar, loopStep } = expr.exprKind.value
  if (iterRange === undefined || loopStep === undefined) return true
  if (!visit(walk, iterRange, bindings, depth + 1, undefined)) return false
  const { bodies, decides } = bodiesOf(loopStep)
  const [body] = bodies
  const range = evaluate(iterRange, bindings)
  const elements = isCelMap(range) ? range.keys() : isCelList(range) ? range : []
  let chosen: { readonly element: JsonValue; readonly inner: ProgramBindings } | undefined
  for (const each of elements) {
    const element = each as JsonValue
    const inner = withVariable(bindings, iterVar, element)
    chosen ??= { element, inner }
    if (body === undefined || decides === undefined) break
    if (decides(evaluate(body, inner))) {
      chosen = { element, inner }
      break
    }
  }
  if (chosen === undefined) return true
  const { element, inner } = chosen
  const where = `${iterVar} = ${format(element)}`
  return bodies.every((one) => visit(walk, one, inner, depth + 1, where))
}

interface Bodies {
  readonly bodies: readonly Expr[]
  /** Whether a value of the first body ends the loop; absent where none does. */
  readonly decides?: (value: unknown) => boolean
}

/** What a macro evaluates for each element, from the step that it expands to. */
function bodiesOf(step: Expr): Bodies {
  if (step.exprKind.case !== 'callExpr') return { bodies: [] }
  const { function: name, args } = step.exprKind.value
  if (name === '_&&_') return { bodies: args.slice(1), decides: (value) => value !== true }
  if (name === '_||_') return { bodies: args.slice(1), decides: (value) => value === true }
  const appended = (one: Expr | undefined) =>
    one?.exprKind.case === 'callExpr' && one.exprKind.value.args[1]?.exprKind.case === 'listExpr'
      ? one.exprKind.value.args[1].exprKind.value.elements.filter(
          ({ exprKind }) => exprKind.case !== 'identExpr',
        )
      : []
  if (name === '_?_:_')
    return { bodies: [...args.slice(0, 1), ...appended(args[1])], decides: (value) => value === true }
  return { bodies: appended(step) }
}
