/**
 * Splits a graph query into tokens. It repeats nothing of the text in its errors, because they are read by models and
 * kept in logs.
 */

import { Fault } from '../../base/fault.ts'

/** Bounds of one text (docs/reference/graph.md 2.4). */
export const textBounds = { charsMax: 16_384, tokensMax: 2_000 } as const

export interface Token {
  readonly kind: 'name' | 'number' | 'string' | 'parameter' | 'symbol' | 'end'
  /** The name as written; the value of a string; the name of a parameter; the symbol. */
  readonly text: string
  /** Characters before it. */
  readonly at: number
}

/** @throws Fault `bad_request` always */
export function refuse(what: string, at?: number): never {
  throw new Fault('bad_request', `Graph query: ${what}${at === undefined ? '' : ` (character ${at + 1})`}.`)
}

const patterns: readonly (readonly [Token['kind'] | 'space', RegExp])[] = [
  ['space', /[ \t\r\n]+/y],
  ['name', /[A-Za-z_][A-Za-z0-9_]*/y],
  ['number', /(?:\d+(?:\.\d+)?|\.\d+)(?![A-Za-z_0-9])/y],
  ['parameter', /\$[A-Za-z_][A-Za-z0-9_]*/y],
  ['string', /'(?:[^'\\]|\\[\s\S])*'|"(?:[^"\\]|\\[\s\S])*"/y],
  // `..` before `.`, and the long comparisons before the short ones.
  ['symbol', /<>|<=|>=|\.\.|[()[\]{}:,.*=<>-]/y],
]

/** Texts that are refused by name, where they begin a token. */
const refusedTexts: readonly (readonly [string, string])[] = [
  ['//', 'comments are not allowed'],
  ['/*', 'comments are not allowed'],
  ['`', 'names in backticks are not allowed'],
  ['=~', 'regular expressions (=~) are not allowed'],
  ['|', 'a node has one label, and an edge one type'],
  [';', 'a query is one statement without a semicolon'],
  ['+', 'arithmetic is not allowed'],
  ['/', 'arithmetic is not allowed'],
  ['%', 'arithmetic is not allowed'],
  ['^', 'arithmetic is not allowed'],
  ["'", 'a text is not closed'],
  ['"', 'a text is not closed'],
]

/** The tokens of a text, with one of kind `end` last. @throws Fault `bad_request` */
export function tokenize(text: string): readonly Token[] {
  if (text.length > textBounds.charsMax) refuse(`the text has at most ${textBounds.charsMax} characters`)
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    const token = tokenAt(text, at)
    at = token.end
    if (token.kind === 'space') continue
    tokens.push({ kind: token.kind, text: token.text, at: token.at })
    if (tokens.length > textBounds.tokensMax) refuse(`the text has at most ${textBounds.tokensMax} tokens`)
  }
  tokens.push({ kind: 'end', text: '', at })
  return tokens
}

function tokenAt(text: string, at: number) {
  const refused = refusedTexts.find(([start]) => !`'"`.includes(start) && text.startsWith(start, at))
  if (refused !== undefined) refuse(refused[1], at)
  for (const [kind, pattern] of patterns) {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0]
    if (found === undefined) continue
    const end = at + found.length
    if (kind === 'string') return { kind, text: unquote(found, at), at, end }
    return { kind, text: kind === 'parameter' ? found.slice(1) : found, at, end }
  }
  const unclosed = refusedTexts.find(([start]) => text.startsWith(start, at))
  return refuse(unclosed?.[1] ?? 'a character is not part of the language', at)
}

const escapes: Readonly<Record<string, string>> = {
  '\\': '\\',
  "'": "'",
  '"': '"',
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
}

function unquote(quoted: string, at: number): string {
  return quoted
    .slice(1, -1)
    .replace(/\\(?:u([0-9A-Fa-f]{4})|([\s\S]))/g, (_, hex?: string, letter?: string) => {
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16))
      return escapes[letter ?? ''] ?? refuse('an escape in a text is not allowed', at)
    })
}
