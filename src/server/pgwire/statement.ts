/** Splits a text into its statements, and extracts the query inside a statement. */

import { type Node, scanSync } from 'libpg-query'
import { SqlError } from '../../query/compile/base/sql-error.ts'
import { parseStatements } from '../../query/compile/parse/parse.ts'
import type { StatementPlace } from './wire-error.ts'

export interface SourceStatement {
  /** The kind of the tree's node, such as `SelectStmt`. */
  readonly kind: string
  readonly tree: Node
  readonly text: string
  readonly place: StatementPlace
}

/**
 * The statements of a text, in order; none for a text of comments and space.
 * @throws SqlError 42601 for text that does not parse; 54001 for text that is too long or too deeply nested
 */
export function readStatements(text: string): readonly SourceStatement[] {
  const raw = parseStatements(text)
  const bytes = Buffer.from(text)
  return raw.flatMap(({ stmt, stmt_location: start = 0, stmt_len: length }) => {
    const [kind] = Object.keys(stmt ?? {})
    if (stmt === undefined || kind === undefined) return []
    const end = length === undefined || length === 0 ? bytes.length : start + length
    return [
      { kind, tree: stmt, text: bytes.subarray(start, end).toString(), place: { text, byteOffset: start } },
    ]
  })
}

const comments: ReadonlySet<string> = new Set(['SQL_COMMENT', 'C_COMMENT'])

/** Finds the query of a statement: the index of its first token, and the index after its last. */
type FindQuery = (words: readonly string[]) => readonly [first: number, end: number]

/**
 * The query inside a statement, as a statement of its own.
 * @throws SqlError 42601 where there is none
 */
export function innerQuery({ text, place }: SourceStatement, tree: Node, find: FindQuery): SourceStatement {
  const tokens = scanSync(text).tokens.filter(({ tokenName }) => !comments.has(tokenName))
  const [first, end] = find(tokens.map((token) => token.text.toUpperCase()))
  const start = tokens[first]?.start
  const stop = tokens[end - 1]?.end
  const [kind] = Object.keys(tree)
  if (start === undefined || stop === undefined || first < 1 || kind === undefined)
    throw new SqlError('42601', 'The statement holds no query.')
  const bytes = Buffer.from(text)
  return {
    kind,
    tree,
    text: bytes.subarray(start, stop).toString(),
    place: { text: place.text, byteOffset: place.byteOffset + start },
  }
}

/**
 * Waits for work on the query inside a statement.
 * @param query undefined: the query was generated, so its text is not part of the statement
 * @throws the errors of the work; a SqlError has its position in the statement, if it has one there
 */
export async function withinStatement<T>(
  statement: SourceStatement,
  query: SourceStatement | undefined,
  work: Promise<T>,
): Promise<T> {
  try {
    return await work
  } catch (thrown) {
    if (!(thrown instanceof SqlError) || thrown.position === undefined) throw thrown
    const { sqlState, publicMessage, position } = thrown
    const shift = query && query.place.byteOffset - statement.place.byteOffset
    throw new SqlError(sqlState, publicMessage, shift && position + shift, { cause: thrown })
  }
}

/** The query behind the first occurrence of a word outside of parentheses. */
export function queryBehind(word: string): FindQuery {
  return (words) => {
    let depth = 0
    for (const [index, each] of words.entries()) {
      if (each === '(') depth++
      if (each === ')') depth--
      if (depth === 0 && each === word) return [index + 1, words.length]
    }
    return [-1, -1]
  }
}

/** The query in the parentheses that follow the first word. */
export const queryInParentheses: FindQuery = (words) => {
  let depth = 0
  for (const [index, each] of words.entries()) {
    if (each === '(') depth++
    if (each === ')' && --depth === 0) return [2, index]
  }
  return [-1, -1]
}
