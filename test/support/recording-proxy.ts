/** A reverse proxy that keeps the digests of what passed, to show that bytes went through unchanged. */

export interface Exchange {
  readonly method: string
  readonly path: string
  readonly requestSha256: string
  readonly responseSha256: string
}

export interface RecordingProxy extends AsyncDisposable {
  readonly url: string
  readonly exchanges: readonly Exchange[]
}

/**
 * Forwards everything to `target`, the base address of an upstream.
 * @param before awaited before a request is forwarded, so that a test can hold it
 */
export async function recordingProxy(
  target: string,
  before: (method: string, path: string) => Promise<void> = async () => {},
): Promise<RecordingProxy> {
  const exchanges: Exchange[] = []
  const base = new URL(target)
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const sent = await request.bytes()
      await before(request.method, pathname)
      const headers = new Headers(request.headers)
      headers.delete('host')
      headers.set('accept-encoding', 'identity')
      const answer = await fetch(new URL(pathname + search, base), {
        method: request.method,
        headers,
        ...(sent.length > 0 ? { body: sent } : {}),
      })
      const received = await answer.bytes()
      exchanges.push({
        method: request.method,
        path: pathname,
        requestSha256: sha256(sent),
        responseSha256: sha256(received),
      })
      return new Response(answer.status === 304 ? null : received, {
        status: answer.status,
        headers: answer.headers,
      })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}${base.pathname.replace(/\/$/, '')}`,
    exchanges,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

function sha256(bytes: Uint8Array): string {
  return new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
}
