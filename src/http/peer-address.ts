/** Remembers the address of a request's direct peer, because only the socket knows it and handlers see only the request. */

const peers = new WeakMap<Request, string>()

/** Records the peer's address. Only the listener calls this. */
export function rememberPeer(request: Request, address: string | undefined): void {
  if (address !== undefined) peers.set(request, address)
}

/** @returns undefined for a request that came through no socket */
export function peerAddress(request: Request): string | undefined {
  return peers.get(request)
}
