/** The address of a request's direct peer, which only the socket knows; handlers see only the request. */

const peers = new WeakMap<Request, string>()

/** Notes where a request came from; called by the listener alone. */
export function rememberPeer(request: Request, address: string | undefined): void {
  if (address !== undefined) peers.set(request, address)
}

/** @returns undefined for a request that came through no socket */
export function peerAddress(request: Request): string | undefined {
  return peers.get(request)
}
