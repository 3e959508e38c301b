/** Turns a query's failure into the error for the client. Engines quote values, so none of their text is repeated. */

import { Fault } from '../../../base/fault.ts'
import { isSteward } from '../../../core/oversight.ts'
import type { Principal } from '../../../core/principal.ts'
import { EngineError, type EngineErrorCode } from '../../../engine/engine-error.ts'
import { fileName } from '../../../storage/read-failure.ts'
import { SqlError, type SqlState } from '../../compile/base/sql-error.ts'

/**
 * Anything thrown by a query as a SqlError; only messages that were written for clients stay.
 * @param reader a steward is told which file cannot be read
 */
export function runError(thrown: unknown, reader?: Pick<Principal, 'roles'>): SqlError {
  if (thrown instanceof SqlError) return thrown
  if (thrown instanceof EngineError) {
    const code: EngineErrorCode & SqlState = thrown.code
    const { message, cause, file } = thrown
    const isNamed = file !== undefined && reader !== undefined && isSteward(reader)
    const hint = isNamed ? `The file is ${fileName(file)}.` : undefined
    return new SqlError(code, message, undefined, { cause, ...(hint !== undefined && { hint }) })
  }
  if (thrown instanceof Fault) {
    const { kind, detail } = thrown
    const options = { cause: thrown, ...(detail !== undefined && { detail }) }
    if (kind === 'unavailable')
      return new SqlError('58000', 'The governance of tables could not be loaded. Retry.', undefined, options)
    if (kind === 'overloaded') return new SqlError('53200', thrown.publicMessage, undefined, options)
    if (kind === 'upstream_failed')
      return new SqlError('58000', 'The upstream catalog failed. Retry.', undefined, options)
    if (kind === 'upstream_forbidden')
      return new SqlError(
        '58000',
        'The upstream catalog forbids the request. Ask an administrator.',
        undefined,
        options,
      )
    if (kind === 'misconfigured')
      return new SqlError(
        '58000',
        'The catalog credential is misconfigured. Ask an administrator.',
        undefined,
        options,
      )
  }
  return new SqlError('XX000', 'The query failed.', undefined, { cause: thrown })
}
