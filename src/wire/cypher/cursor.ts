/** Reads tokens one after another; keywords are read without regard to case. */

import { refuse, type Token } from './tokens.ts'

/** Levels of brackets, NOT and lists in an expression. */
const depthMax = 32

export class TokenCursor {
  readonly #tokens: readonly Token[]
  #at = 0
  #depth = 0

  /** @param tokens with an `end` last */
  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  /** The token that many places later. */
  peek(places = 0): Token {
    return (this.#tokens[this.#at + places] ?? this.#tokens.at(-1)) as Token
  }

  next(): Token {
    const token = this.peek()
    if (token.kind !== 'end') this.#at++
    return token
  }

  isSymbol(text: string, places = 0): boolean {
    const token = this.peek(places)
    return token.kind === 'symbol' && token.text === text
  }

  isWord(word: string, places = 0): boolean {
    const token = this.peek(places)
    return token.kind === 'name' && token.text.toUpperCase() === word
  }

  /** Takes the symbol where it is next. @returns whether it was */
  symbol(text: string): boolean {
    const found = this.isSymbol(text)
    if (found) this.next()
    return found
  }

  /** Takes these keywords where they are next. @returns whether they were */
  words(...words: readonly string[]): boolean {
    const found = words.every((word, index) => this.isWord(word, index))
    if (found) this.#at += words.length
    return found
  }

  /** @throws Fault `bad_request` where the symbol is not next */
  expectSymbol(text: string): void {
    if (!this.symbol(text)) this.fail(`\`${text}\` is expected`)
  }

  /** @throws Fault `bad_request` where the keyword is not next */
  expectWord(word: string): void {
    if (!this.words(word)) this.fail(`${word} is expected`)
  }

  /** A name. @throws Fault `bad_request` */
  name(what: string): string {
    const token = this.peek()
    if (token.kind !== 'name') this.fail(`${what} is expected`)
    return this.next().text
  }

  /** Reads what is nested. @throws Fault `bad_request` where that is too deep */
  nested<T>(read: () => T): T {
    if (this.#depth === depthMax) this.fail(`an expression has at most ${depthMax} levels`)
    this.#depth++
    const result = read()
    this.#depth--
    return result
  }

  /** @throws Fault `bad_request` at the next token */
  fail(what: string): never {
    return refuse(what, this.peek().at)
  }
}
