/** Reads the tokens of a DAX query, and counts its operators and variables. */

import { TokenCursor } from '../token-cursor.ts'
import { type DaxToken, daxBounds, refuseDax } from './tokens.ts'

export class DaxCursor extends TokenCursor<DaxToken> {
  #operators = 0
  #variables = 0

  /** @param tokens with one of kind `end` last */
  constructor(tokens: readonly DaxToken[]) {
    super(tokens, { word: 'word', depthMax: daxBounds.depthMax, refuse: refuseDax })
  }

  /** A word, or a name in quotes. */
  name(): string {
    const { kind, text } = this.peek()
    if (kind !== 'word' && kind !== 'quoted') this.fail('a name is expected')
    this.next()
    return text
  }

  /** Notes that an operator was read. @throws Fault `bad_request` where there are too many */
  noteOperator(): void {
    if (++this.#operators > daxBounds.operatorsMax)
      this.fail(`a query has at most ${daxBounds.operatorsMax} operators`)
  }

  /** Notes that a variable begins. @throws Fault `bad_request` where there are too many */
  noteVariable(): void {
    if (++this.#variables > daxBounds.variablesMax)
      this.fail(`a query has at most ${daxBounds.variablesMax} variables`)
  }
}
