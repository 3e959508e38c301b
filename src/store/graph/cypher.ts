/**
 * Runs read-only Cypher: MATCH with labelled nodes, labelled relationships and fixed length, which both backends
 * evaluate correctly. Any other query is refused before it reaches the database.
 */

import { Fault } from '../../base/fault.ts'
import type { TenantId } from '../../core/tenant.ts'
import { edgeLabels, graphName, storableJson, vertexLabels } from '../database/names.ts'
import type { Store } from '../store.ts'
import { parseAgtype } from './graph.ts'

interface CypherQuery {
  readonly text: string
  /** Values of the `$name` in the text. */
  readonly params?: Readonly<Record<string, unknown>>
  /** Names of the RETURN expressions, in their order. */
  readonly columns: readonly string[]
  readonly signal?: AbortSignal
}

/**
 * Runs a Cypher query on the tenant's graph and reports its duration to the store's `onCypher`.
 * @returns one record per row, keyed by `columns`; integers beyond 2^53 as decimal strings
 * @throws Fault `bad_request` for a query that is not a labelled, fixed-length MATCH
 */
export async function cypher(
  store: Store,
  tenant: TenantId,
  { text, params = {}, columns, signal }: CypherQuery,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  checkCypher(text)
  if (columns.length === 0 || !columns.every((column) => /^[a-z_][a-z0-9_]{0,62}$/.test(column)))
    throw new Fault('bad_request', 'A result column is named by lower-case letters, digits and _.')
  const outputs = columns.map((column) => `"${column}"`).join(', ')
  const types = columns.map((column) => `"${column}" agtype`).join(', ')
  const source = `cypher('${graphName(tenant)}', ${quote} ${text} ${quote}, $1)`
  const started = performance.now()
  try {
    const rows = await store.tenantQuery<Record<string, string | null>>(
      tenant,
      `select ${outputs} from ${source} as (${types})`,
      [storableJson(params)],
      { readOnly: true, prepare: false, ...(signal && { signal }) },
    )
    return rows.map((row) => Object.fromEntries(columns.map((column) => [column, readValue(row[column])])))
  } finally {
    store.onCypher((performance.now() - started) / 1000)
  }
}

function readValue(text: string | null | undefined): unknown {
  return text === null || text === undefined ? null : parseAgtype(text)
}

/** The dollar quote around the query in its statement. The query must not contain it. */
const quote = '$covenant$'

const token =
  /\s+|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\$[A-Za-z_][A-Za-z0-9_]*(?!\$)|[A-Za-z_][A-Za-z0-9_]*|\d+(?:\.\d+)?|<>|<=|>=|=~|[()[\]{}:,.*<>=+%/|-]/y

const forbidden = new Set(
  'create merge set delete detach remove call yield load foreach drop unwind union with explain'.split(' '),
)
const functions = new Set(
  `count collect min max avg sum coalesce size length head last keys labels label type properties id exists
   tolower toupper tostring tointeger tofloat toboolean abs ceil floor round`.split(/\s+/),
)
/** Keywords before a parenthesis that is no function call. */
const words = new Set(
  'match where and or not xor in return by as when then else case distinct contains'.split(' '),
)
const vertices = new Set<string>(vertexLabels)
const edges = new Set<string>(edgeLabels)

function refuse(what: string): never {
  throw new Fault('bad_request', `Cypher: ${what}.`)
}

function tokenize(text: string): readonly string[] {
  if (text.length > 20_000) refuse('the query is too long')
  if (text.includes(quote)) refuse(`${quote} is not allowed, not even inside a string`)
  const tokens: string[] = []
  token.lastIndex = 0
  while (token.lastIndex < text.length) {
    const at = token.lastIndex
    const match = token.exec(text)
    if (match === null) refuse(`unexpected text at ${at}`)
    else if (match[0].trim() !== '') tokens.push(match[0])
  }
  return tokens
}

/** A token with access to its neighbours. */
interface Place {
  readonly part: string
  /** The token that many places later, or earlier if negative; '' where there is none. */
  readonly next: (places: number) => string
}

/** Checks a query. @throws Fault `bad_request` unless all its patterns are labelled and of fixed length */
export function checkCypher(text: string): void {
  const tokens = tokenize(text)
  const places = tokens.map((part, index): Place => ({ part, next: (by) => tokens[index + by] ?? '' }))
  if (tokens[0]?.toLowerCase() !== 'match') refuse('a query begins with MATCH')
  if (!tokens.some((part) => part.toLowerCase() === 'return')) refuse('a query ends with RETURN')
  if (places.some(({ part, next }) => part === '/' && ['/', '*'].includes(next(1))))
    refuse('comments are not allowed')
  const labelled = new Set<string>()
  let inMatch = false
  let braces = 0
  for (const place of places) {
    const { part } = place
    if (isName(part)) {
      checkName(place)
      if (!isNamed(place)) inMatch = clauses.get(part.toLowerCase()) ?? inMatch
    }
    if (part === '{') braces++
    if (part === '}') braces--
    if (!inMatch) checkExpression(place)
    else if (braces <= 0) checkPattern(place, labelled)
    else if ('()['.includes(part)) refuse('property maps hold plain values')
  }
}

/** Keywords that begin a clause, and whether the clause holds patterns. */
const clauses: ReadonlyMap<string, boolean> = new Map([
  ['match', true],
  ...['where', 'return', 'order', 'skip', 'limit'].map((word) => [word, false] as const),
])

function isName(part: string): boolean {
  return /^[A-Za-z_]/.test(part)
}

/** Whether a name is that of a property or label, even if it equals a keyword. */
function isNamed({ next }: Place): boolean {
  return next(-1) === '.' || next(-1) === ':'
}

function checkName(place: Place): void {
  const { part, next } = place
  const word = part.toLowerCase()
  const named = isNamed(place)
  const operator = word === 'with' && ['starts', 'ends'].includes(next(-1).toLowerCase())
  if (!named && forbidden.has(word) && !operator) refuse(`${part.toUpperCase()} is not allowed`)
  if (next(1) === '(' && (named || !(functions.has(word) || words.has(word))))
    refuse(`the function ${part} is not allowed`)
}

/** Refuses a pattern in an expression, because `checkPattern` would not see it. */
function checkExpression({ part, next }: Place): void {
  if (part === ')' && (next(1) === '-' || (next(1) === '<' && next(2) === '-')))
    refuse('patterns stand in MATCH only')
}

/** @param labelled names of nodes with a label so far; the function adds to it */
function checkPattern({ part, next }: Place, labelled: Set<string>): void {
  if (part === '(' || part === '[') {
    const name = isName(next(1)) ? next(1) : ''
    const colon = name === '' ? 1 : 2
    const label = next(colon + 1)
    if (next(colon) !== ':') {
      if (part === '[' || !labelled.has(name)) refuse('every node and relationship has a label')
    } else if (!(part === '(' ? vertices : edges).has(label)) refuse(`there is no label ${label}`)
    else if (part === '(') labelled.add(name)
  }
  if ('*|'.includes(part)) refuse('relationships have one label and a fixed length')
  if (part === '-' && next(1) !== '[' && next(-1) !== ']') refuse('every node and relationship has a label')
}
