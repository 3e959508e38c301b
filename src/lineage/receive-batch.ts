/**
 * Handles POST /v1/lineage/batch: each event is received as if it had been sent alone, and answered by its own status. The
 * events of a batch are begun in their order, some at a time, so that they share transactions and no batch fills the queue.
 */

import { Fault, toFault } from '../base/fault.ts'
import type { RawContext, SessionAccess } from '../core/operation.ts'
import { faultStatus } from '../http/fault-response.ts'
import { limits } from '../limits.ts'
import { type ReceiveParts, readEventBody, receiveOne } from './receive-event.ts'
import { splitBatch } from './split-batch.ts'

/** Events of one batch that are received at once: as many as a transaction of the receiver takes. */
const windowCount = 64

interface EventAnswer {
  readonly status: number
  readonly message?: string
}

/** Throws `bad_request` where the body is no list of events; what is wrong with one of them is its own answer. */
export async function receiveBatch(context: RawContext<ReceiveParts, SessionAccess>) {
  const body = await readEventBody(context, limits.lineageBatchBytesMax)
  const events = splitBatch(body, limits.lineageBatchEventsMax)
  const answers: EventAnswer[] = []
  for (let from = 0; from < events.length; from += windowCount) {
    context.request.signal.throwIfAborted()
    answers.push(
      ...(await Promise.all(events.slice(from, from + windowCount).map((event) => answerOf(context, event)))),
    )
  }
  const accepted = answers.filter(({ status }) => status === 202).length
  return { received: answers.length, accepted, events: answers }
}

async function answerOf(
  context: RawContext<ReceiveParts, SessionAccess>,
  event: Uint8Array,
): Promise<EventAnswer> {
  try {
    if (event.length > limits.lineageBodyBytesMax)
      throw new Fault('bad_request', `An event has at most ${limits.lineageBodyBytesMax} bytes.`)
    await receiveOne(context, event)
    return { status: 202 }
  } catch (thrown) {
    const { kind, publicMessage } = toFault(thrown)
    return { status: faultStatus(kind), message: publicMessage }
  }
}
