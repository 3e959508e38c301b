/** The edge of every route here: what a handler throws is logged and becomes an answer without its cause. */

import type { Logger } from 'pino'
import { toFault } from '../base/fault.ts'
import { errorResponse } from '../wire/iceberg/fault-response.ts'

/** The response of `work`, or the ErrorModel answer to what it threw. */
export async function answerFaults(log: Logger, work: () => Promise<Response>): Promise<Response> {
  try {
    return await work()
  } catch (thrown) {
    const fault = toFault(thrown)
    log[fault.kind === 'internal' || fault.kind === 'misconfigured' ? 'error' : 'info'](
      { faultId: fault.id, kind: fault.kind, detail: fault.detail, err: fault.cause },
      fault.publicMessage,
    )
    return errorResponse(fault)
  }
}
