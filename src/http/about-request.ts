/**
 * Keeps what only the listener knows of a request: its peer, its id, the bytes that it holds. Handlers see only the
 * request. It is forgotten with the request.
 */

import type { ByteBudget } from '../base/byte-budget.ts'

/** What the listener knows. Every member is undefined for a request that came through no listener. */
interface AboutRequest {
  /** Address of the direct peer. */
  readonly peer?: string | undefined
  /** Under which its log lines, its audit row and its refusal are found. */
  readonly id?: string
  /** Called once the body is read whole, when the client begins to wait for us. */
  readonly onBodyRead?: () => void
  /** The bytes of the process, of which the body takes some. */
  readonly budget?: ByteBudget
}

const known = new WeakMap<Request, AboutRequest>()
const nothing: AboutRequest = {}

/** Notes what is known of a request. Only the listener calls this. */
export function rememberRequest(request: Request, about: AboutRequest): void {
  known.set(request, about)
}

/** What is known of a request. */
export function aboutRequest(request: Request): AboutRequest {
  return known.get(request) ?? nothing
}
