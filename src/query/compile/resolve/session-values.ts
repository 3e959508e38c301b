/** Resolves what tells of the session: the database, the schema, the principal and the version that clients see. */

import { versionText } from '../../../core/server-version.ts'
import type { Expr } from '../base/ir.ts'
import { literalOf, nullOf } from './coerce.ts'
import type { Resolver } from './context.ts'

/** Functions without arguments. */
type Session = Pick<Resolver, 'database' | 'schema'>
const values: ReadonlyMap<string, (session: Session) => string | undefined> = new Map<
  string,
  (session: Session) => string | undefined
>([
  ['version', () => versionText],
  ['current_database', ({ database }) => database ?? ''],
  ['current_schema', ({ schema }) => schema],
])

export const sessionFunctions: ReadonlySet<string> = new Set(values.keys())

/** What such a function of the session returns; undefined for another function. */
export function sessionValue(resolver: Resolver, name: string): Expr | undefined {
  const value = values.get(name)
  if (value === undefined) return undefined
  const text = value(resolver)
  return text === undefined ? nullOf('text') : literalOf(text, 'text')
}
