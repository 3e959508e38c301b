/** Lists the children of a node in CEL's syntax tree. */

import type { Expr } from '@bufbuild/cel-spec/cel/expr/syntax_pb.js'

/** Every direct child of a node, with macros expanded. */
export function children(expr: Expr): readonly Expr[] {
  const kind = expr.exprKind
  switch (kind.case) {
    case 'selectExpr':
      return present(kind.value.operand)
    case 'callExpr':
      return present(kind.value.target, ...kind.value.args)
    case 'listExpr':
      return kind.value.elements
    case 'structExpr':
      return kind.value.entries.flatMap(({ keyKind, value }) =>
        keyKind.case === 'mapKey' ? present(keyKind.value, value) : present(value),
      )
    case 'comprehensionExpr': {
      const { iterRange, accuInit, loopCondition, loopStep, result } = kind.value
      return present(iterRange, accuInit, loopCondition, loopStep, result)
    }
    default:
      return []
  }
}

function present(...exprs: readonly (Expr | undefined)[]): Expr[] {
  return exprs.filter((expr) => expr !== undefined)
}
