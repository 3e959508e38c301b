/** What a client is told of a query that went wrong. Engines quote values, so none of their text is repeated. */

import { Fault } from '../base/fault.ts'
import { EngineError, type EngineErrorCode } from '../engine/engine-error.ts'
import { SqlError, type SqlState } from './sql-error.ts'

/** Anything thrown on the way of a query as a SqlError; only what was written for clients stays. */
export function runError(thrown: unknown): SqlError {
  if (thrown instanceof SqlError) return thrown
  if (thrown instanceof EngineError) {
    const code: EngineErrorCode & SqlState = thrown.code
    return new SqlError(code, thrown.message, undefined, { cause: thrown.cause })
  }
  if (thrown instanceof Fault) {
    const { kind, detail } = thrown
    const options = { cause: thrown, ...(detail !== undefined && { detail }) }
    if (kind === 'unavailable')
      return new SqlError('58000', 'What governs the query could not be loaded. Retry.', undefined, options)
    if (kind === 'upstream_failed')
      return new SqlError('58000', 'The upstream catalog failed. Retry.', undefined, options)
    if (kind === 'misconfigured')
      return new SqlError('58000', 'The catalog cannot be read as it is configured.', undefined, options)
  }
  return new SqlError('XX000', 'The query failed.', undefined, { cause: thrown })
}
