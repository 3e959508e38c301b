/**
 * Turns what a handler throws into a log line and an ErrorModel response. Every route goes through it; the cause of an
 * error reaches only the log.
 */

import type { Logger } from 'pino'
import { Fault, type FaultKind, toFault } from '../base/fault.ts'
import { errorResponse } from './fault-response.ts'

/** Kinds that only the service or its operator can fix: they are logged as errors. */
const ours: ReadonlySet<FaultKind> = new Set(['internal', 'misconfigured', 'tenant_context_missing'])

/** The response of `work`, or the ErrorModel response to what it threw. */
export async function respondWithFaults(log: Logger, work: () => Promise<Response>): Promise<Response> {
  try {
    return await work()
  } catch (thrown) {
    const fault = toFault(thrown)
    log[ours.has(fault.kind) ? 'error' : 'info'](
      { faultId: fault.id, kind: fault.kind, detail: fault.detail, err: fault.cause },
      fault.publicMessage,
    )
    return errorResponse(fault)
  }
}

/** The 405 response of a path that supports only these methods (RFC 9110, 15.5.6). */
export function wrongMethod(methods: readonly string[]): Response {
  const allow = [...new Set(methods)].join(', ')
  const response = errorResponse(new Fault('method_not_allowed', `This route takes ${allow}.`))
  response.headers.set('allow', allow)
  return response
}
