/**
 * Parses a graph query: a subset of openCypher that only reads. Its clauses are MATCH, OPTIONAL MATCH, WHERE, UNWIND of
 * a parameter, CALL of a listed procedure, WITH and RETURN. It knows no labels and no types; the compiler does.
 */

import {
  type CallClause,
  type Clause,
  type GraphQuery,
  type MatchClause,
  type ProcedureName,
  type ProjectClause,
  type ProjectedItem,
  procedureNames,
  type UnwindClause,
} from './ast.ts'
import { CypherCursor } from './cursor.ts'
import { parseExpression, parseVariable } from './parse-expression.ts'
import { parsePath } from './parse-pattern.ts'
import { refusedClause } from './refused-words.ts'
import { tokenize } from './tokens.ts'

/** Clauses of a query, and items of one WITH or RETURN. */
const clausesMax = 12
const itemsMax = 20

/** @throws Fault `bad_request` for anything outside the subset, which it names */
export function parseGraphQuery(text: string): GraphQuery {
  const cursor = new CypherCursor(tokenize(text))
  const clauses: Clause[] = []
  while (clauses.at(-1)?.kind !== 'return') {
    if (clauses.length === clausesMax) cursor.fail(`a query has at most ${clausesMax} clauses`)
    clauses.push(parseClause(cursor))
  }
  if (cursor.peek().kind !== 'end') parseAfterReturn(cursor)
  return { clauses }
}

function parseAfterReturn(cursor: CypherCursor): never {
  const refused = refusedClause(cursor.peek().text)
  return cursor.fail(refused === undefined ? 'RETURN ends the query' : `${refused} is not allowed`)
}

function parseClause(cursor: CypherCursor): Clause {
  if (cursor.words('OPTIONAL', 'MATCH')) return parseMatch(cursor, true)
  if (cursor.words('MATCH')) return parseMatch(cursor, false)
  if (cursor.words('UNWIND')) return parseUnwind(cursor)
  if (cursor.words('CALL')) return parseCall(cursor)
  if (cursor.words('WITH')) return parseProject(cursor, 'with')
  if (cursor.words('RETURN')) return parseProject(cursor, 'return')
  const { kind, text } = cursor.peek()
  const refused = kind === 'name' ? refusedClause(text) : undefined
  if (refused !== undefined) cursor.fail(`${refused} is not allowed`)
  if (kind === 'end') cursor.fail('a query ends with RETURN')
  return cursor.fail('MATCH, OPTIONAL MATCH, UNWIND, CALL, WITH or RETURN is expected')
}

function parseMatch(cursor: CypherCursor, optional: boolean): MatchClause {
  const paths = [parsePath(cursor)]
  while (cursor.symbol(',')) paths.push(parsePath(cursor))
  const where = parseWhere(cursor)
  return { kind: 'match', optional, paths, ...(where && { where }) }
}

const parseWhere = (cursor: CypherCursor) => (cursor.words('WHERE') ? parseExpression(cursor) : undefined)

function parseUnwind(cursor: CypherCursor): UnwindClause {
  const { kind, text } = cursor.peek()
  if (kind !== 'parameter') cursor.fail('UNWIND takes a parameter only')
  cursor.next()
  cursor.expectWord('AS')
  return { kind: 'unwind', parameter: text, as: parseVariable(cursor) }
}

function parseCall(cursor: CypherCursor): CallClause {
  if (cursor.isSymbol('{') || cursor.isSymbol('(')) cursor.fail('CALL of a subquery is not allowed')
  const procedure = parseProcedure(cursor)
  const args = []
  cursor.expectSymbol('(')
  if (!cursor.symbol(')')) {
    do args.push(parseExpression(cursor))
    while (cursor.symbol(','))
    cursor.expectSymbol(')')
  }
  if (!cursor.words('YIELD')) cursor.fail('CALL names its results: YIELD is expected')
  const yields = []
  do {
    const name = cursor.name('a result')
    yields.push({ name, as: cursor.words('AS') ? parseVariable(cursor) : name })
  } while (cursor.symbol(','))
  if (cursor.isWord('WHERE')) cursor.fail('WHERE follows MATCH or WITH')
  return { kind: 'call', procedure, arguments: args, yields }
}

function parseProcedure(cursor: CypherCursor): ProcedureName {
  let name = cursor.name('a procedure')
  while (cursor.symbol('.')) name += `.${cursor.name('a procedure')}`
  const known = procedureNames.find((one) => one === name.toLowerCase())
  return known ?? cursor.fail(`there is no such procedure; there are ${procedureNames.join(', ')}`)
}

function parseProject(cursor: CypherCursor, kind: 'with' | 'return'): ProjectClause {
  const distinct = cursor.words('DISTINCT')
  if (cursor.isSymbol('*')) cursor.fail('`*` is not allowed: name what is wanted')
  const items = [parseItem(cursor, kind)]
  while (cursor.symbol(',')) {
    items.push(parseItem(cursor, kind))
    if (items.length > itemsMax) cursor.fail(`WITH and RETURN have at most ${itemsMax} items`)
  }
  const names = new Set(items.map(({ as }) => as))
  if (names.size < items.length) cursor.fail('two items have the same name: write AS')
  const orderBy = parseOrder(cursor)
  const skip = cursor.words('SKIP') ? parseExpression(cursor) : undefined
  const limit = cursor.words('LIMIT') ? parseExpression(cursor) : undefined
  const where = kind === 'with' ? parseWhere(cursor) : undefined
  return {
    kind,
    distinct,
    items,
    orderBy,
    ...(skip && { skip }),
    ...(limit && { limit }),
    ...(where && { where }),
  }
}

function parseItem(cursor: CypherCursor, kind: 'with' | 'return'): ProjectedItem {
  const expression = parseExpression(cursor)
  if (cursor.words('AS')) return { expression, as: parseVariable(cursor) }
  if (expression.kind === 'variable') return { expression, as: expression.name }
  if (kind === 'with') cursor.fail('an item of WITH that is no name needs AS')
  if (expression.kind === 'property') return { expression, as: `${expression.of}.${expression.name}` }
  if (expression.kind === 'aggregate' || expression.kind === 'call')
    return { expression, as: expression.name }
  return cursor.fail('an item of RETURN that is neither name nor property nor call needs AS')
}

function parseOrder(cursor: CypherCursor): ProjectClause['orderBy'] {
  const orderBy: ProjectClause['orderBy'][number][] = []
  if (!cursor.words('ORDER', 'BY')) return orderBy
  do {
    const expression = parseExpression(cursor)
    const descending = cursor.words('DESC') || cursor.words('DESCENDING')
    if (!descending && !cursor.words('ASC')) cursor.words('ASCENDING')
    orderBy.push({ expression, descending })
    if (orderBy.length > itemsMax) cursor.fail(`ORDER BY has at most ${itemsMax} items`)
  } while (cursor.symbol(','))
  return orderBy
}
