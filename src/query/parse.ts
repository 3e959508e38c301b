/** Statement text to a checked tree: exactly one SELECT of listed nodes. Nothing else leaves this file. */

import { loadModule, type Node, parseSync, type RawStmt, type SelectStmt } from 'libpg-query'
import { Lru } from '../base/lru.ts'
import { limits } from '../limits.ts'
import { checkTree } from './allow-list.ts'
import { SqlError } from './sql-error.ts'

await loadModule()

/**
 * The parser recurses once per operator of a chain and keeps the memory it once grew to, so text that could
 * nest deeper than we would accept never reaches it. Signs of numbers in lists and dates do not nest.
 */
const operatorsMax = 4_000
const nesting = /[+/%^<>=~!|&@#?*]|::|(?<![\d(,]\s*)-|\b(?:not|union|intersect|except|case|is|at)\b/gi

/** Trees by their text, which is all that they depend on: clients send the same statements again and again. */
const trees = new Lru<string, readonly RawStmt[]>(limits.statementTreeCacheBytes)
/** Longer ones are not kept; so what is frozen is not deep. */
const keptCharsMax = 2_000
/** What a tree takes in memory, by measure of its text. */
const treeWeight = 100

/**
 * Parses any statements without judging them, for surfaces that answer some of them themselves.
 *
 * @returns none for text that holds only comments and space; trees may be frozen and shared between callers
 * @throws SqlError 42601 for text that does not parse; 54001 where it is too long or too deep
 */
export function parseStatements(text: string): readonly RawStmt[] {
  const known = trees.get(text)
  if (known !== undefined) return known
  const parsed = parseAdmitted(text)
  if (text.length <= keptCharsMax) trees.set(text, freeze(parsed), text.length * treeWeight)
  return parsed
}

function parseAdmitted(text: string): readonly RawStmt[] {
  admit(text)
  return text.trim() === '' ? [] : parse(text)
}

/**
 * Checks what must hold of a text before the parser sees it.
 *
 * @throws SqlError 54001 where it is too long or could be too deep, 42601 where it is no text
 */
export function admit(text: string): void {
  if (text.length > limits.statementBytesMax || Buffer.byteLength(text) > limits.statementBytesMax)
    throw new SqlError('54001', `The statement is longer than ${limits.statementBytesMax} bytes.`)
  if (text.includes('\0') || !text.isWellFormed())
    throw new SqlError('42601', 'The statement holds characters that are not text.')
  if ((text.match(nesting)?.length ?? 0) > operatorsMax)
    throw new SqlError('54001', 'The statement has too many operators.')
}

/**
 * Parses one statement in the PostgreSQL dialect.
 *
 * @throws SqlError 42601 for text that does not parse or is empty; 0A000 for more than one statement, for
 *   any statement but SELECT and for what is not served; 54001 where it is too long or too deep
 */
export function parseSelect(text: string): SelectStmt {
  const statements = parseStatements(text)
  const [statement] = statements
  if (statement?.stmt === undefined) throw new SqlError('42601', 'The statement is empty.')
  if (statements.length > 1) throw new SqlError('0A000', 'Only one statement may be sent at a time.')
  const select = 'SelectStmt' in statement.stmt ? statement.stmt.SelectStmt : undefined
  if (select === undefined) throw new SqlError('0A000', 'Only SELECT is served here.')
  checkTree(select)
  return select
}

/** Checked trees of policies by their text: a statement over a table with fifty of them parses none again. */
const expressions = new Lru<string, Node>(limits.policyExpressionCacheBytes)

/**
 * Parses one expression, as of a row filter or a mask.
 *
 * @returns a frozen tree, shared between callers
 * @throws SqlError as parseSelect does, also where the text holds more than one expression
 */
export function parseExpression(text: string): Node {
  const known = expressions.get(text)
  if (known !== undefined) return known
  const node = freeze(parseOneExpression(text))
  expressions.set(text, node, text.length)
  return node
}

function parseOneExpression(text: string): Node {
  // The parser sees it as the only target of a SELECT; a FROM, alias or whatever else it may add is refused.
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
    throw new SqlError('42601', 'A single expression is expected.')
  return value.val
}

/** Its depth must be bounded: by checkTree, or by the length of its text. */
function freeze<T>(node: T): T {
  if (typeof node === 'object' && node !== null) for (const part of Object.values(node)) freeze(part)
  return Object.freeze(node)
}

function parse(text: string) {
  try {
    return parseSync(text).stmts ?? []
  } catch (cause) {
    if (cause instanceof RangeError)
      throw new SqlError('54001', 'The statement is too complex.', undefined, { cause })
    const { position, message } = problemOf(cause)
    throw new SqlError('42601', message, position, { cause })
  }
}

/** The parser's messages speak of the statement's own text only, so the client may see them. */
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
