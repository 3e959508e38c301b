/**
 * One HTTP request to an upstream: pinned address, no redirects, a deadline over the whole exchange, a bound on
 * the response. Its one subtlety is `UpstreamError.sent`: whether the upstream may have acted on the request.
 */

import { isIP } from 'node:net'
import { Fault } from '../base/fault.ts'
import { unlessAborted } from '../base/unless-aborted.ts'
import { limits } from '../limits.ts'
import type { PinnedHost } from './address.ts'

export type UpstreamMethod = 'GET' | 'HEAD' | 'POST' | 'DELETE'

export interface UpstreamRequest {
  readonly method: UpstreamMethod
  /** Path and query below the host's base path; begins with '/'. Already encoded, free of dot segments. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
  /** Ends everything, the reading of the response included. */
  readonly signal: AbortSignal
  readonly responseBytesMax: number
}

export interface UpstreamResponse {
  readonly status: number
  readonly headers: Headers
  /** Empty where a response other than 2xx broke off or was too long. */
  readonly body: Uint8Array
}

/** A response whose body is still to come, where its status is a success. */
export interface StreamedResponse {
  readonly status: number
  readonly headers: Headers
  /** A stream for a success; it fails where it breaks off or grows beyond the bound. */
  readonly body: Uint8Array | ReadableStream<Uint8Array>
}

/** The exchange did not end in a response that can be used. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError'

  /**
   * @param sent false only where the upstream surely never saw the request
   * @param publicMessage a clause about the upstream, without a full stop
   */
  constructor(
    readonly sent: boolean,
    readonly publicMessage: string,
    cause?: unknown,
  ) {
    super(publicMessage, { cause })
  }
}

/**
 * Failures of name resolution, connect and TLS handshake: no byte of the request has left. ECONNRESET and
 * ETIMEDOUT are not among them, because they also end exchanges that had begun.
 */
const connectFailures = new Set([
  'ECONNREFUSED',
  'ConnectionRefused',
  'FailedToOpenSocket',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ENOTFOUND',
])
const tlsFailure =
  /^(ERR_TLS_CERT_|CERT_|UNABLE_TO_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED_CERT|HOSTNAME_MISMATCH)/

/**
 * Sends one request. The addresses of the host are tried in turn as long as a connection is refused; nothing is
 * repeated once a request may have been sent.
 * @throws UpstreamError
 * @throws Fault `upstream_failed` where the host has no address that is allowed; nothing was sent
 */
export async function sendUpstream(host: PinnedHost, request: UpstreamRequest): Promise<UpstreamResponse> {
  return await readWhole(await openResponse(host, request), request)
}

/**
 * As {@link sendUpstream}, but a success is handed on while it arrives.
 * @throws UpstreamError, Fault as sendUpstream does
 */
export async function streamUpstream(host: PinnedHost, request: UpstreamRequest): Promise<StreamedResponse> {
  const response = await openResponse(host, request)
  if (!response.ok || response.body === null) return await readWhole(response, request)
  const { status, headers } = response
  assertPlain(response)
  if (Number(headers.get('content-length') ?? 0) > request.responseBytesMax) {
    await response.body.cancel()
    throw tooLarge(request.responseBytesMax)
  }
  return { status, headers, body: response.body.pipeThrough(byteBound(request.responseBytesMax)) }
}

function byteBound(bytesMax: number): TransformStream<Uint8Array, Uint8Array> {
  let sizeBytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      sizeBytes += chunk.length
      if (sizeBytes > bytesMax) controller.error(tooLarge(bytesMax))
      else controller.enqueue(chunk)
    },
  })
}

async function openResponse(host: PinnedHost, request: UpstreamRequest): Promise<Response> {
  const known = host.addresses()
  const addresses = known instanceof Promise ? await raceSignal(known, request.signal) : known
  let failure: UpstreamError | undefined
  for (const address of addresses) {
    if (request.signal.aborted) throw aborted(false, request.signal)
    try {
      return await connect(host, address, request)
    } catch (thrown) {
      if (!(thrown instanceof UpstreamError) || thrown.sent) throw thrown
      failure = thrown
      host.failed(address)
    }
  }
  throw failure ?? new UpstreamError(false, 'has no address')
}

async function connect(host: PinnedHost, address: string, request: UpstreamRequest): Promise<Response> {
  const { url } = host
  const authority = isIP(address) === 6 ? `[${address}]` : address
  const target = `${url.protocol}//${authority}${url.port === '' ? '' : `:${url.port}`}${url.pathname === '/' ? '' : url.pathname}${request.path}`
  const init: BunFetchRequestInit = {
    method: request.method,
    // Identity, so that the bound counts what is kept and the bytes can be echoed as they came.
    headers: { ...request.headers, host: url.host, 'accept-encoding': 'identity' },
    redirect: 'manual',
    signal: request.signal,
    decompress: false,
  }
  // On a connection that is kept, fetch sends a DELETE again where the connection drops before the answer.
  if (request.method === 'DELETE') init.keepalive = false
  if (request.body !== undefined) init.body = request.body
  if (url.protocol === 'https:' && isIP(host.host) === 0) init.tls = { serverName: host.host }
  try {
    return await fetch(target, init)
  } catch (thrown) {
    if (request.signal.aborted) throw aborted(true, request.signal)
    const code = errorCode(thrown)
    const sent = !connectFailures.has(code) && !tlsFailure.test(code)
    throw new UpstreamError(sent, sent ? 'dropped the connection' : 'cannot be reached', thrown)
  }
}

async function readWhole(response: Response, request: UpstreamRequest): Promise<UpstreamResponse> {
  const { status, headers } = response
  try {
    assertPlain(response)
    const bytesMax = response.ok ? request.responseBytesMax : limits.upstreamErrorBytesMax
    return { status, headers, body: await readBody(response, bytesMax) }
  } catch (thrown) {
    // The status alone already says that nothing was done.
    if (!response.ok) return { status, headers, body: new Uint8Array(0) }
    if (thrown instanceof UpstreamError) throw thrown
    if (request.signal.aborted) throw aborted(true, request.signal)
    throw new UpstreamError(true, 'broke off its response', thrown)
  }
}

function assertPlain(response: Response): void {
  if (response.headers.has('content-encoding'))
    throw new UpstreamError(true, 'sent an encoding that was not asked for')
}

function tooLarge(bytesMax: number): UpstreamError {
  return new UpstreamError(true, `sent more than ${bytesMax} bytes`)
}

async function readBody(response: Response, bytesMax: number): Promise<Uint8Array> {
  const declared = response.headers.get('content-length')
  if (declared !== null) {
    if (Number(declared) > bytesMax) {
      await response.body?.cancel()
      throw tooLarge(bytesMax)
    }
    return response.bytes()
  }
  if (response.body === null) return new Uint8Array(0)
  const chunks: Uint8Array[] = []
  let sizeBytes = 0
  for await (const chunk of response.body) {
    sizeBytes += chunk.length
    // Leaving the loop cancels the stream and closes the connection.
    if (sizeBytes > bytesMax) throw tooLarge(bytesMax)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, sizeBytes)
}

/**
 * Waits for `promise` no longer than the signal lets it: for work that several callers share.
 * @throws UpstreamError with `sent` false once the signal is aborted
 */
export async function raceSignal<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await unlessAborted(promise, signal)
  } catch (thrown) {
    throw signal.aborted ? aborted(false, signal) : thrown
  }
}

/** An UpstreamError as the Fault of an exchange whose loss is harmless: a load, a list, a token. */
export function toUpstreamFault(thrown: unknown): unknown {
  return thrown instanceof UpstreamError
    ? new Fault('upstream_failed', `The upstream catalog ${thrown.publicMessage}.`, { cause: thrown })
    : thrown
}

function aborted(sent: boolean, signal: AbortSignal): UpstreamError {
  const late = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError'
  return new UpstreamError(sent, late ? 'did not answer in time' : 'was no longer waited for', signal.reason)
}

function errorCode(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : ''
}
