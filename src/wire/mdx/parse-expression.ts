/** Parses expressions of MDX. A function, property or operator that is not read is refused by its name. */

import type { BinaryOperator, MdxExpression, NamePart } from './ast.ts'
import { MdxCursor } from './cursor.ts'
import { mdxBounds, tokenizeMdx } from './tokens.ts'
import { isOneOf, mdxFunctions, mdxKeywords, mdxMethods, mdxProperties } from './words.ts'

const isFunction = isOneOf(mdxFunctions)
const isProperty = isOneOf(mdxProperties)
const isMethod = isOneOf(mdxMethods)

/** @throws Fault `bad_request` */
export function parseMdxExpression(cursor: MdxCursor): MdxExpression {
  return cursor.nested(() => {
    const left = parseOr(cursor)
    if (!cursor.symbol(':')) return named(cursor, left)
    return named(cursor, { kind: 'binary', operator: ':', left, right: parseOr(cursor) })
  })
}

/** One expression, such as the text of StrToSet. @throws Fault `bad_request` */
export function parseMdxText(text: string): MdxExpression {
  const cursor = new MdxCursor(tokenizeMdx(text))
  const expression = parseMdxExpression(cursor)
  if (cursor.peek().kind !== 'end') cursor.fail('the end of the expression is expected')
  return expression
}

/** A set that is given a name where it stands, as Excel's filters do. */
function named(cursor: MdxCursor, of: MdxExpression): MdxExpression {
  if (!cursor.words('AS')) return of
  const part = parsePart(cursor)
  if (part.kind !== 'name') return cursor.fail('the name of a set is expected')
  return { kind: 'alias', of, name: part.name }
}

type Parse = (cursor: MdxCursor) => MdxExpression

const chain =
  (operators: readonly BinaryOperator[], operand: Parse): Parse =>
  (cursor) => {
    let left = operand(cursor)
    for (;;) {
      const operator = operators.find((each) =>
        /^[A-Z]/.test(each) ? cursor.words(each) : cursor.symbol(each),
      )
      if (operator === undefined) return left
      cursor.noteOperator()
      left = { kind: 'binary', operator, left, right: operand(cursor) }
    }
  }

const parsePower = chain(['^'], parseUnary)
const parseProduct = chain(['*', '/'], parsePower)
const parseSum = chain(['+', '-'], parseProduct)
const parseComparison = chain(['=', '<>', '<=', '>=', '<', '>', 'IS'], parseSum)
const parseAnd = chain(['AND'], parseNot)
const parseOr = chain(['OR', 'XOR'], parseAnd)

function parseNot(cursor: MdxCursor): MdxExpression {
  if (!cursor.words('NOT')) return parseComparison(cursor)
  return { kind: 'not', operand: cursor.nested(() => parseNot(cursor)) }
}

function parseUnary(cursor: MdxCursor): MdxExpression {
  if (cursor.symbol('+')) return cursor.nested(() => parseUnary(cursor))
  if (cursor.symbol('-')) return { kind: 'negative', operand: cursor.nested(() => parseUnary(cursor)) }
  if (cursor.words('EXISTING')) return { kind: 'existing', operand: cursor.nested(() => parseUnary(cursor)) }
  return parsePostfix(cursor)
}

function parsePostfix(cursor: MdxCursor): MdxExpression {
  let found = parsePrimary(cursor)
  for (let count = 0; cursor.isSymbol('.'); count++) {
    if (count === mdxBounds.propertiesMax)
      cursor.fail(`at most ${mdxBounds.propertiesMax} parts stand one after another`)
    cursor.next()
    found = parseAfterDot(cursor, found)
  }
  return found
}

function parseAfterDot(cursor: MdxCursor, of: MdxExpression): MdxExpression {
  const token = cursor.peek()
  if (token.kind !== 'word') {
    if (of.kind === 'name') return { kind: 'name', parts: [...of.parts, parsePart(cursor)] }
    return cursor.fail('after `.` the name of a property is expected')
  }
  const name = token.text.toUpperCase()
  if (cursor.isSymbol('(', 1)) {
    if (!isMethod(name)) cursor.fail(`the function .${name}( ) is not supported`)
    cursor.next()
    cursor.next()
    const given = parseArguments(cursor)
    if (given.some((each) => each === undefined)) cursor.fail(`an argument of .${name}( ) is missing`)
    return { kind: 'method', of, name, arguments: given.flatMap((each) => each ?? []) }
  }
  if (isProperty(name)) {
    cursor.next()
    return { kind: 'property', of, name }
  }
  if (of.kind !== 'name') return cursor.fail(`the property .${name.slice(0, 40)} is not supported`)
  return { kind: 'name', parts: [...of.parts, parsePart(cursor)] }
}

/** A part of a name. @throws Fault `bad_request` for a keyword */
function parsePart(cursor: MdxCursor): NamePart {
  const { kind, text } = cursor.peek()
  if (kind === 'symbol' && text === '&') {
    cursor.next()
    return { kind: 'key', key: parseKey(cursor) }
  }
  if (kind === 'word' && mdxKeywords.has(text.toUpperCase()))
    cursor.fail(`${text.toUpperCase()} is not expected`)
  if (kind !== 'word' && kind !== 'bracketed') cursor.fail('a name is expected')
  cursor.next()
  return { kind: 'name', name: text, quoted: kind === 'bracketed' }
}

function parseKey(cursor: MdxCursor): string | null {
  const { kind, text, at } = cursor.peek()
  const isNext = cursor.peek(-1).at === at - 1
  if (!isNext || !(kind === 'bracketed' || kind === 'word' || kind === 'number')) return null
  cursor.next()
  if (cursor.isSymbol('&')) cursor.fail('a key of several values is not supported')
  return text
}

/** A whole name, such as that of a formula. @throws Fault `bad_request` */
export function parseMdxName(cursor: MdxCursor): readonly NamePart[] {
  const parts = [parsePart(cursor)]
  while (cursor.symbol('.')) parts.push(parsePart(cursor))
  return parts
}

function parsePrimary(cursor: MdxCursor): MdxExpression {
  const { kind, text } = cursor.peek()
  switch (kind) {
    case 'number':
      cursor.next()
      return { kind: 'number', value: Number(text) }
    case 'string':
      cursor.next()
      return { kind: 'string', value: text }
    case 'parameter':
      cursor.next()
      return { kind: 'parameter', name: text }
    case 'bracketed':
      return { kind: 'name', parts: [parsePart(cursor)] }
    case 'word':
      return parseWord(cursor, text.toUpperCase())
    case 'symbol':
      return parseBrackets(cursor, text)
    default:
      return cursor.fail('an expression is expected')
  }
}

/** Libraries of which functions may be named, as `VBA!Left(…)`. */
const libraries = new Set(['VBA', 'VBAMDX', 'EXCEL'])

function parseWord(cursor: MdxCursor, given: string): MdxExpression {
  const word = libraries.has(given) && cursor.symbolAfter('!') ? cursor.peek().text.toUpperCase() : given
  if (cursor.words('NULL')) return { kind: 'null' }
  if (word === 'CASE') return parseCase(cursor)
  if (!cursor.isSymbol('(', 1)) return { kind: 'name', parts: [parsePart(cursor)] }
  if (!isFunction(word)) cursor.fail(`the function ${word.slice(0, 40)}( ) is not supported`)
  cursor.next()
  cursor.next()
  return { kind: 'call', name: word, arguments: parseArguments(cursor) }
}

function parseBrackets(cursor: MdxCursor, symbol: string): MdxExpression {
  if (symbol === '{') {
    cursor.next()
    if (cursor.symbol('}')) return { kind: 'set', items: [] }
    return { kind: 'set', items: parseItems(cursor, '}') }
  }
  if (symbol === '(') {
    cursor.next()
    return { kind: 'tuple', items: parseItems(cursor, ')') }
  }
  if (symbol === '&') return { kind: 'name', parts: [parsePart(cursor)] }
  return cursor.fail('an expression is expected')
}

function parseItems(cursor: MdxCursor, end: ')' | '}'): readonly MdxExpression[] {
  const items: MdxExpression[] = []
  do items.push(parseMdxExpression(cursor))
  while (cursor.symbol(','))
  cursor.expectSymbol(end)
  return items
}

/** Arguments up to the closing parenthesis; one that is left out is undefined. */
function parseArguments(cursor: MdxCursor): readonly (MdxExpression | undefined)[] {
  const found: (MdxExpression | undefined)[] = []
  if (cursor.symbol(')')) return found
  do found.push(cursor.isSymbol(',') || cursor.isSymbol(')') ? undefined : parseMdxExpression(cursor))
  while (cursor.symbol(','))
  cursor.expectSymbol(')')
  return found
}

function parseCase(cursor: MdxCursor): MdxExpression {
  cursor.expectWord('CASE')
  const of = cursor.isWord('WHEN') ? undefined : parseMdxExpression(cursor)
  const branches: { when: MdxExpression; result: MdxExpression }[] = []
  while (cursor.words('WHEN')) {
    const when = parseMdxExpression(cursor)
    cursor.expectWord('THEN')
    branches.push({ when, result: parseMdxExpression(cursor) })
  }
  if (branches.length === 0) cursor.fail('WHEN is expected')
  const otherwise = cursor.words('ELSE') ? parseMdxExpression(cursor) : undefined
  cursor.expectWord('END')
  return { kind: 'case', of, branches, otherwise }
}
