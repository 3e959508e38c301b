/**
 * Rewrites a checked policy so that it is bounded and follows CEL. Every comprehension step and range charges the
 * meter, `has()` looks for the key and not for its value, and `map` and `filter` append in place.
 */

import type { Expr } from '@bufbuild/cel-spec/cel/expr/syntax_pb.js'
import { internalFunctions } from './environment.ts'
import { children } from './tree.ts'

type ExprKind = Expr['exprKind']
type Comprehension = Extract<ExprKind, { case: 'comprehensionExpr' }>['value']

/** Evaluating this many nodes of a comprehension's body costs about one tick. */
const nodesPerTick = 8
const accumulator = '@result'

/** Returns a new tree and leaves `expr` unchanged. The depth of `expr` must be bounded. */
export function instrument(expr: Expr): Expr {
  const kind = expr.exprKind
  switch (kind.case) {
    case 'selectExpr': {
      const operand = instrument(required(kind.value.operand))
      if (kind.value.testOnly)
        return call(expr, internalFunctions.has, [operand, text(expr, kind.value.field)])
      return withKind(expr, { case: 'selectExpr', value: { ...kind.value, operand } })
    }
    case 'callExpr': {
      const { target, ...rest } = kind.value
      const args = rest.args.map(instrument)
      const value = target === undefined ? { ...rest, args } : { ...rest, args, target: instrument(target) }
      return withKind(expr, { case: 'callExpr', value })
    }
    case 'listExpr':
      return withKind(expr, {
        case: 'listExpr',
        value: { ...kind.value, elements: kind.value.elements.map(instrument) },
      })
    case 'structExpr': {
      const entries = kind.value.entries.map((entry) => ({
        ...entry,
        keyKind:
          entry.keyKind.case === 'mapKey'
            ? { case: 'mapKey' as const, value: instrument(entry.keyKind.value) }
            : entry.keyKind,
        value: instrument(required(entry.value)),
      }))
      return withKind(expr, { case: 'structExpr', value: { ...kind.value, entries } })
    }
    case 'comprehensionExpr':
      return withKind(expr, { case: 'comprehensionExpr', value: instrumentComprehension(expr, kind.value) })
    default:
      return expr
  }
}

function instrumentComprehension(expr: Expr, fold: Comprehension): Comprehension {
  const accuInit = required(fold.accuInit)
  const loopStep = required(fold.loopStep)
  const buildsList = accuInit.exprKind.case === 'listExpr'
  const ticks = Math.max(1, Math.ceil(countNodes(loopStep) / nodesPerTick))
  return {
    ...fold,
    iterRange: call(expr, internalFunctions.range, [instrument(required(fold.iterRange))]),
    accuInit: buildsList ? call(accuInit, internalFunctions.newList, []) : accuInit,
    loopCondition: call(expr, internalFunctions.tick, [required(fold.loopCondition), double(expr, ticks)]),
    loopStep: buildsList ? appendInPlace(loopStep) : instrument(loopStep),
  }
}

/** `@result + [x]` becomes `@append(@result, x)`; `test ? @result + [x] : @result` likewise. */
function appendInPlace(step: Expr): Expr {
  if (step.exprKind.case !== 'callExpr') throw new Error('unexpected list macro')
  const { function: name, args } = step.exprKind.value
  if (name === '_?_:_') {
    const [test, grown, same] = args
    return call(step, name, [instrument(required(test)), appendInPlace(required(grown)), required(same)])
  }
  const [list, added] = args
  const isAccumulator = list?.exprKind.case === 'identExpr' && list.exprKind.value.name === accumulator
  const elements = added?.exprKind.case === 'listExpr' ? added.exprKind.value.elements : []
  if (name !== '_+_' || !isAccumulator || elements.length !== 1) throw new Error('unexpected list macro')
  return call(step, internalFunctions.append, [list, instrument(required(elements[0]))])
}

/** Counts the nodes evaluated in one step, without nested comprehensions, whose bodies charge for themselves. */
function countNodes(expr: Expr): number {
  const nested =
    expr.exprKind.case === 'comprehensionExpr' ? [required(expr.exprKind.value.iterRange)] : undefined
  return (nested ?? children(expr)).reduce((sum, child) => sum + countNodes(child), 1)
}

function required(expr: Expr | undefined): Expr {
  if (expr === undefined) throw new Error('incomplete expression')
  return expr
}

function withKind(expr: Expr, exprKind: ExprKind): Expr {
  return { ...expr, exprKind }
}

function call(at: Expr, name: string, args: Expr[]): Expr {
  return withKind(at, { case: 'callExpr', value: { $typeName: 'cel.expr.Expr.Call', function: name, args } })
}

function text(at: Expr, value: string): Expr {
  return withKind(at, {
    case: 'constExpr',
    value: { $typeName: 'cel.expr.Constant', constantKind: { case: 'stringValue', value } },
  })
}

function double(at: Expr, value: number): Expr {
  return withKind(at, {
    case: 'constExpr',
    value: { $typeName: 'cel.expr.Constant', constantKind: { case: 'doubleValue', value } },
  })
}
