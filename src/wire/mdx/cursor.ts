/** Reads the tokens of an MDX statement, and counts its operators. */

import { TokenCursor } from '../token-cursor.ts'
import { type MdxToken, mdxBounds, refuseMdx } from './tokens.ts'

export class MdxCursor extends TokenCursor<MdxToken> {
  #operators = 0

  constructor(tokens: readonly MdxToken[]) {
    super(tokens, { word: 'word', depthMax: mdxBounds.depthMax, refuse: refuseMdx })
  }

  /** Takes the next token and a symbol behind it, where the symbol stands there. @returns whether it did */
  symbolAfter(text: string): boolean {
    if (!this.isSymbol(text, 1)) return false
    this.next()
    this.next()
    return true
  }

  /** Notes that an operator was read. @throws Fault `bad_request` where there are too many */
  noteOperator(): void {
    this.#operators++
    if (this.#operators > mdxBounds.operatorsMax)
      this.fail(`a statement has at most ${mdxBounds.operatorsMax} operators`)
  }
}
