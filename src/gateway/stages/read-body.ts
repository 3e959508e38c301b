/**
 * Reads the body, and looks the session up again once the body is complete (steps 3 and 4 of
 * docs/reference/gateway.md 2.1).
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
 * Starts to read and hash a small body while the session is looked up. A failure is thrown at the body's step.
 * @returns undefined for a large body, or one without a declared length: `wholeBody` reads it
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

interface WholeBody {
  readonly body: CommitBody
  readonly session: Session
}

/**
 * Waits for the complete body, then looks the session up again (docs/reference/gateway.md 2.1): session and credential
 * may have been revoked while a slow body arrived.
 * @param arriving the body that `startBody` is reading, if any
 * @param session the session that was found before the body was complete
 * @param find looks the session up again, with the catalog credential of its prefix
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
