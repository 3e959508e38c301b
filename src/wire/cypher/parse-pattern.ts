/** Parses the patterns of MATCH: nodes with one label, edges with one type, lengths within the bound of hops. */

import { limits } from '../../limits.ts'
import type { EdgePattern, NodePattern, PathPattern, PropertyTest } from './ast.ts'
import type { CypherCursor } from './cursor.ts'
import { parseExpression, parseVariable } from './parse-expression.ts'
import { refusedExpression } from './refused-words.ts'

const { graphHopsDefault, graphHopsMax } = limits

/** @throws Fault `bad_request` */
export function parsePath(cursor: CypherCursor): PathPattern {
  const name = cursor.isSymbol('=', 1) ? parseVariable(cursor) : undefined
  if (name !== undefined) cursor.expectSymbol('=')
  const { kind, text } = cursor.peek()
  const refused = kind === 'name' ? refusedExpression(text) : undefined
  if (refused !== undefined) cursor.fail(`${refused} is not allowed`)
  const nodes = [parseNode(cursor)]
  const edges: EdgePattern[] = []
  while (cursor.isSymbol('-') || cursor.isSymbol('<')) {
    edges.push(parseEdge(cursor))
    nodes.push(parseNode(cursor))
  }
  if (cursor.isSymbol('{')) cursor.fail('repeated paths { } are not allowed')
  return { nodes, edges, ...(name !== undefined && { name }) }
}

function parseNode(cursor: CypherCursor): NodePattern {
  cursor.expectSymbol('(')
  if (cursor.isSymbol('(')) cursor.fail('paths in parentheses are not allowed')
  const name = cursor.peek().kind === 'name' ? parseVariable(cursor) : undefined
  const label = cursor.symbol(':') ? cursor.name('a label') : undefined
  if (cursor.isSymbol(':')) cursor.fail('a node has one label')
  const properties = parseProperties(cursor)
  if (cursor.isWord('WHERE')) cursor.fail('WHERE inside of a pattern is not allowed')
  cursor.expectSymbol(')')
  if (name === undefined && label === undefined) cursor.fail('each node has a label')
  return { properties, ...(name !== undefined && { name }), ...(label !== undefined && { label }) }
}

function parseProperties(cursor: CypherCursor): readonly PropertyTest[] {
  if (cursor.peek().kind === 'parameter') cursor.fail('a parameter in place of a map is not allowed')
  if (!cursor.symbol('{')) return []
  const properties: PropertyTest[] = []
  if (cursor.symbol('}')) return properties
  do {
    const name = cursor.name('the name of a property')
    cursor.expectSymbol(':')
    properties.push({ name, value: parseExpression(cursor) })
  } while (cursor.symbol(','))
  cursor.expectSymbol('}')
  return properties
}

function parseEdge(cursor: CypherCursor): EdgePattern {
  const left = cursor.symbol('<')
  cursor.expectSymbol('-')
  if (!cursor.symbol('[')) cursor.fail('each edge has a type')
  const name = cursor.peek().kind === 'name' ? parseVariable(cursor) : undefined
  if (!cursor.symbol(':')) cursor.fail('each edge has a type')
  const type = cursor.name('a type')
  if (cursor.isSymbol(':')) cursor.fail('an edge has one type')
  const hops = parseHops(cursor)
  const properties = parseProperties(cursor)
  if (cursor.isWord('WHERE')) cursor.fail('WHERE inside of a pattern is not allowed')
  cursor.expectSymbol(']')
  cursor.expectSymbol('-')
  const right = cursor.symbol('>')
  if (left && right) cursor.fail('an edge has one direction, or none')
  const direction = left ? 'in' : right ? 'out' : 'both'
  return { type, properties, direction, ...(name !== undefined && { name }), ...(hops && { hops }) }
}

/** `*`, `*n`, `*n..`, `*..m` or `*n..m`. Without an upper bound a walk ends after the default number of hops. */
function parseHops(cursor: CypherCursor): EdgePattern['hops'] {
  if (!cursor.symbol('*')) return undefined
  const min = parseHopCount(cursor)
  const isRange = cursor.symbol('..')
  const max = isRange ? parseHopCount(cursor) : min
  const hops = { min: min ?? 1, max: max ?? Math.max(graphHopsDefault, min ?? 1) }
  if (hops.min < 1 || hops.max < hops.min || hops.max > graphHopsMax)
    cursor.fail(`a walk has 1 to ${graphHopsMax} hops, the smaller number first`)
  return hops
}

function parseHopCount(cursor: CypherCursor): number | undefined {
  const { kind, text } = cursor.peek()
  if (kind !== 'number') return undefined
  cursor.next()
  if (!/^\d{1,3}$/.test(text)) cursor.fail('hops are a whole number')
  return Number(text)
}
