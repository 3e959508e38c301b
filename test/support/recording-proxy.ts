/** A reverse proxy that records digests of what passed, to show that bytes went through unchanged. */

export interface Exchange {
  readonly method: string
  readonly path: string
  readonly requestSha256: string
  readonly responseSha256: string
  readonly status: number
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
      const { pathname: path } = new URL(request.url)
      const sent = await request.bytes()
      await before(request.method, path)
      const { answer, received } = await passOn(request, base, sent)
      exchanges.push({
        method: request.method,
        path,
        requestSha256: sha256(sent),
        responseSha256: sha256(received),
        status: answer.status,
      })
      return answer
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}${base.pathname.replace(/\/$/, '')}`,
    exchanges,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

/**
 * Sends a request on to the same path of `target`, and gives the answer once it is there whole.
 * @param sent the request's body
 */
export async function passOn(
  request: Request,
  target: URL | string,
  sent: Uint8Array,
): Promise<{ readonly answer: Response; readonly received: Uint8Array }> {
  const { pathname, search } = new URL(request.url)
  const headers = new Headers(request.headers)
  headers.delete('host')
  headers.set('accept-encoding', 'identity')
  const answer = await fetch(new URL(pathname + search, target), {
    method: request.method,
    headers,
    ...(sent.length > 0 ? { body: new Uint8Array(sent) } : {}),
  })
  const received = await answer.bytes()
  const { status } = answer
  const body = [204, 304].includes(status) ? null : received
  return { answer: new Response(body, { status, headers: answer.headers }), received }
}

function sha256(bytes: Uint8Array): string {
  return new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
}
