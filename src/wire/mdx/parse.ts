/**
 * Parses MDX statements: SELECT with its formulas, axes and subselects, DRILLTHROUGH and REFRESH CUBE. Those on a
 * session's members and sets are read in parse-session.ts. What is none of these is refused by its first words.
 */

import {
  axisNames,
  type MdxAxis,
  type MdxExpression,
  type MdxFrom,
  type MdxSelect,
  type MdxStatement,
  type NamePart,
  type ReturnedColumn,
  returnedParts,
} from './ast.ts'
import { MdxCursor } from './cursor.ts'
import { parseMdxExpression, parseMdxName } from './parse-expression.ts'
import { parseFormulas } from './parse-formulas.ts'
import { parseCreate, parseDrop } from './parse-session.ts'
import { tokenizeMdx } from './tokens.ts'

const axesMax = 5

/** One statement. @throws Fault `bad_request` for anything that is not read */
export function parseMdx(text: string): MdxStatement {
  const cursor = new MdxCursor(tokenizeMdx(text))
  const statement = parseStatement(cursor)
  cursor.symbol(';')
  if (cursor.peek().kind !== 'end') cursor.fail('the end of the statement is expected')
  return statement
}

function parseStatement(cursor: MdxCursor): MdxStatement {
  if (cursor.isWord('SELECT') || cursor.isWord('WITH')) return parseSelect(cursor)
  if (cursor.words('DRILLTHROUGH')) return parseDrillthrough(cursor)
  if (cursor.words('REFRESH', 'CUBE')) return { kind: 'refresh', cube: parseCubeName(cursor) }
  if (cursor.words('CREATE')) return parseCreate(cursor)
  if (cursor.words('DROP')) return parseDrop(cursor)
  const { kind, text } = cursor.peek()
  const word = kind === 'word' ? text.toUpperCase().slice(0, 40) : undefined
  return cursor.fail(
    word === undefined ? 'a statement is expected' : `the statement ${word} is not supported`,
  )
}

function parseSelect(cursor: MdxCursor): MdxSelect {
  const formulas = cursor.words('WITH') ? parseFormulas(cursor) : []
  cursor.expectWord('SELECT')
  const axes = parseAxes(cursor)
  const { from, where } = parseSource(cursor)
  const cellProperties: string[] = []
  if (cursor.isWord('CELL') || cursor.isWord('PROPERTIES')) {
    cursor.words('CELL')
    cursor.expectWord('PROPERTIES')
    do cellProperties.push(lastName(cursor, parseMdxName(cursor)).toUpperCase())
    while (cursor.symbol(','))
  }
  return { kind: 'select', formulas, axes, from, where, cellProperties }
}

function lastName(cursor: MdxCursor, parts: readonly NamePart[]): string {
  const last = parts.at(-1)
  return last?.kind === 'name' ? last.name : cursor.fail('a name is expected')
}

function parseAxes(cursor: MdxCursor): readonly MdxAxis[] {
  if (cursor.isWord('FROM')) return []
  const axes: MdxAxis[] = []
  do axes.push(parseAxis(cursor))
  while (cursor.symbol(','))
  axes.sort((left, right) => left.ordinal - right.ordinal)
  if (axes.some(({ ordinal }, index) => ordinal !== index))
    cursor.fail('the axes are COLUMNS, ROWS and so on, each once and without a gap')
  return axes
}

function parseAxis(cursor: MdxCursor): MdxAxis {
  const nonEmpty = cursor.words('NON', 'EMPTY')
  const set = parseMdxExpression(cursor)
  const having = cursor.words('HAVING') ? parseMdxExpression(cursor) : undefined
  const properties: (readonly NamePart[])[] = []
  if (cursor.words('DIMENSION', 'PROPERTIES') || cursor.words('PROPERTIES')) {
    do properties.push(parsePropertyName(cursor))
    while (cursor.symbol(','))
  }
  cursor.expectWord('ON')
  return { ordinal: parseAxisName(cursor), nonEmpty, set, having, properties }
}

/** A property, by its level or alone. Some clients write no dot between a level and the name. */
function parsePropertyName(cursor: MdxCursor): readonly NamePart[] {
  const parts = parseMdxName(cursor)
  const last = parts.at(-1)
  const isOfLevel = last?.kind === 'name' && last.quoted
  return isOfLevel && cursor.peek().kind === 'word' && !cursor.isWord('ON')
    ? [...parts, ...parseMdxName(cursor)]
    : parts
}

function parseAxisName(cursor: MdxCursor): number {
  const { kind, text } = cursor.next()
  if (kind === 'number' && /^\d$/.test(text) && Number(text) < axesMax) return Number(text)
  const word = text.toUpperCase()
  if (kind === 'word' && word === 'AXIS') {
    cursor.expectSymbol('(')
    const ordinal = parseAxisName(cursor)
    cursor.expectSymbol(')')
    return ordinal
  }
  const ordinal = axisNames.findIndex((name) => kind === 'word' && name === word)
  return ordinal < 0 ? cursor.fail('COLUMNS, ROWS or AXIS(n) is expected') : ordinal
}

function parseSource(cursor: MdxCursor): {
  readonly from: MdxFrom
  readonly where: MdxExpression | undefined
} {
  cursor.expectWord('FROM')
  const nonVisual = cursor.words('NON', 'VISUAL')
  // What is said here is so without the word, too.
  if (cursor.isSymbol('(', 1)) cursor.words('VISUAL')
  const from =
    nonVisual || cursor.isSymbol('(')
      ? parseSubselect(cursor, nonVisual)
      : ({ kind: 'cube', name: isCubeLeftOut(cursor) ? '' : parseCubeName(cursor) } as const)
  return { from, where: cursor.words('WHERE') ? parseMdxExpression(cursor) : undefined }
}

/** Cube functions of Excel leave it out: the connection has one. */
function isCubeLeftOut(cursor: MdxCursor): boolean {
  return cursor.isWord('CELL') || cursor.isWord('WHERE') || cursor.peek().kind === 'end'
}

function parseSubselect(cursor: MdxCursor, nonVisual: boolean): MdxFrom {
  return cursor.nested(() => {
    cursor.expectSymbol('(')
    cursor.expectWord('SELECT')
    const axes = parseAxes(cursor)
    const { from, where } = parseSource(cursor)
    cursor.expectSymbol(')')
    return { kind: 'subselect', nonVisual, axes, from, where }
  })
}

function parseCubeName(cursor: MdxCursor): string {
  const parts = parseMdxName(cursor)
  if (parts.length !== 1) cursor.fail('the name of one cube is expected')
  return lastName(cursor, parts)
}

const drillthroughRowsMax = 1_000_000_000

function parseDrillthrough(cursor: MdxCursor): MdxStatement {
  let rowsMax: number | undefined
  if (cursor.words('MAXROWS')) {
    const { kind, text } = cursor.next()
    if (kind !== 'number' || !/^\d+$/.test(text)) cursor.fail('a whole number is expected')
    rowsMax = Math.min(Number(text), drillthroughRowsMax)
  }
  if (cursor.words('FIRSTROWSET')) {
    const { kind, text } = cursor.next()
    if (kind !== 'number' || !/^[01]$/.test(text))
      cursor.fail('the rows of a cell are one rowset: FIRSTROWSET is 0 or 1')
  }
  const select = parseSelect(cursor)
  const columns: ReturnedColumn[] = []
  if (cursor.words('RETURN')) {
    do columns.push(parseReturned(cursor))
    while (cursor.symbol(','))
  }
  return { kind: 'drillthrough', rowsMax, select, columns }
}

/** A column, or a part of its members as `KEY(…)`. */
function parseReturned(cursor: MdxCursor): ReturnedColumn {
  if (!cursor.isSymbol('(', 1)) return { name: parseMdxName(cursor) }
  const part = returnedParts.find((each) => cursor.words(each))
  if (part === undefined) return cursor.fail(`of functions, RETURN takes ${returnedParts.join(', ')}`)
  cursor.expectSymbol('(')
  const name = parseMdxName(cursor)
  // A key has one value here, which some clients number.
  if (part === 'KEY' && cursor.symbol(',')) {
    const { kind, text } = cursor.next()
    if (kind !== 'number' || text !== '0') cursor.fail('a key has one value, which is number 0')
  }
  cursor.expectSymbol(')')
  return { name, part }
}
