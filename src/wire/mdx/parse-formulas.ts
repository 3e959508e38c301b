/** Parses the members and sets that a statement or a session defines: their names, formulas and properties. */

import type { MdxExpression, MdxFormula } from './ast.ts'
import type { MdxCursor } from './cursor.ts'
import { parseMdxExpression, parseMdxName, parseMdxText } from './parse-expression.ts'

/** What WITH defines, after that word. @throws Fault `bad_request` */
export function parseFormulas(cursor: MdxCursor): readonly MdxFormula[] {
  const found: MdxFormula[] = []
  for (;;) {
    if (cursor.words('MEMBER') || cursor.words('CALCULATED', 'MEMBER'))
      found.push(parseFormula(cursor, 'member'))
    else if (cursor.words('SET')) found.push(parseFormula(cursor, 'set'))
    else if (cursor.isWord('CELL') || cursor.isWord('CALCULATED'))
      cursor.fail('WITH CELL CALCULATION is not supported')
    else if (found.length === 0) cursor.fail('MEMBER or SET is expected')
    else return found
    // Some clients separate formulas by commas.
    if (cursor.isWord('MEMBER', 1) || cursor.isWord('SET', 1)) cursor.symbol(',')
  }
}

/** A name, AS, an expression and properties. @throws Fault `bad_request` */
export function parseFormula(cursor: MdxCursor, kind: MdxFormula['kind']): MdxFormula {
  const name = parseMdxName(cursor)
  cursor.expectWord('AS')
  const expression = parseFormulaText(cursor)
  const properties: { name: string; value: MdxExpression }[] = []
  while (cursor.isSymbol(',') && cursor.isSymbol('=', 2)) {
    cursor.next()
    const { kind: of, text } = cursor.next()
    if (of !== 'word' && of !== 'bracketed') cursor.fail('the name of a property is expected')
    cursor.expectSymbol('=')
    properties.push({ name: text.toUpperCase(), value: parseMdxExpression(cursor) })
  }
  return { kind, name, expression, properties }
}

/** Words of which one may follow a formula. */
const formulaEnds = new Set(['MEMBER', 'SET', 'SELECT', 'CALCULATED', 'HIDDEN', 'STATIC', 'DYNAMIC'])

/** A formula stands as it is, or within quotes. */
function parseFormulaText(cursor: MdxCursor): MdxExpression {
  const { kind, text } = cursor.peek()
  const after = cursor.peek(1)
  const isWhole =
    after.kind === 'end' ||
    (after.kind === 'symbol' && [',', ';'].includes(after.text)) ||
    (after.kind === 'word' && formulaEnds.has(after.text.toUpperCase()))
  if (kind !== 'string' || !isWhole) return parseMdxExpression(cursor)
  cursor.next()
  return cursor.nested(() => parseMdxText(text))
}
