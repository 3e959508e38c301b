/**
 * Small faults of one source file, each one change of its text at a node of its syntax tree. Reads no file, and does not
 * know whether a fault changes what the program does.
 */

import { type CallExpression, type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast'
import {
  isArrayLiteralExpression,
  isArrowFunction,
  isBinaryExpression,
  isCallExpression,
  isConditionalExpression,
  isExpressionStatement,
  isFunctionDeclaration,
  isIdentifier,
  isIfStatement,
  isImportDeclaration,
  isInterfaceDeclaration,
  isNewExpression,
  isNumericLiteral,
  isObjectLiteralExpression,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
  isReturnStatement,
  isSpreadElement,
  isStringLiteral,
  isThrowStatement,
  isTypeAliasDeclaration,
  isTypeNode,
  isVariableDeclaration,
} from 'typescript/unstable/ast/is'

/** A text that replaces the characters from `start` to `end`. */
export interface Fault {
  readonly start: number
  readonly end: number
  readonly text: string
  /** The kind of fault, such as `a boundary moved`. */
  readonly kind: string
}

const boundaries: Readonly<Record<string, string>> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' }
const equalities: Readonly<Record<string, string>> = { '===': '!==', '!==': '===' }
const opposites: Readonly<Record<string, string>> = { some: 'every', every: 'some', min: 'max', max: 'min' }
const narrowing = new Set(['filter', 'slice'])
const matching = new Set(['startsWith', 'endsWith', 'includes', 'has', 'get'])

/** Every fault of a file, in the order of its text. */
export function faultsOf(file: SourceFile): readonly Fault[] {
  const faults: Fault[] = []
  const walk = (node: Node): void => {
    // Types decide nothing, and a message is not worth a test.
    if (isTypeNode(node) || isImportDeclaration(node) || isInterfaceDeclaration(node)) return
    if (isTypeAliasDeclaration(node) || isNewExpression(node)) return
    faults.push(...faultsAt(node, file))
    node.forEachChild(walk)
  }
  file.forEachChild(walk)
  return faults.sort((a, b) => a.start - b.start || a.end - b.end || (a.text < b.text ? -1 : 1))
}

function faultsAt(node: Node, file: SourceFile): readonly Fault[] {
  const change = (at: Node, text: string, kind: string): Fault => ({
    start: at.getStart(file),
    end: at.getEnd(),
    text,
    kind,
  })
  const textOf = (at: Node) => at.getText(file)
  if (isBinaryExpression(node)) {
    const operator = textOf(node.operatorToken)
    const [boundary, equality] = [boundaries[operator], equalities[operator]]
    if (boundary !== undefined) return [change(node.operatorToken, boundary, 'a boundary moved')]
    if (equality !== undefined) return [change(node.operatorToken, equality, 'a comparison turned round')]
    if (operator !== '&&' && operator !== '||') return []
    const kind = operator === '&&' ? 'a condition left out' : 'an alternative left out'
    return [node.left, node.right].map((kept) => change(node, textOf(kept), kind))
  }
  if (isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken)
    return [change(node, textOf(node.operand), 'a negation left out')]
  if (isIfStatement(node)) {
    const { expression, thenStatement, elseStatement } = node
    const turned = change(expression, `!(${textOf(expression)})`, 'a condition turned round')
    return [
      ...(isTold(expression) ? [] : [turned]),
      ...(leaves(thenStatement) && elseStatement === undefined
        ? [change(node, '{}', 'an exit left out')]
        : []),
    ]
  }
  if (isConditionalExpression(node)) {
    const { condition, whenTrue, whenFalse } = node
    return [whenTrue, whenFalse].map((kept) =>
      change(node, textOf(kept), `always as if ${textOf(condition)} were ${kept === whenTrue}`),
    )
  }
  if (isArrayLiteralExpression(node))
    return node.elements.map((element) => without(node.elements, element, file, 'an entry left out'))
  if (isObjectLiteralExpression(node) && isTable(node))
    return node.properties.map((property) => without(node.properties, property, file, 'an entry left out'))
  if (isNumericLiteral(node))
    return [change(node, String(Number(textOf(node).replaceAll('_', '')) + 1), 'a constant changed')]
  if (node.kind === SyntaxKind.TrueKeyword) return [change(node, 'false', 'a constant changed')]
  if (node.kind === SyntaxKind.FalseKeyword) return [change(node, 'true', 'a constant changed')]
  if (isExpressionStatement(node) && isCallExpression(node.expression))
    return [change(node, '', 'a call left out')]
  if (isCallExpression(node)) return faultsOfCall(node, change, textOf)
  return []
}

type Change = (at: Node, text: string, kind: string) => Fault

function faultsOfCall(node: CallExpression, change: Change, textOf: (at: Node) => string): readonly Fault[] {
  const { expression } = node
  const args = [...node.arguments]
  const [first, second] = args
  const faults: Fault[] = []
  if (isPropertyAccessExpression(expression)) {
    const { name } = expression
    const opposite = opposites[textOf(name)]
    if (opposite !== undefined) faults.push(change(name, opposite, 'a call of the opposite'))
    if (narrowing.has(textOf(name)))
      faults.push(change(node, textOf(expression.expression), 'a call left out'))
    if (first !== undefined && isStringLiteral(first) && matching.has(textOf(name)))
      faults.push(change(first, `'${textOf(first).slice(1, -1)}~'`, 'a constant changed'))
  }
  if (first !== undefined && second !== undefined && args.length === 2 && isNamed(first) && isNamed(second)) {
    const [a, b] = [textOf(first), textOf(second)]
    const swapped = change(node, `${textOf(expression)}(${b}, ${a})`, 'arguments swapped')
    if (a !== b) faults.push(swapped)
  }
  return faults
}

/** One element of a list left out, with the comma that follows it, or else the one before. */
function without(list: readonly Node[], element: Node, file: SourceFile, kind: string): Fault {
  const index = list.indexOf(element)
  const [before, after] = [list[index - 1], list[index + 1]]
  const start = after === undefined && before !== undefined ? before.getEnd() : element.getStart(file)
  return { start, end: after === undefined ? element.getEnd() : after.getStart(file), text: '', kind }
}

/** Whether the condition has a fault of its own that turns it round. */
function isTold(condition: Node): boolean {
  return isPrefixUnaryExpression(condition) || isBinaryExpression(condition)
}

/** Whether a statement does nothing but end what runs. */
function leaves(statement: Node): boolean {
  let only = statement
  if (statement.kind === SyntaxKind.Block) {
    const inside: Node[] = []
    statement.forEachChild((child) => void inside.push(child))
    const [first] = inside
    if (first === undefined || inside.length !== 1) return false
    only = first
  }
  return isReturnStatement(only) || isThrowStatement(only) || only.kind === SyntaxKind.ContinueStatement
}

/** Whether an object is a constant of the file, at any depth, and not the answer of a function. */
function isTable(node: Node): boolean {
  for (let at = node.parent; at !== undefined; at = at.parent) {
    if (isFunctionDeclaration(at) || isArrowFunction(at)) return false
    if (isVariableDeclaration(at)) return at.parent.parent.parent.kind === SyntaxKind.SourceFile
  }
  return false
}

function isNamed(node: Node): boolean {
  return !isSpreadElement(node) && (isIdentifier(node) || isPropertyAccessExpression(node))
}
