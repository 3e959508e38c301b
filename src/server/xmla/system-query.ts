/**
 * Reads queries on `$system`, with which clients ask for rowsets by Execute: columns with other names, DISTINCT, TOP, a
 * condition of comparisons, ORDER BY, and SYSTEMRESTRICTSCHEMA. It answers none of them.
 */

import { Fault } from '../../base/fault.ts'
import { TokenCursor } from '../../wire/token-cursor.ts'

export interface SystemQuery {
  readonly rowset: string
  readonly isDistinct: boolean
  readonly top: number | undefined
  /** Undefined for all. */
  readonly columns: readonly { readonly column: string; readonly as: string | undefined }[] | undefined
  /** Of SYSTEMRESTRICTSCHEMA. */
  readonly restrictions: readonly { readonly column: string; readonly value: SystemValue }[]
  readonly where: SystemCondition | undefined
  readonly orderBy: readonly { readonly column: string; readonly isFalling: boolean }[]
}

const comparisons = ['=', '<>', '<=', '>=', '<', '>'] as const

export type SystemCondition =
  | { readonly kind: 'and' | 'or'; readonly of: readonly SystemCondition[] }
  | { readonly kind: 'not'; readonly of: SystemCondition }
  | {
      readonly kind: 'comparison'
      readonly column: string
      readonly operator: (typeof comparisons)[number]
      readonly value: SystemValue
    }

export type SystemValue =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'parameter'; readonly name: string }

/** Whether a statement is such a query, well formed or not. */
export function isSystemQuery(text: string): boolean {
  return /^\s*select\b[^;]*?\bfrom\s+(?:systemrestrictschema\s*\(\s*)?\[?\$system\]?\s*\./is.test(text)
}

interface Token {
  readonly kind: 'word' | 'name' | 'text' | 'number' | 'parameter' | 'symbol' | 'end'
  readonly text: string
  readonly at: number
}

const tokenPattern =
  /\s*(?:(\[(?:[^\]]|\]\])*\]|"(?:[^"]|"")*")|('(?:[^']|'')*')|(-?\d+(?:\.\d+)?)|@([A-Za-z_]\w*)|([A-Za-z_$][\w$]*)|(<>|<=|>=|[=<>,.*()]))/y

const tokensMax = 500

/** @throws Fault `bad_request` for any other statement */
export function readSystemQuery(text: string): SystemQuery {
  const cursor = new SystemCursor(tokensOf(text))
  cursor.expectWord('SELECT')
  const isDistinct = cursor.words('DISTINCT')
  const top = cursor.words('TOP') ? cursor.count() : undefined
  const columns = cursor.symbol('*') ? undefined : cursor.list(() => selected(cursor))
  cursor.expectWord('FROM')
  const isRestricted = cursor.words('SYSTEMRESTRICTSCHEMA')
  if (isRestricted) cursor.expectSymbol('(')
  if (cursor.name().toLowerCase() !== '$system') unreadable()
  cursor.expectSymbol('.')
  const rowset = cursor.name()
  const restrictions = isRestricted && cursor.symbol(',') ? cursor.list(() => restriction(cursor)) : []
  if (isRestricted) cursor.expectSymbol(')')
  const where = cursor.words('WHERE') ? either(cursor) : undefined
  const isOrdered = cursor.words('ORDER')
  if (isOrdered) cursor.expectWord('BY')
  const orderBy = isOrdered ? cursor.list(() => ordered(cursor)) : []
  if (cursor.peek().kind !== 'end') unreadable()
  return { rowset, isDistinct, top, columns, restrictions, where, orderBy }
}

function selected(cursor: SystemCursor) {
  const column = cursor.name()
  return { column, as: cursor.words('AS') ? cursor.name() : undefined }
}

function restriction(cursor: SystemCursor) {
  const column = cursor.name()
  cursor.expectSymbol('=')
  return { column, value: cursor.value() }
}

function ordered(cursor: SystemCursor) {
  const column = cursor.name()
  const isFalling = cursor.words('DESC')
  if (!isFalling) cursor.words('ASC')
  return { column, isFalling }
}

function joined(
  cursor: SystemCursor,
  kind: 'and' | 'or',
  each: (cursor: SystemCursor) => SystemCondition,
): SystemCondition {
  const first = each(cursor)
  const more: SystemCondition[] = []
  while (cursor.words(kind.toUpperCase())) more.push(each(cursor))
  return more.length === 0 ? first : { kind, of: [first, ...more] }
}

const either = (cursor: SystemCursor) => joined(cursor, 'or', both)
const both = (cursor: SystemCursor) => joined(cursor, 'and', single)

function single(cursor: SystemCursor): SystemCondition {
  if (cursor.words('NOT')) return { kind: 'not', of: single(cursor) }
  if (cursor.symbol('(')) {
    const found = either(cursor)
    cursor.expectSymbol(')')
    return found
  }
  const column = cursor.name()
  const operator = comparisons.find((each) => cursor.symbol(each))
  if (operator === undefined) return unreadable()
  return { kind: 'comparison', column, operator, value: cursor.value() }
}

/** Where a query is read. */
class SystemCursor extends TokenCursor<Token> {
  constructor(tokens: readonly Token[]) {
    super(tokens, { word: 'word', depthMax: tokensMax, refuse: unreadable })
  }

  name(): string {
    return this.#taken('word', 'name').text
  }

  count(): number {
    const { text } = this.#taken('number')
    return /^\d{1,9}$/.test(text) ? Number(text) : unreadable()
  }

  value(): SystemValue {
    const { kind, text } = this.#taken('word', 'text', 'number', 'parameter')
    if (kind === 'parameter') return { kind: 'parameter', name: text }
    if (kind !== 'word') return { kind: 'literal', text }
    const word = text.toLowerCase()
    return word === 'true' || word === 'false' ? { kind: 'literal', text: word } : unreadable()
  }

  list<T>(each: () => T): readonly T[] {
    const found = [each()]
    while (this.symbol(',')) found.push(each())
    return found
  }

  #taken(...kinds: readonly Token['kind'][]): Token {
    const token = this.next()
    return kinds.includes(token.kind) ? token : unreadable()
  }
}

/** @throws Fault `bad_request` always */
function unreadable(): never {
  throw new Fault(
    'bad_request',
    'Of queries on $system, this form is served: SELECT columns FROM $system.NAME WHERE conditions ORDER BY columns.',
  )
}

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = []
  const end = text.trimEnd().replace(/;$/, '').length
  tokenPattern.lastIndex = 0
  while (tokenPattern.lastIndex < end) {
    const at = tokenPattern.lastIndex
    const found = tokenPattern.exec(text)
    if (found === null || tokens.length === tokensMax) return unreadable()
    const [, name, quoted, number, parameter, word, symbol] = found
    if (name !== undefined) tokens.push({ kind: 'name', text: unquoted(name), at })
    else if (quoted !== undefined) tokens.push({ kind: 'text', text: unquoted(quoted), at })
    else if (number !== undefined) tokens.push({ kind: 'number', text: number, at })
    else if (parameter !== undefined) tokens.push({ kind: 'parameter', text: parameter, at })
    else if (word !== undefined) tokens.push({ kind: 'word', text: word, at })
    else tokens.push({ kind: 'symbol', text: symbol ?? '', at })
  }
  return [...tokens, { kind: 'end', text: '', at: end }]
}

function unquoted(text: string): string {
  const last = text.at(-1) ?? ''
  return text.slice(1, -1).replaceAll(last + last, last)
}
