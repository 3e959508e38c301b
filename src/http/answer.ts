/** The edge of every route here: what a handler throws is logged and becomes an answer without its cause. */

import type { Logger } from 'pino'
import { Fault, type FaultKind, toFault } from '../base/fault.ts'
import { errorResponse } from './fault-response.ts'

/** What nobody but we can mend. */
const ours: ReadonlySet<FaultKind> = new Set(['internal', 'misconfigured', 'tenant_context_missing'])

/** The response of `work`, or the ErrorModel answer to what it threw. */
export async function answerFaults(log: Logger, work: () => Promise<Response>): Promise<Response> {
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

/** The 405 of a path that takes some methods (RFC 9110, 15.5.6). */
export function wrongMethod(methods: readonly string[]): Response {
  const allow = [...new Set(methods)].join(', ')
  const response = errorResponse(new Fault('method_not_allowed', `This route takes ${allow}.`))
  response.headers.set('allow', allow)
  return response
}
