/**
 * Handles POST /v1/lineage (docs/reference/lineage.md 2), step by step as in 2.2. It reads the raw body, because the
 * body is stored as received, inflated where it was sent as gzip.
 */

import { requestOrigin } from '../auth/request-origin.ts'
import type { Clock } from '../base/clock.ts'
import { Fault, toFault } from '../base/fault.ts'
import type { RawContext, SessionAccess } from '../core/operation.ts'
import { overseesTables } from '../core/oversight.ts'
import { throughSession } from '../core/session.ts'
import { inflateBody } from '../http/inflate-body.ts'
import { readBodyOf } from '../http/read-body.ts'
import { limits } from '../limits.ts'
import { datasetId } from '../store/lineage/events.ts'
import { seenDatasets } from '../store/lineage/seen.ts'
import type { Store } from '../store/store.ts'
import { describeRefusal } from './describe-cycle.ts'
import { parseLineageEvent } from './parse-event.ts'
import type { LineageReceiver } from './receiver.ts'

export interface ReceiveParts {
  readonly receiver: LineageReceiver
  readonly clock: Clock
  readonly store: Store
}

/** Throws `bad_request`, `unprocessable` for a cycle, or `unavailable` when the event was not stored or not merged. */
export async function receiveEvent(context: RawContext<ReceiveParts, SessionAccess>): Promise<void> {
  await receiveOne(context, await readEventBody(context, limits.lineageBodyBytesMax))
}

/** The same of an event whose body was read. */
export async function receiveOne(
  { parts: { receiver, clock, store }, caller, request }: RawContext<ReceiveParts, SessionAccess>,
  body: Uint8Array,
): Promise<void> {
  const event = parseLineageEvent(body, clock.now())
  const outcome = await receiver.receive(caller.tenant, {
    event,
    identified: caller.identified,
    origin: requestOrigin(throughSession(caller.identified, caller.session), request.headers),
  })
  if (outcome.kind === 'unbounded') throw new Fault('bad_request', outcome.reason)
  if (outcome.kind !== 'refused') return
  const { count, first } = outcome
  const seen = overseesTables(caller.principal)
    ? undefined
    : await seenDatasets(store, caller.tenant, first.cycle.map(datasetId))
  throw new Fault(
    'unprocessable',
    describeRefusal(count, first, (name) => seen === undefined || seen.has(datasetId(name))),
  )
}

/** The body, inflated. @throws Fault `bad_request` where it has more bytes than `bytesMax`, too */
export async function readEventBody(
  { request, again }: RawContext<ReceiveParts, SessionAccess>,
  bytesMax: number,
): Promise<Uint8Array> {
  const encoding = request.headers.get('content-encoding') ?? 'identity'
  const isGzip = encoding.toLowerCase() === 'gzip'
  if (!isGzip && encoding.toLowerCase() !== 'identity')
    throw new Fault('bad_request', 'The body must be sent with the Content-Encoding `gzip` or with none.')
  try {
    const { bytes } = await readBodyOf(request, bytesMax, again)
    return isGzip ? await inflateBody(request, bytes, bytesMax) : bytes
  } catch (thrown) {
    const fault = toFault(thrown)
    // This endpoint answers 400 to a body that is too large, not 413.
    if (fault.kind !== 'payload_too_large') throw fault
    throw new Fault('bad_request', fault.publicMessage, { cause: fault })
  }
}
