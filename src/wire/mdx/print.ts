/** Writes a syntax tree as MDX that parses to the same tree. Used to record formulas and to explain statements. */

import { quoteText } from '../../base/sql-text.ts'
import {
  axisNames,
  type MdxAxis,
  type MdxExpression,
  type MdxFormula,
  type MdxFrom,
  type MdxSelect,
  type MdxStatement,
  type NamePart,
  type ReturnedColumn,
} from './ast.ts'

const bracketed = (name: string) => `[${name.replaceAll(']', ']]')}]`
const quotedText = (text: string) => `"${text.replaceAll('"', '""')}"`

/** A name as it stands in a statement. */
function printMdxName(parts: readonly NamePart[]): string {
  return parts
    .map((part) => {
      if (part.kind === 'key') return part.key === null ? '&' : `&${bracketed(part.key)}`
      return part.quoted ? bracketed(part.name) : part.name
    })
    .join('.')
}

const list = (items: readonly (MdxExpression | undefined)[]) =>
  items.map((item) => (item === undefined ? '' : printMdxExpression(item))).join(', ')

/** An operand that has operators of its own stands in parentheses where it was parsed from some. */
export function printMdxExpression(expression: MdxExpression): string {
  switch (expression.kind) {
    case 'name':
      return printMdxName(expression.parts)
    case 'number':
      return String(expression.value)
    case 'string':
      return quotedText(expression.value)
    case 'null':
      return 'NULL'
    case 'parameter':
      return `@${expression.name}`
    case 'set':
      return `{${list(expression.items)}}`
    case 'tuple':
      return `(${list(expression.items)})`
    case 'call':
      return `${expression.name}(${list(expression.arguments)})`
    case 'property':
      return `${printMdxExpression(expression.of)}.${expression.name}`
    case 'method':
      return `${printMdxExpression(expression.of)}.${expression.name}(${list(expression.arguments)})`
    case 'binary':
      return `${printMdxExpression(expression.left)} ${expression.operator} ${printMdxExpression(expression.right)}`
    case 'not':
      return `NOT ${printMdxExpression(expression.operand)}`
    case 'negative':
      // A blank, because two hyphens begin a comment.
      return `- ${printMdxExpression(expression.operand)}`
    case 'existing':
      return `EXISTING ${printMdxExpression(expression.operand)}`
    case 'alias':
      return `${printMdxExpression(expression.of)} AS ${bracketed(expression.name)}`
    case 'case': {
      const { of, branches, otherwise } = expression
      const written = branches.map(
        ({ when, result }) => ` WHEN ${printMdxExpression(when)} THEN ${printMdxExpression(result)}`,
      )
      const last = otherwise === undefined ? '' : ` ELSE ${printMdxExpression(otherwise)}`
      return `CASE${of === undefined ? '' : ` ${printMdxExpression(of)}`}${written.join('')}${last} END`
    }
  }
}

function printFormula(
  { kind, name, expression, properties }: MdxFormula,
  before: readonly NamePart[] = [],
): string {
  const written = properties.map(
    (property) => `, ${bracketed(property.name)} = ${printMdxExpression(property.value)}`,
  )
  // A text alone would be read as a formula within quotes.
  const text = printMdxExpression(expression)
  const formula = expression.kind === 'string' ? quoteText(text) : text
  return `${kind.toUpperCase()} ${printMdxName([...before, ...name])} AS ${formula}${written.join('')}`
}

function printAxis({ ordinal, nonEmpty, set, having, properties }: MdxAxis): string {
  const condition = having === undefined ? '' : ` HAVING ${printMdxExpression(having)}`
  const named =
    properties.length === 0 ? '' : ` DIMENSION PROPERTIES ${properties.map(printMdxName).join(', ')}`
  return `${nonEmpty ? 'NON EMPTY ' : ''}${printMdxExpression(set)}${condition}${named} ON ${axisNames[ordinal] ?? ordinal}`
}

function printSource(from: MdxFrom, where: MdxExpression | undefined): string {
  const condition = where === undefined ? '' : ` WHERE ${printMdxExpression(where)}`
  if (from.kind === 'cube') return ` FROM ${bracketed(from.name)}${condition}`
  const axes = from.axes.map(printAxis).join(', ')
  const inner = `SELECT ${axes}${printSource(from.from, from.where)}`
  return ` FROM ${from.nonVisual ? 'NON VISUAL ' : ''}(${inner})${condition}`
}

function printSelect({ formulas, axes, from, where, cellProperties }: MdxSelect): string {
  const before = formulas.length === 0 ? '' : `WITH ${formulas.map((each) => printFormula(each)).join(' ')} `
  const after =
    cellProperties.length === 0 ? '' : ` CELL PROPERTIES ${cellProperties.map(bracketed).join(', ')}`
  return `${before}SELECT ${axes.map(printAxis).join(', ')}${printSource(from, where)}${after}`
}

const printReturned = ({ name, part }: ReturnedColumn) =>
  part === undefined ? printMdxName(name) : `${part}(${printMdxName(name)})`

const cubePart = (cube: string | undefined): NamePart => ({
  ...{ kind: 'name', name: cube ?? 'CURRENTCUBE', quoted: cube !== undefined },
})

function printCreated(formula: MdxFormula, cube: NamePart): string {
  const hidden = formula.isHidden ? 'HIDDEN ' : ''
  const dynamic = formula.kind === 'set' && !formula.isStatic ? 'DYNAMIC ' : ''
  return `${hidden}${dynamic}${printFormula(formula, [cube])}`
}

/** A whole statement. */
export function printMdx(statement: MdxStatement): string {
  switch (statement.kind) {
    case 'select':
      return printSelect(statement)
    case 'drillthrough': {
      const { rowsMax, select, columns } = statement
      const returned = columns.length === 0 ? '' : ` RETURN ${columns.map(printReturned).join(', ')}`
      return `DRILLTHROUGH ${rowsMax === undefined ? '' : `MAXROWS ${rowsMax} `}${printSelect(select)}${returned}`
    }
    case 'refresh':
      return `REFRESH CUBE ${bracketed(statement.cube)}`
    case 'create': {
      const formulas = statement.formulas.map((each) => printCreated(each, cubePart(statement.cube)))
      return `CREATE SESSION ${formulas.join(' ')}`
    }
    case 'drop': {
      const names = statement.names.map((name) => printMdxName([cubePart(statement.cube), ...name]))
      return `DROP ${statement.of.toUpperCase()} ${names.join(', ')}`
    }
  }
}
