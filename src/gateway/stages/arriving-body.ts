/** A request's body while it comes, and who asks once it is whole. */

import type { Session } from '../../core/session.ts'
import { type Body, readBody } from '../../http/read-body.ts'
import { limits } from '../../limits.ts'
import type { StageTimes } from './stage-times.ts'

export interface ArrivingBody {
  readonly body: Promise<Body>
  readonly isWhole: () => boolean
}

/** A small body is read and hashed while the session is looked up; what fails there waits for its turn. */
export function earlyBody(request: Request): ArrivingBody | undefined {
  const declared = request.headers.get('content-length')
  if (declared === null || Number(declared) > limits.earlyBodyBytesMax) return undefined
  const body = readBody(request, limits.commitBodyBytesMax)
  let whole = false
  const ended = () => {
    whole = true
  }
  body.then(ended, ended)
  return { body, isWhole: () => whole }
}

export interface Arrived {
  readonly body: Body
  readonly session: Session
}

/**
 * The body, and the session as it is once the body is whole: SPEC 4.1 looks for the catalog's credential after the
 * body, and either may have ended while that came slowly.
 * @param early where its reading has begun already
 * @param session as it was found before the body was whole
 * @param find looks the session up again, with the credential of its prefix
 * @throws Fault `payload_too_large`, `bad_request`, and what `find` throws
 */
export async function arrived(
  { request, stages }: { readonly request: Request; readonly stages: StageTimes },
  early: ArrivingBody | undefined,
  session: Session,
  find: () => Promise<Session>,
): Promise<Arrived> {
  const wasWhole = early?.isWhole() ?? false
  const body = await stages.time('body', () => early?.body ?? readBody(request, limits.commitBodyBytesMax))
  return { body, session: wasWhole ? session : await stages.time('session', find) }
}
