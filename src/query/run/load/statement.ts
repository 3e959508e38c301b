/** A statement in the context of one principal, with a key that equal statements share. It holds nothing loaded. */

import type { SqlType } from '../../../core/sql-type.ts'
import type { ParameterValue } from '../../compile/base/ir.ts'
import type { Expansion } from '../../compile/metrics/expand.ts'
import type { QueryContext, StatementSource } from '../../query-service.ts'

export interface Statement {
  readonly context: QueryContext
  readonly source: StatementSource
  readonly parameterTypes: readonly (SqlType | undefined)[]
  /** Values of the parameters that must be literals. */
  readonly parameterValues: readonly ParameterValue[]
  /** All that decides which tables are loaded and how the statement is compiled, except the loaded data. */
  readonly key: string
  /** The statement with its metrics written out, where it names any. */
  readonly expansion?: Expansion | undefined
}

/**
 * @param parameterTypes the types that the client gave, `$1` first
 * @param parameterValues values of the parameters that must be literals
 */
export function statementOf(
  context: QueryContext,
  source: StatementSource,
  parameterTypes: readonly (SqlType | undefined)[],
  parameterValues: readonly ParameterValue[] = [],
): Statement {
  const { tenant, catalog, principal, searchPath, generated, timeZone } = context
  const compiledFrom = [source, parameterTypes, parameterValues, generated, timeZone]
  const key = JSON.stringify([tenant, catalog, principal, searchPath, ...compiledFrom])
  return { context, source, parameterTypes, parameterValues, key }
}
