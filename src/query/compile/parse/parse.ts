/** Parses statement text to a checked tree: exactly one SELECT of allow-listed nodes. It resolves no names. */

import { loadModule, type Node, parseSync, type RawStmt, type SelectStmt } from 'libpg-query'
import { Lru } from '../../../base/lru.ts'
import { limits } from '../../../limits.ts'
import { SqlError } from '../base/sql-error.ts'
import { checkTree } from './allow-list.ts'

/** Estimated memory of cached parsed statements. */
const statementTreeCacheBytes = 16 * 1024 * 1024

/** Text of the row filters and mask expressions with cached trees; a tree takes about fifty times its text. */
const policyExpressionCacheBytes = 1024 * 1024

await loadModule()

/**
 * Bounds what the parser sees, because it recurses once per operator of a chain and never frees the memory that it
 * grew to. Signs of numbers in lists and dates do not nest.
 */
const operatorsMax = 4_000
const nesting = /[+/%^<>=~!|&@#?*]|::|(?<![\d(,]\s*)-|\b(?:not|union|intersect|except|case|is|at)\b/gi

/** Trees by text, on which alone they depend. Cached because clients repeat statements. */
const trees = new Lru<string, readonly RawStmt[]>(statementTreeCacheBytes)
/** Longer texts are not cached, which also bounds the depth of what is frozen. */
const cachedCharsMax = 2_000
/** Estimated bytes in memory of a tree, per character of its text. */
const treeWeight = 100

/**
 * Parses statements of any kind, for surfaces that execute some of them without the compiler.
 *
 * @returns none for text that holds only comments and space; trees may be frozen and shared between callers
 * @throws SqlError 42601 for text that does not parse; 54001 where it is too long or too deep
 */
export function parseStatements(text: string): readonly RawStmt[] {
  const cached = trees.get(text)
  if (cached !== undefined) return cached
  const parsed = parseChecked(text)
  if (text.length <= cachedCharsMax) trees.set(text, freeze(parsed), text.length * treeWeight)
  return parsed
}

function parseChecked(text: string): readonly RawStmt[] {
  checkText(text)
  return text.trim() === '' ? [] : parse(text)
}

/**
 * Refuses a text that the parser must not see.
 *
 * @throws SqlError 54001 where it is too long or could be too deep, 42601 where it is not valid text
 */
export function checkText(text: string): void {
  if (text.length > limits.statementBytesMax && isTooLong(text))
    throw new SqlError('54001', `The statement is longer than ${limits.statementBytesMax} bytes.`)
  if (text.includes('\0') || !text.isWellFormed())
    throw new SqlError('42601', 'The statement contains a NUL byte or invalid Unicode.')
  // A shorter text cannot have as many.
  if (
    text.length > operatorsMax &&
    operatorsIn(text) > operatorsMax &&
    (endsUnclearly.test(text) || operatorsIn(unlisted(text)) > operatorsMax)
  )
    throw new SqlError('54001', 'The statement has too many operators.')
}

function operatorsIn(text: string): number {
  return text.match(nesting)?.length ?? 0
}

/** Texts may end elsewhere than at the next quote. */
const endsUnclearly = /\\|--|\/\*|\$(?!\d)/

/** The statement without texts, names and the casts of constants in lists, which nest nothing. */
function unlisted(text: string): string {
  return text.replace(/"(?:[^"]|"")*"|'(?:[^']|'')*'/g, '0').replace(/(?<=[\w.])::\w+(?=\s*,)/g, '')
}

/** One statement with its lists of constants and parameters. */
const listedBytesMax = 1024 * 1024

/** A quoted name; a constant or parameter with the comma behind it, as in a list; another text. */
const listItems = /"(?:[^"]|"")*"|(?:'(?:[^']|'')*'|(?<![\w$.])(?:\$\d+|\d+(?:\.\d+)?))\s*,|'(?:[^']|'')*'/g

/** Whether a text is too long, where constants in lists count little: they nest nothing and are cheap to parse. */
function isTooLong(text: string): boolean {
  const bytes = Buffer.byteLength(text)
  if (bytes > listedBytesMax) return true
  if (bytes <= limits.statementBytesMax) return false
  if (endsUnclearly.test(text)) return true
  const rest = text.replace(listItems, (item) => (item.endsWith(',') ? '' : item))
  return Buffer.byteLength(rest) > limits.statementBytesMax
}

/**
 * Parses one statement in the PostgreSQL dialect.
 *
 * @throws SqlError 42601 for text that does not parse or is empty; 0A000 for more than one statement, for
 *   any statement but SELECT and for an unsupported construct; 54001 where it is too long or too deep
 */
export function parseSelect(text: string): SelectStmt {
  const statements = parseStatements(text)
  const [statement] = statements
  if (statement?.stmt === undefined) throw new SqlError('42601', 'The statement is empty.')
  if (statements.length > 1) throw new SqlError('0A000', 'Only one statement may be sent at a time.')
  const select = 'SelectStmt' in statement.stmt ? statement.stmt.SelectStmt : undefined
  if (select === undefined) throw new SqlError('0A000', 'Only SELECT statements are supported.')
  checkTree(select)
  return select
}

/** Checked trees of filters and masks by text. Cached because a table may have fifty of them. */
const expressions = new Lru<string, Node>(policyExpressionCacheBytes)

/**
 * Parses the expression of a row filter or mask.
 *
 * @returns a frozen tree, shared between callers
 * @throws SqlError as parseSelect does, also where the text holds more than one expression
 */
export function parseExpression(text: string): Node {
  const cached = expressions.get(text)
  if (cached !== undefined) return cached
  const node = freeze(parseOneExpression(text))
  expressions.set(text, node, text.length)
  return node
}

function parseOneExpression(text: string): Node {
  // The parser sees it as the only target of a SELECT. A FROM, an alias or any other clause is refused.
  const select = parseSelect(`SELECT ${text}`)
  const [target] = select.targetList ?? []
  const allowed = new Set(['targetList', 'limitOption', 'op'])
  const value = target !== undefined && 'ResTarget' in target ? target.ResTarget : undefined
  if (
    select.targetList?.length !== 1 ||
    value?.val === undefined ||
    value.name !== undefined ||
    Object.keys(select).some((key) => !allowed.has(key)) ||
    select.op !== 'SETOP_NONE' ||
    'RowExpr' in value.val
  )
    throw new SqlError('42601', 'Give a single expression, without clauses or an alias.')
  return value.val
}

/** Freezes a tree whose depth is bounded, by checkTree or by the length of its text. */
function freeze<T>(node: T): T {
  if (typeof node !== 'object' || node === null) return node
  // Most parts are texts and numbers, which need no call.
  for (const key in node) if (typeof node[key] === 'object') freeze(node[key])
  return Object.freeze(node)
}

function parse(text: string) {
  try {
    return parseSync(text).stmts ?? []
  } catch (cause) {
    if (cause instanceof RangeError)
      throw new SqlError('54001', 'The statement is too complex.', undefined, { cause })
    const { position, message } = problemOf(cause)
    // The grammar itself refuses frames that end before they begin.
    const isFrame = message.startsWith('frame ')
    throw new SqlError(isFrame ? '42P20' : '42601', message, position, { cause })
  }
}

/** The parser's messages quote only the statement's own text, so the client may see them. */
function problemOf(cause: unknown): { message: string; position?: number } {
  if (!(cause instanceof Error)) return { message: 'syntax error' }
  const details: unknown = Reflect.get(cause, 'sqlDetails')
  const cursor: unknown =
    typeof details === 'object' && details !== null ? Reflect.get(details, 'cursorPosition') : undefined
  return {
    message: cause.message.slice(0, 300),
    ...(typeof cursor === 'number' && cursor > 0 && { position: cursor }),
  }
}
