/** Shows the prepared statements of a connection as rows of pg_prepared_statements. */

import type { PreparedRow } from './catalog-service.ts'
import type { PreparedStatement } from './session-state.ts'

/** Characters of all statements of a connection that are shown whole; of more, each is cut. */
const shownMax = 1024 * 1024

/** The rows; the unnamed statement is none of them, as in PostgreSQL. */
export function preparedRows(statements: ReadonlyMap<string, PreparedStatement>): readonly PreparedRow[] {
  const named = [...statements].filter(([name]) => name !== '')
  const total = named.reduce((sum, [, { text }]) => sum + text.length, 0)
  const each = total <= shownMax ? total : Math.floor(shownMax / named.length)
  return named.map(([name, { text, plan, preparedAtMs, isFromSql }]) => ({
    name,
    statement: text.slice(0, each),
    prepare_time: new Date(preparedAtMs).toISOString(),
    parameter_types: plan.parameterOids,
    result_types: plan.resultOids ?? null,
    from_sql: isFromSql,
  }))
}
