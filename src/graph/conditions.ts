/** Takes conditions of graph queries apart. */

import type { Expression } from '../wire/cypher/ast.ts'

/** The conditions that must all hold. */
export function conjuncts(expression: Expression): readonly Expression[] {
  if (expression.kind !== 'binary' || expression.operator !== 'AND') return [expression]
  return [...conjuncts(expression.left), ...conjuncts(expression.right)]
}

/** The names that an expression uses. */
export function namesOf(expression: Expression): ReadonlySet<string> {
  switch (expression.kind) {
    case 'variable':
      return new Set([expression.name])
    case 'property':
      return new Set([expression.of])
    case 'list':
      return all(expression.items)
    case 'not':
    case 'isNull':
      return namesOf(expression.operand)
    case 'binary':
      return all([expression.left, expression.right])
    case 'call':
      return all(expression.arguments)
    case 'aggregate':
      return expression.argument === undefined ? new Set() : namesOf(expression.argument)
    default:
      return new Set()
  }
}

function all(expressions: readonly Expression[]): ReadonlySet<string> {
  return new Set(expressions.flatMap((one) => [...namesOf(one)]))
}

/** Whether an expression holds a function of a group of rows. */
export function hasAggregate(expression: Expression): boolean {
  switch (expression.kind) {
    case 'aggregate':
      return true
    case 'list':
      return expression.items.some(hasAggregate)
    case 'not':
    case 'isNull':
      return hasAggregate(expression.operand)
    case 'binary':
      return hasAggregate(expression.left) || hasAggregate(expression.right)
    case 'call':
      return expression.arguments.some(hasAggregate)
    default:
      return false
  }
}
