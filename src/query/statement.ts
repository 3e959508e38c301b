/** A statement in the context of one principal: the same statement is the same key. It holds nothing that was loaded. */

import type { SqlType } from '../core/sql-type.ts'
import type { QueryContext } from './query-service.ts'

export interface Statement {
  readonly context: QueryContext
  readonly text: string
  readonly parameterTypes: readonly (SqlType | undefined)[]
  /** Everything by which its tables are found and it is compiled, but for what is loaded. */
  readonly key: string
}

/** @param parameterTypes those that are given, `$1` first */
export function statementOf(
  context: QueryContext,
  text: string,
  parameterTypes: readonly (SqlType | undefined)[],
): Statement {
  const { tenant, catalog, principal, searchPath } = context
  const key = JSON.stringify([tenant, catalog, principal, searchPath, parameterTypes, text])
  return { context, text, parameterTypes, key }
}
