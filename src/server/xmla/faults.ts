/** Turns whatever a request failed with into the fault that its client shows. */

import { cleanText } from '../../base/clean-text.ts'
import { type Fault, type FaultKind, toFault } from '../../base/fault.ts'
import { SqlError } from '../../query/compile/base/sql-error.ts'
import { SoapViolation } from '../../wire/soap/read-request.ts'
import type { FaultText } from '../../wire/soap/write-envelope.ts'

const messageCharsMax = 1_000

/** HRESULTs as Analysis Services sends them. */
const numbers = {
  failed: 0xc10e0002,
  session: 0xc10c000a,
  statement: 0xc10c0001,
  refused: 0xc10f0001,
  cancelled: 0xc10c0007,
} as const

const numberOf: Readonly<Record<FaultKind, number>> = {
  bad_request: numbers.statement,
  unauthenticated: numbers.refused,
  forbidden: numbers.refused,
  policy_denied: numbers.refused,
  not_found: numbers.failed,
  method_not_allowed: numbers.failed,
  not_acceptable: numbers.failed,
  conflict: numbers.failed,
  gone: numbers.session,
  payload_too_large: numbers.failed,
  unprocessable: numbers.statement,
  tenant_context_missing: numbers.failed,
  misconfigured: numbers.failed,
  internal: numbers.failed,
  not_implemented: numbers.statement,
  upstream_failed: numbers.failed,
  upstream_forbidden: numbers.failed,
  commit_unknown: numbers.failed,
  policy_engine_unavailable: numbers.failed,
  unavailable: numbers.failed,
  overloaded: numbers.failed,
}

const clientKinds: ReadonlySet<FaultKind> = new Set([
  'bad_request',
  'unauthenticated',
  'forbidden',
  'policy_denied',
  'not_found',
  'unprocessable',
  'gone',
  'not_implemented',
])

/** Whom to ask about a refused table: clients show the message alone. */
function askOf(fault: Fault): string {
  return fault instanceof SqlError && fault.sqlState === '42501' && fault.hint !== undefined
    ? `. ${fault.hint}`
    : ''
}

/** The fault for anything thrown. Only messages that were written for clients stay. */
export function faultText(thrown: unknown): FaultText {
  if (thrown instanceof SoapViolation)
    return { code: thrown.code, message: thrown.message, number: numbers.statement }
  const fault: Fault = toFault(thrown)
  return {
    code: clientKinds.has(fault.kind) ? 'Client' : 'Server',
    message: cleanText(`${fault.publicMessage}${askOf(fault)}`, messageCharsMax),
    number: numberOf[fault.kind],
  }
}
