/** POST /v1/lineage (SPEC 4.3, 7) and the lineage resources under /api/v1/lineage. */

import { Elysia } from 'elysia'
import { answerFaults } from '../auth/answer.ts'
import { type FindSession, requireSession, tenantContext } from '../auth/guard.ts'
import { peerAddress } from '../auth/peer-address.ts'
import type { IdentifyPrincipal } from '../auth/principal-chain.ts'
import { readBodyOf } from '../auth/read-body.ts'
import { verifiedPrincipal } from '../auth/verified-principal.ts'
import type { Clock } from '../base/clock.ts'
import { Fault, toFault } from '../base/fault.ts'
import type { Session } from '../core/session.ts'
import { limits } from '../limits.ts'
import { describeCycle } from './describe-cycle.ts'
import { graphDetail, runDetail } from './open-api.ts'
import { parseLineageEvent } from './parse-event.ts'
import { graphAnswer, runAnswer } from './queries.ts'
import type { LineageReceiver } from './receiver.ts'

export interface LineageParts {
  readonly receiver: LineageReceiver
  readonly clock: Clock
}

export interface LineageAuth {
  readonly findSession: FindSession
  readonly identify: IdentifyPrincipal
}

/** The receiver and its queries. Bodies are read here, never parsed by the framework. */
export function lineageRoutes(parts: LineageParts, auth: LineageAuth) {
  const read = (request: Request, answer: typeof graphAnswer) =>
    answerFaults(parts.receiver.parts.log, async () => {
      const session = await requireSession(request, auth.findSession, 'read')
      await verifiedPrincipal(auth.identify, request, session)
      return await answer(parts.receiver.parts.store, session.tenant, request)
    })
  return (
    new Elysia({ name: 'lineage' })
      .post(
        '/v1/lineage',
        ({ request }) =>
          receiveEvent(
            parts,
            request,
            () => requireSession(request, auth.findSession, 'lineage'),
            auth.identify,
          ),
        { parse: 'none', detail: { hide: true } },
      )
      .get('/api/v1/lineage/graph', ({ request }) => read(request, graphAnswer), { detail: graphDetail })
      .get('/api/v1/lineage/runs/:producer/:runId', ({ request }) => read(request, runAnswer), {
        detail: runDetail,
      })
      // A producer is a URI, and some clients leave its slashes as they are.
      .get('/api/v1/lineage/runs/*', ({ request }) => read(request, runAnswer), { detail: { hide: true } })
  )
}

/**
 * One event, in SPEC's order.
 * @param findSession the tenant middleware; a handler that it gave no session answers 500 (SPEC 5)
 */
export function receiveEvent(
  parts: LineageParts,
  request: Request,
  findSession: () => Promise<Session | undefined>,
  identify: IdentifyPrincipal,
): Promise<Response> {
  return answerFaults(parts.receiver.parts.log, async () => {
    const again = async () => tenantContext(await findSession())
    const session = await again()
    const identified = await identify(request.headers, peerAddress(request), session)
    const body = await readEventBody(request, again)
    const event = parseLineageEvent(body, parts.clock.now())
    const outcome = await parts.receiver.receive(session.tenant, { event, identified })
    if (outcome.kind === 'refused') throw new Fault('unprocessable', describeCycle(outcome.cycle))
    return new Response(null, { status: 202 })
  })
}

async function readEventBody(request: Request, again: () => Promise<unknown>): Promise<Uint8Array> {
  const encoding = request.headers.get('content-encoding') ?? 'identity'
  if (encoding.toLowerCase() !== 'identity')
    throw new Fault('bad_request', 'The body must be sent without Content-Encoding.')
  try {
    return (await readBodyOf(request, limits.lineageBodyBytesMax, again)).bytes
  } catch (thrown) {
    const fault = toFault(thrown)
    // SPEC 7: 400 here, not 413.
    if (fault.kind !== 'payload_too_large') throw fault
    throw new Fault('bad_request', fault.publicMessage, { cause: fault })
  }
}
