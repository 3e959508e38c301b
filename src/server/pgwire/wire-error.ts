/** Converts any failure into a report for the PostgreSQL client: one SQLSTATE and one sentence, never a cause. */

import type { FaultKind } from '../../base/fault.ts'
import { Fault } from '../../base/fault.ts'
import { EngineError } from '../../engine/engine-error.ts'
import { SqlError } from '../../query/compile/base/sql-error.ts'
import type { Report } from '../../wire/postgres/backend-messages.ts'
import { ProtocolViolation } from '../../wire/postgres/byte-reader.ts'
import { ValueError } from '../../wire/postgres/value-error.ts'

/** A refusal by the wire. FATAL ends the connection. */
export class WireError extends Error {
  override readonly name = 'WireError'

  constructor(
    readonly sqlState: string,
    message: string,
    readonly severity: 'ERROR' | 'FATAL' = 'ERROR',
    readonly hint?: string,
  ) {
    super(message)
  }
}

/** The client has disconnected, so nothing more can be sent. */
export class ConnectionClosed extends Error {
  override readonly name = 'ConnectionClosed'
}

/** The SQLSTATE of each kind of Fault. */
const stateOfKind = {
  bad_request: '22023',
  unauthenticated: '28000',
  forbidden: '42501',
  policy_denied: '42501',
  not_found: '42704',
  method_not_allowed: '0A000',
  not_acceptable: '0A000',
  conflict: '40001',
  gone: '0A000',
  payload_too_large: '54000',
  unprocessable: '22023',
  tenant_context_missing: 'XX000',
  misconfigured: 'XX000',
  internal: 'XX000',
  not_implemented: '0A000',
  upstream_failed: '58000',
  upstream_forbidden: '58000',
  commit_unknown: 'XX000',
  policy_engine_unavailable: '58000',
  unavailable: '58030',
  overloaded: '53200',
} as const satisfies Record<FaultKind, string>

/** The place of the failed statement in the text that the client sent. */
export interface StatementPlace {
  readonly text: string
  /** UTF-8 bytes before the statement. */
  readonly byteOffset: number
}

/** Converts a thrown value into a report for the client. */
export function toReport(thrown: unknown, place?: StatementPlace): Report {
  if (thrown instanceof WireError) {
    const { severity, sqlState, message, hint } = thrown
    return { severity, sqlState, message, hint }
  }
  if (thrown instanceof SqlError)
    return {
      severity: 'ERROR',
      sqlState: thrown.sqlState,
      message: thrown.publicMessage,
      hint: thrown.hint,
      position: characterPosition(place, thrown.position),
    }
  if (thrown instanceof ConnectionClosed)
    return { severity: 'FATAL', sqlState: '08006', message: 'the client is gone' }
  if (thrown instanceof ProtocolViolation)
    return { severity: 'FATAL', sqlState: '08P01', message: thrown.message }
  if (thrown instanceof ValueError)
    return { severity: 'ERROR', sqlState: thrown.sqlState, message: thrown.message }
  if (thrown instanceof EngineError)
    return { severity: 'ERROR', sqlState: thrown.code, message: thrown.message }
  if (thrown instanceof Fault)
    return { severity: 'ERROR', sqlState: stateOfKind[thrown.kind], message: thrown.publicMessage }
  return { severity: 'ERROR', sqlState: 'XX000', message: 'Internal error.' }
}

/** PostgreSQL counts characters from 1. */
function characterPosition(
  place: StatementPlace | undefined,
  position: number | undefined,
): number | undefined {
  if (place === undefined || position === undefined) return undefined
  const before = Buffer.from(place.text).subarray(0, place.byteOffset + position)
  return [...before.toString('utf8')].length + 1
}
