/** Puts the values of a message's parameters into a statement, as texts. They are never read as MDX. */

import type { MdxStatement } from './ast.ts'
import { refuseMdx } from './tokens.ts'

/**
 * The statement with a text in place of each `@name`.
 * @param parameters values by name; case does not matter
 * @throws Fault `bad_request` for a name without a value
 */
export function withParameters(
  statement: MdxStatement,
  parameters: ReadonlyMap<string, string>,
): MdxStatement {
  const values = new Map([...parameters].map(([name, value]) => [name.toLowerCase(), value]))
  return replaced(
    statement,
    (name) => values.get(name.toLowerCase()) ?? refuseMdx('a parameter has no value'),
  )
}

function replaced<T>(tree: T, textFor: (name: string) => string): T {
  if (Array.isArray(tree)) return tree.map((each) => replaced(each, textFor)) as T
  if (typeof tree !== 'object' || tree === null) return tree
  if ('kind' in tree && tree.kind === 'parameter' && 'name' in tree)
    return { kind: 'string', value: textFor(String(tree.name)) } as T
  return Object.fromEntries(Object.entries(tree).map(([name, each]) => [name, replaced(each, textFor)])) as T
}
