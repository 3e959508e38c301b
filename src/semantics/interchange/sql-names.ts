/** Changes the column names in the text of an expression, and leaves the rest of the text alone. */

import type { Node } from 'libpg-query'
import { quoteIdentifier } from '../../base/sql-text.ts'
import { columnPath } from '../../query/compile/metrics/nodes.ts'
import { parseExpression } from '../../query/compile/parse/parse.ts'

interface NamedColumn {
  readonly path: readonly string[]
  /** The last name, as it is written. */
  readonly last: string
  readonly start: number
  readonly end: number
}

/** The parser's positions are those in a SELECT of the expression. */
const before = 'SELECT '
const step = String.raw`(?:"(?:[^"]|"")+"|[\p{L}_][\p{L}\p{N}_$]*)`

/** The columns of an expression, in the order of the text. @throws SqlError for what is no expression */
function namedColumns(text: string): readonly NamedColumn[] {
  const bytes = Buffer.from(text)
  const found: NamedColumn[] = []
  const visit = (tree: unknown): void => {
    if (typeof tree !== 'object' || tree === null) return
    const path = 'ColumnRef' in tree ? columnPath(tree as Node) : undefined
    if (path !== undefined && 'ColumnRef' in tree) {
      const { location = 0 } = tree.ColumnRef as { readonly location?: number }
      const start = bytes.subarray(0, location - before.length).toString().length
      const written = new RegExp(`${step}(?:\\s*\\.\\s*${step}){${path.length - 1}}`, 'uy')
      written.lastIndex = start
      const whole = written.exec(text)?.[0] ?? ''
      const last = new RegExp(`${step}$`, 'u').exec(whole)?.[0] ?? whole
      found.push({ path, last, start, end: start + whole.length })
      return
    }
    for (const value of Object.values(tree)) visit(value)
  }
  visit(parseExpression(text))
  return found.sort((a, b) => a.start - b.start)
}

/** The paths of the columns that an expression names. @throws SqlError for what is no expression */
export function pathsIn(text: string): readonly (readonly string[])[] {
  return namedColumns(text).map(({ path }) => path)
}

/**
 * The expression with other names.
 * @param replace gives SQL for a column, of which it gets the last name as written; undefined leaves it
 * @throws SqlError for what is no expression
 */
export function renamed(
  text: string,
  replace: (path: readonly string[], last: string) => string | undefined,
): string {
  let [result, done] = ['', 0]
  for (const { path, last, start, end } of namedColumns(text)) {
    const instead = replace(path, last)
    if (instead === undefined) continue
    result += text.slice(done, start) + instead
    done = end
  }
  return result + text.slice(done)
}

/** An identifier as SQL, without quotes where it needs none. */
export function identifier(name: string): string {
  try {
    const path = /^\w+$/.test(name) ? columnPath(parseExpression(name)) : undefined
    return path?.[0] === name ? name : quoteIdentifier(name)
  } catch {
    return quoteIdentifier(name)
  }
}
