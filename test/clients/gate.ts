/** A reverse proxy before a real upstream: records requests, and refuses or drops those that a test chooses. */

export interface Passed {
  readonly method: string
  readonly path: string
  readonly headers: Headers
  readonly status: number
}

/** Returns an answer to give instead; 'lose' or 'fail' to pass the request on and spoil its answer, or answer 502; or undefined. */
export type Interfere = (request: Request, path: string) => Response | 'lose' | 'fail' | undefined

export interface Gate extends AsyncDisposable {
  readonly url: string
  readonly passed: Passed[]
  interfere: Interfere
  /** Awaited once the target has answered, before the answer is passed back. */
  afterwards: (request: Request, path: string) => Promise<void>
}

/** @param target base address of the upstream */
export function openGate(target: string): Gate {
  const base = target.replace(/\/$/, '')
  const prefix = new URL(base).pathname.replace(/\/$/, '')
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const path = request.url.slice(new URL(request.url).origin.length)
      const effect = gate.interfere(request, path)
      if (effect instanceof Response) {
        gate.passed.push({ method: request.method, path, headers: request.headers, status: effect.status })
        return effect
      }
      const headers = new Headers(request.headers)
      headers.delete('host')
      headers.set('accept-encoding', 'identity')
      const body = await request.bytes()
      const answer = await fetch(new URL(base).origin + path, {
        method: request.method,
        headers,
        redirect: 'manual',
        ...(body.length > 0 ? { body } : {}),
      })
      const received = await answer.bytes()
      gate.passed.push({ method: request.method, path, headers: request.headers, status: answer.status })
      await gate.afterwards(request, path)
      if (effect === 'fail') return new Response('', { status: 502 })
      if (effect === 'lose') return new Response('{"meta', { status: answer.status })
      return new Response(received.length > 0 ? received : null, {
        status: answer.status,
        headers: answer.headers,
      })
    },
  })
  const gate: Gate = {
    url: `http://127.0.0.1:${server.port}${prefix}`,
    passed: [],
    interfere: () => undefined,
    afterwards: async () => {},
    [Symbol.asyncDispose]: () => server.stop(true),
  }
  return gate
}
