/**
 * Explains to stewards why a policy was not true: the sub-expression that failed, and its values. It runs after the
 * verdict, under its own budget. A failure here affects only the explanation.
 */

import { isCelError, isCelList, isCelMap, isCelUint, unparse } from '@bufbuild/cel'
import type { Expr, SourceInfo } from '@bufbuild/cel-spec/cel/expr/syntax_pb.js'
import type { JsonValue } from '../base/json.ts'
import { meterExhausted, startMeter } from './budget.ts'
import { type CompiledPolicy, type ProgramBindings, planExpression } from './compile.ts'
import { dropRegexCache } from './environment.ts'
import { type PolicyBindings, programBindings } from './evaluate.ts'
import { children } from './tree.ts'
import { watched } from './watchdog.ts'

const explanationLengthMax = 2_048
const valueLengthMax = 200
const expressionLengthMax = 600
const valuesCountMax = 8
const explanationTicksMax = 20_000

interface Failure {
  readonly expr: Expr
  readonly value: unknown
  /** The bindings and the loop variables in force there. */
  readonly bindings: ProgramBindings
}

/**
 * Explains a policy that was not true. Never throws. The text may hold data of the table, so it is not for the writer.
 * @param timeoutMs whole milliseconds, at least 1
 * @returns the failing sub-expression and its values, at most 2 KiB; undefined if the budget ran out first
 */
export function explainPolicy(
  compiled: CompiledPolicy,
  bindings: PolicyBindings,
  timeoutMs: number,
): string | undefined {
  const { expr, sourceInfo } = compiled.parsed
  if (expr === undefined) return undefined
  try {
    startMeter(explanationTicksMax)
    const text = watched(() => describe(findFailure(expr, programBindings(bindings)), sourceInfo), timeoutMs)
    return clip(text, explanationLengthMax)
  } catch {
    dropRegexCache()
    return undefined
  }
}

/** Descends from an expression that is not true to the smallest sub-expression that caused it. */
function findFailure(root: Expr, bindings: ProgramBindings): Failure {
  let failure: Failure = { expr: root, value: evaluate(root, bindings), bindings }
  for (let next = narrow(failure); next !== undefined; next = narrow(failure)) failure = next
  return failure
}

function narrow({ expr, value, bindings }: Failure): Failure | undefined {
  const kind = expr.exprKind
  if (kind.case === 'comprehensionExpr') return narrowLoop(expr, bindings)
  if (kind.case !== 'callExpr') return undefined
  const { function: name, args } = kind.value
  if (name === '_&&_' || (name === '_||_' && value !== false)) {
    const same = args.map((arg) => ({ expr: arg, value: evaluate(arg, bindings), bindings }))
    return same.find((part) => (isCelError(value) ? isCelError(part.value) : part.value === value))
  }
  if (name === '_?_:_') {
    const [test, whenTrue, whenFalse] = args
    if (test === undefined) return undefined
    const decided = evaluate(test, bindings)
    if (typeof decided !== 'boolean') return { expr: test, value: decided, bindings }
    const taken = decided ? whenTrue : whenFalse
    return taken === undefined ? undefined : { expr: taken, value: evaluate(taken, bindings), bindings }
  }
  return undefined
}

/** For `all`, the first element that is not true. Other loops are not narrowed. */
function narrowLoop(expr: Expr, bindings: ProgramBindings): Failure | undefined {
  if (expr.exprKind.case !== 'comprehensionExpr') return undefined
  const { iterRange, iterVar, accuInit, loopStep } = expr.exprKind.value
  const startsTrue =
    accuInit?.exprKind.case === 'constExpr' && accuInit.exprKind.value.constantKind.value === true
  const condition = loopStep?.exprKind.case === 'callExpr' ? loopStep.exprKind.value.args[1] : undefined
  if (!startsTrue || condition === undefined || iterRange === undefined) return undefined
  const range = evaluate(iterRange, bindings)
  const elements = isCelMap(range) ? range.keys() : isCelList(range) ? range : []
  for (const element of elements) {
    const inner = withVariable(bindings, iterVar, element as JsonValue)
    const value = evaluate(condition, inner)
    if (value !== true) return { expr: condition, value, bindings: inner }
  }
  return undefined
}

/** The bindings with one more variable, as inside a loop. */
export function withVariable(bindings: ProgramBindings, name: string, value: JsonValue): ProgramBindings {
  return Object.assign(Object.create(null) as object, bindings, { [name]: value }) as ProgramBindings
}

/** The value of a part of a policy, on the meter that runs. Throws once the meter is exhausted. */
export function evaluate(expr: Expr, bindings: ProgramBindings): unknown {
  const value = planExpression(expr)(bindings)
  if (meterExhausted()) throw new Error('the explanation has used up its budget')
  return value
}

function describe({ expr, value, bindings }: Failure, sourceInfo: SourceInfo | undefined): string {
  const said = isCelError(value) ? `fails: ${value.message}` : `is ${format(value)}`
  const lines = [`${clip(source(expr, sourceInfo), expressionLengthMax)} ${said}`]
  const seen = new Set<string>()
  for (const path of paths(expr)) {
    const text = source(path, sourceInfo)
    if (seen.has(text) || seen.size >= valuesCountMax) continue
    seen.add(text)
    const held = evaluate(path, bindings)
    lines.push(
      `${clip(text, valueLengthMax)} ${isCelError(held) ? `fails: ${held.message}` : `= ${format(held)}`}`,
    )
  }
  return lines.join('\n')
}

/** The text of a part of a policy, with its macros as they were written. */
export function source(expr: Expr, sourceInfo: SourceInfo | undefined): string {
  if (sourceInfo === undefined) return unparse(expr)
  return unparse({ $typeName: 'cel.expr.ParsedExpr', expr, sourceInfo })
}

/** The longest chains of names, fields and indexes outside nested loops. */
function paths(expr: Expr): Expr[] {
  if (isPath(expr)) return expr.exprKind.case === 'identExpr' || !isTest(expr) ? [expr] : operands(expr)
  if (expr.exprKind.case === 'comprehensionExpr')
    return expr.exprKind.value.iterRange ? paths(expr.exprKind.value.iterRange) : []
  return operands(expr)
}

function operands(expr: Expr): Expr[] {
  const kind = expr.exprKind
  // The target of `principal.role(…)` is part of a function's name, not a value.
  if (
    kind.case === 'callExpr' &&
    kind.value.target?.exprKind.case === 'identExpr' &&
    isNamespace(kind.value.target)
  )
    return kind.value.args.flatMap(paths)
  return children(expr).flatMap(paths)
}

/** Whether a name is the first part of a function's name, and so no value. */
export function isNamespace(target: Expr): boolean {
  const name = target.exprKind.case === 'identExpr' ? target.exprKind.value.name : ''
  return name === 'manifest' || name === 'principal' || name === 'transform'
}

function isTest(expr: Expr): boolean {
  return expr.exprKind.case === 'selectExpr' && expr.exprKind.value.testOnly
}

function isPath(expr: Expr): boolean {
  const kind = expr.exprKind
  if (kind.case === 'identExpr') return true
  if (kind.case === 'selectExpr') return kind.value.operand !== undefined && isPath(kind.value.operand)
  if (kind.case !== 'callExpr' || kind.value.function !== '_[_]') return false
  const [operand] = kind.value.args
  return operand !== undefined && isPath(operand)
}

/** A value as JSON-like text of bounded length. */
export function format(value: unknown): string {
  const parts: string[] = []
  write(value, parts, { left: valueLengthMax })
  return clip(parts.join(''), valueLengthMax)
}

/** Writes JSON-like text until `room` is used up. */
function write(value: unknown, parts: string[], room: { left: number }): void {
  const push = (text: string) => {
    parts.push(text)
    room.left -= text.length
  }
  if (room.left <= 0) return
  if (isCelMap(value)) {
    push('{')
    for (const [key, element] of value) {
      if (room.left <= 0) break
      push(parts.at(-1) === '{' ? `${String(key)}: ` : `, ${String(key)}: `)
      write(element, parts, room)
    }
    push('}')
  } else if (isCelList(value)) {
    push('[')
    for (const element of value) {
      if (room.left <= 0) break
      if (parts.at(-1) !== '[') push(', ')
      write(element, parts, room)
    }
    push(']')
  } else if (typeof value === 'string') push(JSON.stringify(value.slice(0, valueLengthMax)))
  else if (isCelUint(value)) push(`${value.value}u`)
  else if (value instanceof Uint8Array) push(`${value.length} bytes`)
  else if (typeof value === 'object' && value !== null) push('a value')
  else push(String(value))
}

/** At most so many characters. */
export function clip(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax - 1)}…`
}
