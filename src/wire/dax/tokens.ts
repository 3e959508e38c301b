/**
 * Splits a DAX query into tokens. Errors name a place and what is wrong there; they repeat names of the language, never
 * names of data.
 */

import { Fault } from '../../base/fault.ts'
import { eachInTurns } from '../../base/in-turns.ts'

/** Bounds of one query (docs/reference/limits.md). */
export const daxBounds = {
  charsMax: 1_000_000,
  tokensMax: 200_000,
  nameCharsMax: 16_384,
  /** Of a text that is written, or made of others. */
  textCharsMax: 32_768,
  /** Of brackets, calls and operators within each other. */
  depthMax: 64,
  /** Operators of a query, because each may nest in the one before. */
  operatorsMax: 2_000,
  /** Variables of a query. */
  variablesMax: 500,
} as const

export interface DaxToken {
  readonly kind: 'word' | 'quoted' | 'bracketed' | 'number' | 'text' | 'parameter' | 'symbol' | 'end'
  /** A word as written; the name within quotes or brackets; the value of a text; the symbol. */
  readonly text: string
  /** Characters before it. */
  readonly at: number
}

/** @throws Fault `bad_request` always */
export function refuseDax(what: string, at?: number): never {
  throw new Fault('bad_request', `DAX: ${what}${at === undefined ? '' : ` (character ${at + 1})`}.`)
}

const patterns: readonly (readonly [DaxToken['kind'] | 'space', RegExp])[] = [
  ['space', /(?:[\s\uFEFF]+|--[^\n]*|\/\/[^\n]*|\/\*[\s\S]*?\*\/)/y],
  ['bracketed', /\[(?:[^\]]|\]\])*\]/y],
  ['quoted', /'(?:[^']|'')*'/y],
  ['text', /"(?:[^"]|"")*"/y],
  ['word', /[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)*/uy],
  ['number', /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y],
  ['parameter', /@[\p{L}_][\p{L}\p{N}_]*/uy],
  ['symbol', /<>|<=|>=|==|&&|\|\||[(){},&*/+\-^=<>;]/y],
]

const unclosed: Readonly<Record<string, string>> = {
  "'": 'a name is not closed',
  '"': 'a text is not closed',
  '[': 'a bracket is not closed',
}

/** The tokens of a query, with one of kind `end` last. @throws Fault `bad_request` */
export function tokenizeDax(text: string): readonly DaxToken[] {
  return [...tokensOf(text)]
}

/** The same, in turns of the event loop. @throws Fault `bad_request`; the signal's reason once it has fired */
export async function tokenizeDaxInTurns(
  text: string,
  signal: AbortSignal | undefined,
): Promise<readonly DaxToken[]> {
  const tokens: DaxToken[] = []
  await eachInTurns(tokensOf(text), signal, (token) => tokens.push(token))
  return tokens
}

function* tokensOf(text: string): Generator<DaxToken> {
  if (text.length > daxBounds.charsMax) refuseDax(`a query has at most ${daxBounds.charsMax} characters`)
  if (text.includes('\0')) refuseDax('a character is not part of the language', text.indexOf('\0'))
  let [at, count] = [0, 0]
  while (at < text.length) {
    const [kind, found] = tokenAt(text, at)
    if (kind !== 'space') {
      if (++count > daxBounds.tokensMax) refuseDax(`a query has at most ${daxBounds.tokensMax} tokens`)
      yield { kind, text: tokenText(kind, found, at), at }
    }
    at += found.length
  }
  yield { kind: 'end', text: '', at }
}

function tokenAt(text: string, at: number): readonly [DaxToken['kind'] | 'space', string] {
  if (text.startsWith('/*', at) && text.indexOf('*/', at + 2) < 0) refuseDax('a comment is not closed', at)
  for (const [kind, pattern] of patterns) {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0]
    if (found !== undefined) return [kind, found]
  }
  return refuseDax(unclosed[text[at] ?? ''] ?? 'a character is not part of the language', at)
}

function tokenText(kind: DaxToken['kind'], found: string, at: number): string {
  const value = unquoted(kind, found)
  if (kind !== 'text' && value.length > daxBounds.nameCharsMax)
    refuseDax(`a name has at most ${daxBounds.nameCharsMax} characters`, at)
  if (kind === 'text' && value.length > daxBounds.textCharsMax)
    refuseDax(`a text has at most ${daxBounds.textCharsMax} characters`, at)
  return value
}

function unquoted(kind: DaxToken['kind'], found: string): string {
  if (kind === 'parameter') return found.slice(1)
  if (kind !== 'bracketed' && kind !== 'quoted' && kind !== 'text') return found
  const last = found.at(-1) ?? ''
  return found.slice(1, -1).replaceAll(last + last, last)
}
