/** Reads the tokens of a graph query. */

import { TokenCursor } from '../token-cursor.ts'
import { refuse, type Token } from './tokens.ts'

/** Levels of brackets, NOT and lists in an expression. */
const depthMax = 32

export class CypherCursor extends TokenCursor<Token> {
  constructor(tokens: readonly Token[]) {
    super(tokens, { word: 'name', depthMax, refuse })
  }

  /** A name. @throws Fault `bad_request` */
  name(what: string): string {
    const token = this.peek()
    if (token.kind !== 'name') this.fail(`${what} is expected`)
    return this.next().text
  }
}
