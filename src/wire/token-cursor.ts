/**
 * Reads the tokens of a statement one after another, for parsers that are written by hand. Keywords are read without
 * regard to case. What the tokens are, and how a refusal is worded, is each language's own.
 */

/** A piece of a statement. */
interface CursorToken {
  readonly kind: string
  readonly text: string
  /** The place of its first character. */
  readonly at: number
}

/** What differs between languages. */
interface TokenRules<T extends CursorToken> {
  /** The kind of token that a keyword has. */
  readonly word: T['kind']
  /** Levels to which expressions may be nested. */
  readonly depthMax: number
  /** Throws the refusal of a statement. */
  readonly refuse: (what: string, at: number) => never
}

export class TokenCursor<T extends CursorToken> {
  readonly #tokens: readonly T[]
  readonly #rules: TokenRules<T>
  #at = 0
  #depth = 0

  /** @param tokens with one of the kind `end` last */
  constructor(tokens: readonly T[], rules: TokenRules<T>) {
    this.#tokens = tokens
    this.#rules = rules
  }

  /** The token that many places later. */
  peek(places = 0): T {
    return (this.#tokens[this.#at + places] ?? this.#tokens.at(-1)) as T
  }

  next(): T {
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
    return token.kind === this.#rules.word && token.text.toUpperCase() === word
  }

  /** Takes the symbol where it is next. @returns whether it was */
  symbol(text: string): boolean {
    const found = this.isSymbol(text)
    if (found) this.#at++
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

  /** Reads what is nested. @throws Fault `bad_request` where that is too deep */
  nested<R>(read: () => R): R {
    const { depthMax } = this.#rules
    if (this.#depth === depthMax) this.fail(`an expression has at most ${depthMax} levels`)
    this.#depth++
    const result = read()
    this.#depth--
    return result
  }

  /** @throws Fault `bad_request` at the next token */
  fail(what: string): never {
    return this.#rules.refuse(what, this.peek().at)
  }
}
