/**
 * Parses MDX statements: SELECT with its formulas, axes and subselects, DRILLTHROUGH, REFRESH CUBE, and CREATE or DROP
 * of a session's members and sets. What is none of these is refused by its first words.
 */

import {
  axisNames,
  type MdxAxis,
  type MdxExpression,
  type MdxFormula,
  type MdxFrom,
  type MdxSelect,
  type MdxStatement,
  type NamePart,
} from './ast.ts'
import { MdxCursor } from './cursor.ts'
import { parseMdxExpression, parseMdxName } from './parse-expression.ts'
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

/** One expression, such as the text of StrToSet. @throws Fault `bad_request` */
export function parseMdxText(text: string): MdxExpression {
  const cursor = new MdxCursor(tokenizeMdx(text))
  const expression = parseMdxExpression(cursor)
  if (cursor.peek().kind !== 'end') cursor.fail('the end of the expression is expected')
  return expression
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

function parseFormulas(cursor: MdxCursor): readonly MdxFormula[] {
  const found: MdxFormula[] = []
  for (;;) {
    if (cursor.words('MEMBER')) found.push(parseFormula(cursor, 'member'))
    else if (cursor.words('SET')) found.push(parseFormula(cursor, 'set'))
    else if (cursor.isWord('CELL') || cursor.isWord('CALCULATED'))
      cursor.fail('WITH CELL CALCULATION is not supported')
    else if (found.length === 0) cursor.fail('MEMBER or SET is expected')
    else return found
    // Some clients separate formulas by commas.
    if (cursor.isWord('MEMBER', 1) || cursor.isWord('SET', 1)) cursor.symbol(',')
  }
}

function parseFormula(cursor: MdxCursor, kind: MdxFormula['kind']): MdxFormula {
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

/** A formula stands as it is, or within quotes. */
function parseFormulaText(cursor: MdxCursor): MdxExpression {
  const { kind, text } = cursor.peek()
  const after = cursor.peek(1)
  const isWhole =
    after.kind === 'end' ||
    (after.kind === 'symbol' && [',', ';'].includes(after.text)) ||
    (after.kind === 'word' && ['MEMBER', 'SET', 'SELECT'].includes(after.text.toUpperCase()))
  if (kind !== 'string' || !isWhole) return parseMdxExpression(cursor)
  cursor.next()
  return cursor.nested(() => parseMdxText(text))
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
    do properties.push(parseMdxName(cursor))
    while (cursor.symbol(','))
  }
  cursor.expectWord('ON')
  return { ordinal: parseAxisName(cursor), nonEmpty, set, having, properties }
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
  const from =
    nonVisual || cursor.isSymbol('(')
      ? parseSubselect(cursor, nonVisual)
      : ({ kind: 'cube', name: parseCubeName(cursor) } as const)
  return { from, where: cursor.words('WHERE') ? parseMdxExpression(cursor) : undefined }
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
  if (cursor.isWord('FIRSTROWSET')) cursor.fail('FIRSTROWSET is not supported')
  const select = parseSelect(cursor)
  const columns: (readonly NamePart[])[] = []
  if (cursor.words('RETURN')) {
    do columns.push(parseMdxName(cursor))
    while (cursor.symbol(','))
  }
  return { kind: 'drillthrough', rowsMax, select, columns }
}

function parseCreate(cursor: MdxCursor): MdxStatement {
  const session = cursor.words('SESSION')
  const hidden = cursor.words('HIDDEN')
  if (cursor.isWord('CALCULATED')) cursor.next()
  const kind = cursor.words('MEMBER') ? 'member' : cursor.words('SET') ? 'set' : undefined
  if (kind === undefined || hidden)
    return cursor.fail('of CREATE, only CREATE SESSION MEMBER and SET are supported')
  if (!session) cursor.fail('what is created lasts for a session: write CREATE SESSION')
  const formula = parseFormula(cursor, kind)
  const [cube, ...name] = formula.name
  if (cube?.kind !== 'name' || name.length === 0) return cursor.fail('a name begins with that of the cube')
  return { kind: 'create', cube: cube.name, formula: { ...formula, name } }
}

function parseDrop(cursor: MdxCursor): MdxStatement {
  cursor.words('SESSION')
  const of = cursor.words('MEMBER') ? 'member' : cursor.words('SET') ? 'set' : undefined
  if (of === undefined) return cursor.fail('of DROP, only DROP MEMBER and SET are supported')
  const names: (readonly NamePart[])[] = []
  const cubes = new Set<string>()
  do {
    const [first, ...name] = parseMdxName(cursor)
    if (first?.kind !== 'name' || name.length === 0) return cursor.fail('a name begins with that of the cube')
    cubes.add(first.name)
    names.push(name)
  } while (cursor.symbol(','))
  const [cube = '', ...more] = cubes
  if (more.length > 0) cursor.fail('one statement drops what one cube has')
  return { kind: 'drop', of, cube, names }
}
