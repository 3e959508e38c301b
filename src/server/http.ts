/** Runs the public HTTP listener: request ids, security headers, drain. The routes come from `handle`. */

import http from 'node:http'
import type { Logger } from 'pino'
import type { CachedOwners } from '../auth/cached-owners.ts'
import { tokenCharsMax } from '../auth/token-keys.ts'
import type { ByteBudget } from '../base/byte-budget.ts'
import { asOwner, nobody } from '../base/owner.ts'
import { inNextTurn } from '../base/turn.ts'
import { rememberRequest } from '../http/about-request.ts'
import { withinSpan } from '../telemetry/tracing.ts'
import { errorModel } from '../wire/iceberg/error-model.ts'
import type { Drain } from './drain.ts'
import { releasedOnceSent } from './released-once-sent.ts'
import { type RequestTelemetry, watchRequest } from './request-telemetry.ts'

/** Longest idle time in milliseconds of a client of the HTTP listener that must send or receive. */
const httpIdleMs = 120_000

/** Bytes of a request's head: a token of the largest size beside the 16 KiB that are usual. */
const headBytesMax = tokenCharsMax + 16 * 1024
/** Characters of `Authorization`. */
const authorizationCharsMax = tokenCharsMax + 'Bearer '.length

interface HttpOptions extends RequestTelemetry {
  readonly hostname: string | undefined
  /** 0: any free port. */
  readonly port: number
  readonly handle: (request: Request) => Promise<Response>
  readonly drain: Drain
  readonly log: Logger
  /** Bounds the bytes that requests hold; absent: they are not counted. */
  readonly budget?: ByteBudget
  /** Whose requests seem to be; absent: nobody's. */
  readonly owners?: Pick<CachedOwners, 'of'>
  /** How long a client may stall while the server waits for it; limits.ts unless a test shortens it. */
  readonly idleSeconds?: number
}

/** Callers may send a request id. One that is unsafe in a log line is replaced. */
const requestIdPattern = /^[A-Za-z0-9._-]{1,64}$/

/** Probes are served without a Host, as load balancers send them in HTTP/1.0, and still while the service drains. */
export const probes = new Set(['/livez', '/healthz', '/readyz'])

/** Added to every response that does not set its own (OWASP REST Security Cheat Sheet). */
const securityHeaders = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** Starts the listener. Each route enforces its own limit on body size. */
export function listenHttp(options: HttpOptions): Bun.Server<undefined> {
  const { drain, handle, log, budget, owners, idleSeconds = httpIdleMs / 1_000 } = options
  // The runtime has one bound for the process, and answers 431 itself beyond it.
  // Its types say that it is read alone, as in Node.
  Object.assign(http, { maxHeaderSize: headBytesMax })
  return Bun.serve({
    ...(options.hostname === undefined ? {} : { hostname: options.hostname }),
    port: options.port,
    // Unless told otherwise, Bun shares the port with another process, which then gets half of the connections.
    reusePort: false,
    idleTimeout: idleSeconds,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    // In development mode, Bun answers an uncaught error with a page of source code, unless NODE_ENV is `production`.
    development: false,
    async fetch(received, server) {
      const request = named(received)
      const startedMs = performance.now()
      const given = request.headers.get('x-request-id')
      const requestId = given !== null && requestIdPattern.test(given) ? given : crypto.randomUUID()
      const pathname = hasOneHost(received) ? URL.parse(request.url)?.pathname : undefined
      // Work has timeouts of its own: a commit of several tables may outlast the idle timeout of a client.
      const suspendIdleTimeout = () => server.timeout(received, 0)
      if (!hasBody(request)) suspendIdleTimeout()
      rememberRequest(request, {
        peer: server.requestIP(received)?.address,
        id: requestId,
        onBodyRead: suspendIdleTimeout,
        ...(budget && { budget }),
      })
      const watched = watchRequest(options, request, requestId, pathname)
      const work = budget?.open()
      const owner = owners?.of(request) ?? nobody
      const owned = () => asOwner(owner, () => handle(request))
      const handled = () => (work === undefined ? owned() : work.run(owned))
      const answered = () => withinSpan(watched.span, handled)
      const unsent =
        pathname === undefined
          ? hostlessResponse()
          : hasLongCredential(request)
            ? longCredentialResponse()
            : drain.draining && !probes.has(pathname)
              ? drainingResponse()
              : await drain.track(answered).catch((err: unknown) => {
                  log.error({ err, requestId }, 'a request failed outside of its handler')
                  return new Response(errorModel(500, 'InternalServerError', 'Internal error.'), {
                    status: 500,
                  })
                })
      const response = work === undefined ? unsent : releasedOnceSent(unsent, work, received.signal)
      response.headers.set('x-request-id', requestId)
      for (const [name, value] of Object.entries(securityHeaders))
        if (!response.headers.has(name)) response.headers.set(name, value)
      watched.end(response.status)
      const line = {
        requestId,
        traceId: watched.span?.traceId,
        method: request.method,
        path: pathname,
        status: response.status,
        decisionId: response.headers.get('x-svc-decision-id') ?? undefined,
        ms: Math.round((performance.now() - startedMs) * 100) / 100,
      }
      inNextTurn(() => log.info(line, 'request'))
      server.timeout(received, idleSeconds)
      return response
    },
  })
}

/** Whether the request names no more than one host: the runtime takes the first of several and joins them in the header. */
function hasOneHost({ headers }: Request): boolean {
  return headers.get('host')?.includes(',') !== true
}

/** The request; a probe without a Host as if it had one. Any other request without one has no URL. */
function named(request: Request): Request {
  const [path = ''] = request.url.split('?')
  if (!probes.has(path)) return request
  return new Request(`http://localhost${path}`, { method: request.method, headers: request.headers })
}

/** Whether a body follows the head (RFC 9112, 6.3). */
function hasBody({ headers }: Request): boolean {
  return headers.has('transfer-encoding') || Number(headers.get('content-length') ?? 0) !== 0
}

/** A request without a valid host has no URL (RFC 9112, 3.2). */
function hostlessResponse(): Response {
  return new Response(errorModel(400, 'BadRequestException', 'The Host header is missing or invalid.'), {
    status: 400,
    headers: { 'content-type': 'application/json' },
  })
}

function hasLongCredential({ headers }: Request): boolean {
  return (headers.get('authorization')?.length ?? 0) > authorizationCharsMax
}

/** RFC 6585, 5. */
function longCredentialResponse(): Response {
  const text = `The header Authorization is too long: a token may have ${tokenCharsMax} characters.`
  return new Response(errorModel(431, 'RequestHeaderFieldsTooLargeException', text), {
    status: 431,
    headers: { 'content-type': 'application/json' },
  })
}

function drainingResponse(): Response {
  return new Response(
    errorModel(503, 'ServiceUnavailableException', 'The service is shutting down; retry elsewhere.'),
    {
      status: 503,
      headers: { 'content-type': 'application/json', 'retry-after': '1', connection: 'close' },
    },
  )
}
