/** Operators between values. Empties count as 0 or as an empty text, and arithmetic of two empties is empty. */

import type { BinaryOperator } from '../../wire/mdx/ast.ts'
import { refuseMdx } from '../../wire/mdx/tokens.ts'
import type { Value } from './context.ts'
import { numberOf, textOfValue, truthOf } from './values.ts'

/** @throws Fault `bad_request` for an operator of sets */
export function operate(operator: BinaryOperator, left: Value, right: Value): Value {
  const isText = typeof left === 'string' || typeof right === 'string'
  switch (operator) {
    case '+':
      if (left === null && right === null) return null
      return typeof left === 'string' && typeof right === 'string'
        ? left + right
        : numberOf(left) + numberOf(right)
    case '-':
      return left === null && right === null ? null : numberOf(left) - numberOf(right)
    case '*':
      return left === null || right === null ? null : numberOf(left) * numberOf(right)
    case '/':
      return left === null ? null : numberOf(left) / numberOf(right)
    case '^':
      return left === null ? null : numberOf(left) ** numberOf(right)
    case 'XOR':
      return truthOf(left) !== truthOf(right)
    default:
      return compare(
        operator,
        isText ? compareTexts(textOfValue(left), textOfValue(right)) : numberOf(left) - numberOf(right),
      )
  }
}

function compareTexts(left: string, right: string): number {
  const [one, other] = [left.toLowerCase(), right.toLowerCase()]
  return one < other ? -1 : one > other ? 1 : 0
}

function compare(operator: BinaryOperator, order: number): boolean {
  switch (operator) {
    case '=':
      return order === 0
    case '<>':
      return order !== 0
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '>':
      return order > 0
    case '>=':
      return order >= 0
    default:
      return refuseMdx(`the operator ${operator} is not supported`)
  }
}
