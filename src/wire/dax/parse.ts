/**
 * Parses DAX queries: DEFINE with variables and measures, EVALUATE with ORDER BY and START AT. What a model may hold and a
 * query may not bind here is refused by name, such as parameters of a source.
 */

import type { DaxEvaluation, DaxExpression, DaxMeasure, DaxOrder, DaxQuery, DaxVariable } from './ast.ts'
import { DaxCursor } from './cursor.ts'
import { parseExpression, parseVariable } from './parse-expression.ts'
import { type DaxToken, refuseDax, tokenizeDax } from './tokens.ts'

const spaces = /^(?:[\s\uFEFF]|--[^\n]*(?:\n|$)|\/\/[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*/

/** Whether a statement is DAX, well formed or not: MDX begins with none of these words. */
export function isDax(text: string): boolean {
  const start = text.replace(spaces, '')
  return /^(?:EVALUATE|DEFINE)\b/i.test(start)
}

const evaluationsMax = 50

/** @throws Fault `bad_request` with the place of the error */
export function parseDax(text: string): DaxQuery {
  return parseDaxTokens(tokenizeDax(text))
}

/** The same of the query's tokens. @throws Fault `bad_request` with the place of the error */
export function parseDaxTokens(tokens: readonly DaxToken[]): DaxQuery {
  const cursor = new DaxCursor(tokens)
  const variables: DaxVariable[] = []
  const measures: DaxMeasure[] = []
  if (cursor.words('DEFINE')) parseDefinitions(cursor, variables, measures)
  const evaluations: DaxEvaluation[] = []
  while (cursor.words('EVALUATE')) {
    evaluations.push(parseEvaluation(cursor))
    if (evaluations.length > evaluationsMax) refuseDax(`a query has at most ${evaluationsMax} results`)
    cursor.symbol(';')
  }
  if (evaluations.length === 0) cursor.fail('EVALUATE is expected')
  if (cursor.peek().kind !== 'end') cursor.fail('the query should end')
  return { variables, measures, evaluations }
}

function parseDefinitions(cursor: DaxCursor, variables: DaxVariable[], measures: DaxMeasure[]): void {
  for (;;) {
    if (cursor.words('VAR')) variables.push(parseVariable(cursor))
    else if (cursor.words('MEASURE')) measures.push(parseMeasure(cursor))
    else if (cursor.isWord('MPARAMETER'))
      refuseDax('MPARAMETER binds a parameter of the source, and this model has none', cursor.peek().at)
    else if (cursor.isWord('COLUMN') || cursor.isWord('TABLE') || cursor.isWord('FUNCTION'))
      refuseDax(`DEFINE ${cursor.peek().text.toUpperCase()} is not supported`, cursor.peek().at)
    else return
  }
}

function parseMeasure(cursor: DaxCursor): DaxMeasure {
  const table = cursor.name()
  const { kind, text } = cursor.peek()
  if (kind !== 'bracketed') cursor.fail('the name of a measure in brackets is expected')
  cursor.next()
  cursor.expectSymbol('=')
  return { table, name: text, value: parseExpression(cursor) }
}

function parseEvaluation(cursor: DaxCursor): DaxEvaluation {
  const table = parseExpression(cursor)
  const order: DaxOrder[] = []
  const startAt: DaxExpression[] = []
  if (cursor.words('ORDER')) {
    cursor.expectWord('BY')
    do order.push(parseOrder(cursor))
    while (cursor.symbol(','))
    if (cursor.words('START')) {
      cursor.expectWord('AT')
      do startAt.push(parseExpression(cursor))
      while (cursor.symbol(','))
      if (startAt.length > order.length) cursor.fail('START AT has more values than ORDER BY')
    }
  }
  return { table, order, startAt }
}

function parseOrder(cursor: DaxCursor): DaxOrder {
  const by = parseExpression(cursor)
  const descending = cursor.words('DESC')
  if (!descending) cursor.words('ASC')
  return { by, descending }
}
