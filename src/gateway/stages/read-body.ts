/**
 * Steps 3 and 4 of docs/reference/gateway.md 2.1: the body as it arrives, and the session as it is once the body is
 * whole.
 */

import type { Session } from '../../core/session.ts'
import { limits } from '../../limits.ts'
import { type CommitBody, readCommitBody } from '../base/body.ts'
import type { StageTimes } from '../base/stage-times.ts'

export interface ArrivingBody {
  readonly body: Promise<CommitBody>
  readonly isWhole: () => boolean
}

/**
 * Begins to read and hash a small body while the session is looked up; a failure waits for the body's turn.
 * @returns undefined for a large body, or one whose length is not declared: it is read when its turn comes
 */
export function startBody(request: Request): ArrivingBody | undefined {
  const declared = request.headers.get('content-length')
  if (declared === null || Number(declared) > limits.earlyBodyBytesMax) return undefined
  const body = readCommitBody(request)
  let whole = false
  const ended = () => {
    whole = true
  }
  body.then(ended, ended)
  return { body, isWhole: () => whole }
}

export interface WholeBody {
  readonly body: CommitBody
  readonly session: Session
}

/**
 * The body, and the session as it is once the body is whole: docs/reference/gateway.md 2.1 looks for the catalog's
 * credential after the body, and session and credential may both have ended while the body came slowly.
 * @param arriving where its reading has begun already
 * @param session as it was found before the body was whole
 * @param find looks the session up again, with the credential of its prefix
 * @throws Fault `payload_too_large`, `bad_request`, and what `find` throws
 */
export async function wholeBody(
  { request, stages }: { readonly request: Request; readonly stages: StageTimes },
  arriving: ArrivingBody | undefined,
  session: Session,
  find: () => Promise<Session>,
): Promise<WholeBody> {
  const wasWhole = arriving?.isWhole() ?? false
  const body = await stages.time('body', () => arriving?.body ?? readCommitBody(request))
  return { body, session: wasWhole ? session : await stages.time('session', find) }
}
