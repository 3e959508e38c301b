/**
 * Parses filters of SCIM (RFC 7644, 3.4.2.2), and the paths of PATCH that hold one. A filter that names an attribute
 * which the schema lacks, or compares in a way that its type does not have, is refused. Evaluates nothing.
 */

import { type Attribute, type Place, placeOf, type ResourceSchema } from './schemas.ts'
import { badScim } from './scim-fault.ts'

export const comparisons = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const
export type Comparison = (typeof comparisons)[number]
export type Compared = string | boolean | null

export type Filter =
  | { readonly op: 'and' | 'or'; readonly left: Filter; readonly right: Filter }
  | { readonly op: 'not'; readonly of: Filter }
  | { readonly op: 'pr'; readonly place: Place }
  | { readonly op: Comparison; readonly place: Place; readonly value: Compared }
  /** One value of the attribute fulfils the filter, whose places are parts of it. */
  | { readonly op: 'some'; readonly place: Place; readonly of: Filter }

/** Bounds of a filter: characters, and how deep it may nest. */
const filterBounds = { charactersMax: 4096, depthMax: 20, termsMax: 200 } as const

interface Token {
  readonly kind: 'word' | 'string' | 'punctuation' | 'end'
  readonly text: string
}

/** What names an attribute: of the resource, or within the brackets of one. */
type FindPlace = (name: string) => Place | undefined

/** Parses a filter over a resource. @throws Fault `bad_request` (invalidFilter) */
export function parseFilter(schema: ResourceSchema, text: string): Filter {
  const parser = new Parser(text, (name) => placeOf(schema, name))
  const filter = parser.whole()
  parser.end()
  return filter
}

/** The target of a PATCH operation. */
export interface PatchPath {
  readonly place: Place
  /** Which values of a multi-valued attribute; undefined: all. */
  readonly filter: Filter | undefined
  /** The part of each value; as `place.sub` where no filter stands before it. */
  readonly sub: Attribute | undefined
}

/** Parses the path of a PATCH operation (RFC 7644, 3.5.2). @throws Fault `bad_request` (invalidPath, invalidFilter) */
export function parsePath(schema: ResourceSchema, text: string): PatchPath {
  const bracket = text.indexOf('[')
  const name = bracket < 0 ? text : text.slice(0, bracket)
  const place = placeOf(schema, name)
  if (place === undefined)
    throw badScim('invalidPath', `The path names no attribute of a ${schema.name}: ${shown(name)}.`)
  if (bracket < 0) return { place, filter: undefined, sub: place.sub }
  const close = text.lastIndexOf(']')
  const after = text.slice(close + 1)
  if (close < bracket || place.sub !== undefined || place.attribute.multiValued !== true)
    throw badScim('invalidPath', 'A filter in a path stands in brackets after a multi-valued attribute.')
  const parser = new Parser(text.slice(bracket + 1, close), withinOf(place))
  const filter = parser.whole()
  parser.end()
  if (after === '') return { place, filter, sub: undefined }
  const sub = after.startsWith('.') ? withinOf(place)(after.slice(1)) : undefined
  if (sub === undefined)
    throw badScim('invalidPath', `The path names no part of \`${place.attribute.name}\`: ${shown(after)}.`)
  return { place, filter, sub: sub.attribute }
}

/** Finds parts of an attribute, as places of their own. */
function withinOf({ attribute }: Place): FindPlace {
  return (name) => {
    const folded = name.toLowerCase()
    const sub = attribute.sub?.find((one) => one.name.toLowerCase() === folded)
    return sub && { extension: undefined, attribute: sub, sub: undefined }
  }
}

class Parser {
  readonly #tokens: readonly Token[]
  #at = 0
  #terms = 0

  constructor(
    text: string,
    private readonly find: FindPlace,
  ) {
    if (text.length > filterBounds.charactersMax)
      throw badScim('invalidFilter', `A filter may have ${filterBounds.charactersMax} characters.`)
    this.#tokens = tokensOf(text)
  }

  whole(): Filter {
    return this.#either(0, this.find)
  }

  end(): void {
    if (this.#peek().kind !== 'end') throw unexpected(this.#peek())
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? { kind: 'end', text: '' }
  }

  #next(): Token {
    const token = this.#peek()
    this.#at += 1
    return token
  }

  #isNext(word: string): boolean {
    const { kind, text } = this.#peek()
    return kind === 'word' && text.toLowerCase() === word
  }

  #expect(text: string): void {
    const token = this.#next()
    if (token.kind !== 'punctuation' || token.text !== text) throw unexpected(token)
  }

  #either(depth: number, find: FindPlace): Filter {
    if (depth > filterBounds.depthMax)
      throw badScim('invalidFilter', `A filter may nest ${filterBounds.depthMax} levels deep.`)
    let left = this.#both(depth, find)
    while (this.#isNext('or')) {
      this.#next()
      left = { op: 'or', left, right: this.#both(depth, find) }
    }
    return left
  }

  #both(depth: number, find: FindPlace): Filter {
    let left = this.#term(depth, find)
    while (this.#isNext('and')) {
      this.#next()
      left = { op: 'and', left, right: this.#term(depth, find) }
    }
    return left
  }

  #term(depth: number, find: FindPlace): Filter {
    this.#terms += 1
    if (this.#terms > filterBounds.termsMax)
      throw badScim('invalidFilter', `A filter may have ${filterBounds.termsMax} comparisons.`)
    const token = this.#next()
    if (token.kind === 'punctuation' && token.text === '(') return this.#grouped(depth, find)
    if (token.kind !== 'word') throw unexpected(token)
    if (token.text.toLowerCase() === 'not') {
      this.#expect('(')
      return { op: 'not', of: this.#grouped(depth, find) }
    }
    const place = find(token.text)
    if (place === undefined) throw badScim('invalidFilter', `There is no attribute ${shown(token.text)}.`)
    if (this.#peek().text === '[' && this.#peek().kind === 'punctuation') return this.#some(place, depth)
    return this.#compared(place)
  }

  #grouped(depth: number, find: FindPlace): Filter {
    const inner = this.#either(depth + 1, find)
    this.#expect(')')
    return inner
  }

  #some(place: Place, depth: number): Filter {
    if (place.attribute.type !== 'complex' || place.sub !== undefined)
      throw badScim('invalidFilter', `\`${place.attribute.name}\` has no parts to filter by.`)
    this.#expect('[')
    const of = this.#either(depth + 1, withinOf(place))
    this.#expect(']')
    return { op: 'some', place, of }
  }

  #compared(place: Place): Filter {
    const op = this.#next().text.toLowerCase()
    if (op === 'pr') return { op, place }
    const comparison = comparisons.find((one) => one === op)
    if (comparison === undefined) throw badScim('invalidFilter', `There is no operator ${shown(op)}.`)
    const value = this.#value()
    assertComparable(place, comparison, value)
    return { op: comparison, place, value }
  }

  #value(): Compared {
    const token = this.#next()
    if (token.kind === 'string') return token.text
    const word = token.kind === 'word' ? token.text.toLowerCase() : ''
    if (word === 'true') return true
    if (word === 'false') return false
    if (word === 'null') return null
    throw unexpected(token)
  }
}

/** The attribute whose values a comparison looks at: of a complex one, its `value`. */
export function comparedAttribute({ attribute, sub }: Place): Attribute | undefined {
  if (sub !== undefined) return sub
  if (attribute.type !== 'complex') return attribute
  return attribute.sub?.find(({ name }) => name === 'value')
}

/** @throws Fault `bad_request` (invalidFilter) */
function assertComparable(place: Place, op: Comparison, value: Compared): void {
  const compared = comparedAttribute(place)
  const name = place.attribute.name
  if (compared === undefined)
    throw badScim(
      'invalidFilter',
      `\`${name}\` has parts; name the one that is compared, as in \`${name}.…\`.`,
    )
  if (compared.name === 'password') throw badScim('invalidFilter', 'A password is not compared.')
  const isEquality = op === 'eq' || op === 'ne'
  if (value === null) {
    if (!isEquality) throw badScim('invalidFilter', 'null is compared by `eq` and `ne` alone.')
    return
  }
  if (compared.type === 'boolean') {
    // Entra ID writes booleans as texts.
    const isBoolean = typeof value === 'boolean' || /^(?:true|false)$/i.test(value)
    if (!isEquality || !isBoolean)
      throw badScim(
        'invalidFilter',
        `\`${compared.name}\` is compared with true or false, by \`eq\` and \`ne\`.`,
      )
    return
  }
  if (typeof value !== 'string')
    throw badScim('invalidFilter', `\`${compared.name}\` is compared with a text in double quotes.`)
  if (compared.type === 'binary' && !isEquality && op !== 'co' && op !== 'sw' && op !== 'ew')
    throw badScim('invalidFilter', `\`${compared.name}\` has no order.`)
  if (
    compared.type === 'dateTime' &&
    op !== 'co' &&
    op !== 'sw' &&
    op !== 'ew' &&
    Number.isNaN(Date.parse(value))
  )
    throw badScim('invalidFilter', `\`${compared.name}\` is compared with a time, as 2026-11-30T00:00:00Z.`)
}

const tokenForm = /\s*(?:("(?:[^"\\]|\\.)*")|([()[\]])|([^\s()[\]"]+))/y

/** @throws Fault `bad_request` (invalidFilter) */
function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = []
  const end = text.trimEnd().length
  tokenForm.lastIndex = 0
  while (tokenForm.lastIndex < end) {
    const begin = tokenForm.lastIndex
    const [, string, punctuation, word] = tokenForm.exec(text) ?? []
    if (string !== undefined) tokens.push({ kind: 'string', text: unquoted(string) })
    else if (punctuation !== undefined) tokens.push({ kind: 'punctuation', text: punctuation })
    else if (word !== undefined) tokens.push({ kind: 'word', text: word })
    else throw badScim('invalidFilter', `The filter cannot be read from character ${begin + 1} on.`)
  }
  return tokens
}

function unquoted(text: string): string {
  try {
    return JSON.parse(text) as string
  } catch {
    throw badScim('invalidFilter', 'A text in a filter is written as in JSON.')
  }
}

function unexpected({ kind, text }: Token) {
  return badScim(
    'invalidFilter',
    kind === 'end' ? 'The filter ends too early.' : `The filter cannot be read at ${shown(text)}.`,
  )
}

function shown(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)
}
