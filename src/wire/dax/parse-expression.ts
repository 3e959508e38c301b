/** Parses expressions of DAX, of scalars and of tables alike, by the precedence of their operators. */

import type { DaxExpression, DaxOperator, DaxVariable } from './ast.ts'
import type { DaxCursor } from './cursor.ts'

/** From the weakest to the strongest. */
const operators: readonly (readonly DaxOperator[])[] = [
  ['||'],
  ['&&'],
  ['=', '==', '<>', '<', '<=', '>', '>=', 'in'],
  ['&'],
  ['+', '-'],
  ['*', '/'],
  ['^'],
]
const comparison = 2

/** @throws Fault `bad_request` */
export function parseExpression(cursor: DaxCursor): DaxExpression {
  return cursor.nested(() => {
    if (!cursor.isWord('VAR')) return parseOperation(cursor, 0)
    const variables: DaxVariable[] = []
    while (cursor.words('VAR')) variables.push(parseVariable(cursor))
    cursor.expectWord('RETURN')
    return { kind: 'let', variables, body: parseExpression(cursor) }
  })
}

/** `name = expression`, behind VAR. */
export function parseVariable(cursor: DaxCursor): DaxVariable {
  cursor.noteVariable()
  const name = cursor.name()
  cursor.expectSymbol('=')
  return { name, value: parseExpression(cursor) }
}

function parseOperation(cursor: DaxCursor, strength: number): DaxExpression {
  const level = operators[strength]
  if (level === undefined) return parseUnary(cursor)
  if (strength === comparison && cursor.isWord('NOT')) return parseNot(cursor)
  let left = parseOperation(cursor, strength + 1)
  for (;;) {
    const operator = level.find((each) => isNext(cursor, each))
    if (operator === undefined) return left
    cursor.next()
    cursor.noteOperator()
    const right = parseOperation(cursor, strength + 1)
    left = { kind: 'operation', operator, left, right }
  }
}

function isNext(cursor: DaxCursor, operator: DaxOperator): boolean {
  if (operator === 'in') return cursor.isWord('IN')
  const { kind, text } = cursor.peek()
  return kind === 'symbol' && text === operator
}

/** `NOT a = b` and `NOT(a)`: the operand reaches to the next logical operator. */
function parseNot(cursor: DaxCursor): DaxExpression {
  cursor.next()
  cursor.noteOperator()
  return cursor.nested(() => ({ kind: 'not', of: parseOperation(cursor, comparison) }))
}

function parseUnary(cursor: DaxCursor): DaxExpression {
  if (cursor.isWord('NOT')) return parseNot(cursor)
  const isNegative = cursor.symbol('-')
  if (!isNegative && !cursor.symbol('+')) return parsePrimary(cursor)
  cursor.noteOperator()
  const of = cursor.nested(() => parseUnary(cursor))
  if (!isNegative) return of
  return of.kind === 'number' ? { kind: 'number', value: -of.value } : { kind: 'negate', of }
}

function parsePrimary(cursor: DaxCursor): DaxExpression {
  const { kind, text } = cursor.peek()
  switch (kind) {
    case 'text':
      cursor.next()
      return { kind: 'text', value: text }
    case 'number':
      cursor.next()
      return { kind: 'number', value: Number(text) }
    case 'parameter':
      cursor.next()
      return { kind: 'parameter', name: text }
    case 'bracketed':
      cursor.next()
      return { kind: 'column', table: undefined, name: text }
    case 'word':
    case 'quoted':
      cursor.next()
      return parseNamed(cursor, text, kind === 'quoted')
    case 'symbol':
      if (cursor.symbol('(')) return parseBrackets(cursor)
      if (cursor.symbol('{')) return parseRows(cursor)
      return cursor.fail('an expression is expected')
    case 'end':
      return cursor.fail('the query ends too early')
  }
}

function parseNamed(cursor: DaxCursor, name: string, isQuoted: boolean): DaxExpression {
  const { kind, text } = cursor.peek()
  if (kind === 'bracketed') {
    cursor.next()
    return { kind: 'column', table: name, name: text }
  }
  if (isQuoted || !cursor.symbol('(')) return { kind: 'name', name, isQuoted }
  const items: (DaxExpression | undefined)[] = []
  if (cursor.symbol(')')) return { kind: 'call', name: name.toUpperCase(), items }
  do {
    const { kind: following, text: symbol } = cursor.peek()
    const isLeftOut = following === 'symbol' && (symbol === ',' || symbol === ')')
    items.push(isLeftOut ? undefined : parseExpression(cursor))
  } while (cursor.symbol(','))
  cursor.expectSymbol(')')
  return { kind: 'call', name: name.toUpperCase(), items }
}

function parseBrackets(cursor: DaxCursor): DaxExpression {
  const items = [parseExpression(cursor)]
  while (cursor.symbol(',')) items.push(parseExpression(cursor))
  cursor.expectSymbol(')')
  const [first] = items
  return first !== undefined && items.length === 1 ? first : { kind: 'tuple', items }
}

/** A text or a number with nothing behind it but a comma or the end; undefined for another expression. */
function parseListed(cursor: DaxCursor): DaxExpression | undefined {
  const { kind, text } = cursor.peek()
  const following = cursor.peek(1)
  if (following.kind !== 'symbol' || (following.text !== ',' && following.text !== '}')) return undefined
  if (kind !== 'text' && kind !== 'number') return undefined
  cursor.next()
  return kind === 'text' ? { kind, value: text } : { kind, value: Number(text) }
}

function parseRows(cursor: DaxCursor): DaxExpression {
  const rows: (readonly DaxExpression[])[] = []
  if (cursor.symbol('}')) return { kind: 'rows', rows }
  do {
    // A list may have thousands of values, so one that stands alone is read without a look at every operator.
    const item = parseListed(cursor) ?? parseExpression(cursor)
    rows.push(item.kind === 'tuple' ? item.items : [item])
  } while (cursor.symbol(','))
  cursor.expectSymbol('}')
  return { kind: 'rows', rows }
}
