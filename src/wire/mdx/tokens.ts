/**
 * Splits an MDX statement into tokens. Errors name a place and what is wrong there; they repeat names of the language,
 * never names of data.
 */

import { Fault } from '../../base/fault.ts'

/** Bounds of one statement (docs/reference/limits.md). */
export const mdxBounds = {
  charsMax: 1_000_000,
  tokensMax: 200_000,
  nameCharsMax: 16_384,
  /** Of brackets, calls and subselects within each other. */
  depthMax: 64,
  /** Operators of a statement, because each may nest in the one before. */
  operatorsMax: 2_000,
  /** Properties and methods one after another, such as `.Parent.Parent`. */
  propertiesMax: 64,
} as const

export interface MdxToken {
  readonly kind: 'word' | 'bracketed' | 'number' | 'string' | 'parameter' | 'symbol' | 'end'
  /** A word as written; the name within brackets; the value of a string; the symbol. */
  readonly text: string
  /** Characters before it. */
  readonly at: number
}

/** @throws Fault `bad_request` always */
export function refuseMdx(what: string, at?: number): never {
  throw new Fault('bad_request', `MDX: ${what}${at === undefined ? '' : ` (character ${at + 1})`}.`)
}

const patterns: readonly (readonly [MdxToken['kind'] | 'space', RegExp])[] = [
  ['space', /(?:[\s\uFEFF]+|--[^\n]*|\/\/[^\n]*|\/\*[\s\S]*?\*\/)/y],
  ['bracketed', /\[(?:[^\]]|\]\])*\]/y],
  ['word', /[\p{L}_$][\p{L}\p{N}_$]*/uy],
  ['number', /(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?/y],
  ['parameter', /@[\p{L}_][\p{L}\p{N}_]*/uy],
  ['string', /'(?:[^']|'')*'|"(?:[^"]|"")*"/y],
  ['symbol', /<>|<=|>=|[(){}.,:&*/+\-^=<>;!]/y],
]

const unclosed: Readonly<Record<string, string>> = {
  "'": 'a text is not closed',
  '"': 'a text is not closed',
  '[': 'a bracket is not closed',
}

/** The tokens of a statement, with one of kind `end` last. @throws Fault `bad_request` */
export function tokenizeMdx(text: string): readonly MdxToken[] {
  if (text.length > mdxBounds.charsMax) refuseMdx(`a statement has at most ${mdxBounds.charsMax} characters`)
  if (text.includes('\0')) refuseMdx('a character is not part of the language', text.indexOf('\0'))
  const tokens: MdxToken[] = []
  let at = 0
  while (at < text.length) {
    const [kind, found] = tokenAt(text, at)
    if (kind !== 'space') tokens.push({ kind, text: tokenText(kind, found, at), at })
    if (tokens.length > mdxBounds.tokensMax)
      refuseMdx(`a statement has at most ${mdxBounds.tokensMax} tokens`)
    at += found.length
  }
  tokens.push({ kind: 'end', text: '', at })
  return tokens
}

function tokenAt(text: string, at: number): readonly [MdxToken['kind'] | 'space', string] {
  if (text.startsWith('/*', at) && text.indexOf('*/', at + 2) < 0) refuseMdx('a comment is not closed', at)
  for (const [kind, pattern] of patterns) {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0]
    if (found !== undefined) return [kind, found]
  }
  return refuseMdx(unclosed[text[at] ?? ''] ?? 'a character is not part of the language', at)
}

function tokenText(kind: MdxToken['kind'], found: string, at: number): string {
  const value = unquoted(kind, found)
  if (kind !== 'string' && value.length > mdxBounds.nameCharsMax)
    refuseMdx(`a name has at most ${mdxBounds.nameCharsMax} characters`, at)
  return value
}

function unquoted(kind: MdxToken['kind'], found: string): string {
  switch (kind) {
    case 'bracketed':
      return found.slice(1, -1).replaceAll(']]', ']')
    case 'string':
      return found.slice(1, -1).replaceAll(found.startsWith("'") ? "''" : '""', found[0] ?? '')
    case 'parameter':
      return found.slice(1)
    default:
      return found
  }
}
