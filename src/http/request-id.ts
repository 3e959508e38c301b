/** The id of a request, by which its log lines, its audit row and its refusal are found. The listener sets it. */

const ids = new WeakMap<Request, string>()

/** Notes the id of a request; called by the listener alone. */
export function rememberRequestId(request: Request, id: string): void {
  ids.set(request, id)
}

/** @returns undefined for a request that came through no listener */
export function requestIdOf(request: Request): string | undefined {
  return ids.get(request)
}
