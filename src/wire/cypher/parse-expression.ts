/** Parses expressions of graph queries. What is not in the subset is refused by name. */

import {
  type AggregateName,
  aggregateNames,
  type BinaryOperator,
  comparisons,
  type Expression,
  type FunctionName,
  functionNames,
} from './ast.ts'
import type { CypherCursor } from './cursor.ts'
import { refusedExpression } from './refused-words.ts'

const functions: ReadonlySet<string> = new Set(functionNames)
const aggregates: ReadonlySet<string> = new Set(aggregateNames)

/** Items of a list, and arguments of a call. */
const itemsMax = 100

/** Words that no variable or alias has. */
const reserved = new Set(
  `AND AS ASC ASCENDING BY CALL CONTAINS DESC DESCENDING DISTINCT ENDS FALSE IN IS LIMIT MATCH NOT NULL OPTIONAL OR
   ORDER RETURN SKIP STARTS TRUE UNWIND WHERE WITH XOR YIELD`.split(/\s+/),
)

/** A name for a node, an edge, a path or a result. @throws Fault `bad_request` for a keyword */
export function parseVariable(cursor: CypherCursor): string {
  const { text } = cursor.peek()
  if (reserved.has(text.toUpperCase())) cursor.fail('a keyword cannot be a name')
  if (text.length > 63) cursor.fail('a name has at most 63 characters')
  return cursor.name('a name')
}

/** @throws Fault `bad_request` for anything that is not an expression of the subset */
export function parseExpression(cursor: CypherCursor): Expression {
  return cursor.nested(() => parseOr(cursor))
}

const parseOr = (cursor: CypherCursor) => chain(cursor, ['OR'], parseXor)
const parseXor = (cursor: CypherCursor) => chain(cursor, ['XOR'], parseAnd)
const parseAnd = (cursor: CypherCursor) => chain(cursor, ['AND'], parseNot)

function chain(
  cursor: CypherCursor,
  operators: readonly ('AND' | 'OR' | 'XOR')[],
  operand: (cursor: CypherCursor) => Expression,
): Expression {
  let left = operand(cursor)
  for (;;) {
    const operator = operators.find((word) => cursor.words(word))
    if (operator === undefined) return left
    left = { kind: 'binary', operator, left, right: operand(cursor) }
  }
}

function parseNot(cursor: CypherCursor): Expression {
  if (!cursor.words('NOT')) return parseComparison(cursor)
  return { kind: 'not', operand: cursor.nested(() => parseNot(cursor)) }
}

function parseComparison(cursor: CypherCursor): Expression {
  const left = parseAtom(cursor)
  if (cursor.isSymbol('-') || cursor.isSymbol('*')) cursor.fail('arithmetic is not allowed')
  const operator = comparisonOperator(cursor)
  if (operator !== undefined) {
    const compared: Expression = { kind: 'binary', operator, left, right: parseAtom(cursor) }
    if (comparisonOperator(cursor) !== undefined)
      cursor.fail('comparisons are not chained: write a < b AND b < c')
    return compared
  }
  if (!cursor.words('IS')) return left
  const negated = cursor.words('NOT')
  if (!cursor.isWord('NULL')) cursor.fail('after IS comes NULL or NOT NULL')
  cursor.next()
  return { kind: 'isNull', operand: left, negated }
}

function comparisonOperator(cursor: CypherCursor): BinaryOperator | undefined {
  if (cursor.words('STARTS', 'WITH')) return 'STARTS WITH'
  if (cursor.words('ENDS', 'WITH')) return 'ENDS WITH'
  if (cursor.words('CONTAINS')) return 'CONTAINS'
  if (cursor.words('IN')) return 'IN'
  return comparisons.find((symbol) => cursor.symbol(symbol))
}

function parseAtom(cursor: CypherCursor): Expression {
  const { kind, text } = cursor.peek()
  switch (kind) {
    case 'number':
      cursor.next()
      return { kind: 'literal', value: numberOf(cursor, text) }
    case 'string':
      cursor.next()
      return { kind: 'literal', value: text }
    case 'parameter':
      cursor.next()
      if (cursor.isSymbol('.') || cursor.isSymbol('['))
        cursor.fail('a parameter is a value or a list of values')
      return { kind: 'parameter', name: text }
    case 'symbol':
      return parseSymbol(cursor, text)
    case 'name':
      return parseName(cursor)
    default:
      return cursor.fail('an expression is expected')
  }
}

/** @throws Fault `bad_request` beyond 2^53, because such a number would be rounded */
function numberOf(cursor: CypherCursor, text: string): number {
  const value = Number(text)
  if (!Number.isFinite(value) || value > Number.MAX_SAFE_INTEGER)
    cursor.fail('a number is too large: compare ids as texts')
  return value
}

function parseSymbol(cursor: CypherCursor, symbol: string): Expression {
  if (symbol === '(') {
    cursor.next()
    const inner = parseExpression(cursor)
    if (cursor.isSymbol(':')) cursor.fail('a pattern stands in MATCH only')
    cursor.expectSymbol(')')
    if (isPatternAhead(cursor)) cursor.fail('a pattern stands in MATCH only')
    return inner
  }
  if (symbol === '[') {
    cursor.next()
    return { kind: 'list', items: cursor.nested(() => parseItems(cursor, ']')) }
  }
  if (symbol === '-') {
    cursor.next()
    const { kind, text } = cursor.peek()
    if (kind !== 'number') cursor.fail('arithmetic is not allowed')
    cursor.next()
    return { kind: 'literal', value: -numberOf(cursor, text) }
  }
  if (symbol === '{') cursor.fail('maps are allowed in patterns only')
  if (symbol === '*') cursor.fail('`*` is allowed in count(*) only')
  return cursor.fail('an expression is expected')
}

function isPatternAhead(cursor: CypherCursor): boolean {
  return (
    (cursor.isSymbol('-') || cursor.isSymbol('<')) && (cursor.isSymbol('[', 1) || cursor.isSymbol('-', 1))
  )
}

function parseItems(cursor: CypherCursor, end: ')' | ']'): readonly Expression[] {
  const items: Expression[] = []
  if (cursor.symbol(end)) return items
  do {
    items.push(parseExpression(cursor))
    if (items.length > itemsMax) cursor.fail(`a list has at most ${itemsMax} items`)
  } while (cursor.symbol(','))
  if (cursor.isSymbol('..')) cursor.fail('slices of lists are not allowed')
  cursor.expectSymbol(end)
  return items
}

function parseName(cursor: CypherCursor): Expression {
  const { text } = cursor.peek()
  const word = text.toUpperCase()
  const isCall = cursor.isSymbol('(', 1)
  const isBlock = cursor.isSymbol('{', 1)
  const refused = refusedExpression(text)
  if (refused !== undefined && (isCall || isBlock || word === 'CASE'))
    cursor.fail(`${refused} is not allowed`)
  if (isBlock && (word === 'COUNT' || word === 'COLLECT')) cursor.fail(`${word} { } is not allowed`)
  if (isCall || (cursor.isSymbol('.', 1) && cursor.isSymbol('(', 3))) return parseCall(cursor)
  if (word === 'TRUE' || word === 'FALSE') {
    cursor.next()
    return { kind: 'literal', value: word === 'TRUE' }
  }
  if (word === 'NULL') {
    cursor.next()
    return { kind: 'null' }
  }
  return parseReference(cursor)
}

function parseReference(cursor: CypherCursor): Expression {
  const name = parseVariable(cursor)
  if (cursor.symbol('.')) {
    const property = cursor.name('the name of a property')
    if (cursor.isSymbol('.') || cursor.isSymbol('[')) cursor.fail('a property holds one value')
    return { kind: 'property', of: name, name: property }
  }
  if (cursor.isSymbol('[')) cursor.fail('`[ ]` after a name is not allowed')
  if (cursor.isSymbol('{')) cursor.fail('maps are allowed in patterns only')
  return { kind: 'variable', name }
}

function parseCall(cursor: CypherCursor): Expression {
  const name = cursor.peek().text.toLowerCase()
  const known = functions.has(name) || aggregates.has(name)
  if (!known || !cursor.isSymbol('(', 1))
    cursor.fail(`there is no such function; there are ${[...aggregateNames, ...functionNames].join(', ')}`)
  cursor.next()
  cursor.next()
  if (functions.has(name))
    return {
      kind: 'call',
      name: name as FunctionName,
      arguments: cursor.nested(() => parseItems(cursor, ')')),
    }
  return parseAggregate(cursor, name as AggregateName)
}

function parseAggregate(cursor: CypherCursor, name: AggregateName): Expression {
  if (name === 'count' && cursor.symbol('*')) {
    cursor.expectSymbol(')')
    return { kind: 'aggregate', name, distinct: false }
  }
  const distinct = cursor.words('DISTINCT')
  const argument = parseExpression(cursor)
  cursor.expectSymbol(')')
  return { kind: 'aggregate', name, distinct, argument }
}
