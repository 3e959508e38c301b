/**
 * Sends one HTTP request to an upstream: pinned address, no redirects, a deadline over the whole exchange, a bound on
 * the response. Its errors say by `sent` whether the upstream may have acted on the request.
 */

import { isIP } from 'node:net'
import type { ByteBudget } from '../base/byte-budget.ts'
import type { ByteAmounts, ByteReservation } from '../base/byte-work.ts'
import { Fault } from '../base/fault.ts'
import { parsedBeyond } from '../base/parsed-size.ts'
import { unlessAborted } from '../base/unless-aborted.ts'
import { limits } from '../limits.ts'
import type { ExchangeObserver } from '../telemetry/exchange.ts'
import type { PinnedHost } from './address.ts'

export type UpstreamMethod = 'GET' | 'HEAD' | 'POST' | 'DELETE'

export interface UpstreamRequest {
  readonly method: UpstreamMethod
  /** Path and query below the host's base path; begins with '/'. Already encoded, free of dot segments. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
  /** Aborts everything, including the reading of the response. */
  readonly signal: AbortSignal
  readonly responseBytesMax: number
  /** The bytes of the process, of which a response that is read whole takes some; absent: not counted. */
  readonly budget?: ByteBudget | undefined
  /**
   * For a request that changes the upstream: the expected bytes of its response. They are reserved before anything is
   * sent, because a response to a change is read whether or not there is room for it.
   */
  readonly changeAnswerBytes?: number | undefined
  /** Counts the exchange and continues its trace; absent: it is not noted. */
  readonly observe?: ExchangeObserver | undefined
}

export interface UpstreamResponse {
  readonly status: number
  readonly headers: Headers
  /** Empty where a response other than 2xx broke off or was too long. */
  readonly body: Uint8Array
}

/** A response whose body is streamed if its status is a success. */
export interface StreamedResponse {
  readonly status: number
  readonly headers: Headers
  /** A stream for a success, which fails if it breaks off or exceeds the bound. */
  readonly body: Uint8Array | ReadableStream<Uint8Array>
}

/** The exchange did not end in a usable response. */
export class UpstreamHttpError extends Error {
  override readonly name = 'UpstreamHttpError'

  /**
   * @param sent false only where the upstream certainly never saw the request
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
 * Failures of name resolution, connect and TLS handshake, before any byte of the request was sent. ECONNRESET and
 * ETIMEDOUT are not listed, because they also end exchanges that had begun.
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
 * Sends one request. It tries the addresses of the host in turn while connections are refused. It never retries once a
 * request may have been sent.
 * @throws UpstreamHttpError
 * @throws Fault `upstream_failed` where the host has no allowed address; nothing was sent
 * @throws Fault `overloaded` where the process has no memory left for the response. A change was not sent then
 */
export async function sendUpstream(host: PinnedHost, request: UpstreamRequest): Promise<UpstreamResponse> {
  const { changeAnswerBytes } = request
  const { budget, signal } = request
  const held = await budget
    ?.reserveInTurn(changeAnswerBytes === undefined ? {} : heldFor(changeAnswerBytes), signal)
    .catch((thrown: unknown) => {
      throw signal.aborted ? aborted(false, signal) : thrown
    })
  try {
    const response = await readWhole(await openResponse(host, request), request, held)
    const isSuccess = response.status >= 200 && response.status < 300
    if (held !== undefined && isSuccess) await holdParsed(held, request, response.body)
    held?.leave()
    return response
  } catch (thrown) {
    held?.release()
    throw thrown
  }
}

/**
 * As {@link sendUpstream}, but streams the body of a success.
 * @throws as sendUpstream does
 */
export async function streamUpstream(host: PinnedHost, request: UpstreamRequest): Promise<StreamedResponse> {
  const response = await openResponse(host, request)
  if (!response.ok || response.body === null) return await readWhole(response, request, undefined)
  const { status, headers } = response
  assertPlain(response)
  if (Number(headers.get('content-length') ?? 0) > request.responseBytesMax) {
    await response.body.cancel()
    throw tooLarge(request.responseBytesMax)
  }
  return { status, headers, body: response.body.pipeThrough(byteBound(request.responseBytesMax)) }
}

/**
 * As {@link sendUpstream}, for a receiver whose answer is its status: the body is not read.
 * @throws UpstreamHttpError, and Fault `upstream_failed` where the host has no allowed address
 */
export async function sendForStatus(
  host: PinnedHost,
  request: UpstreamRequest,
): Promise<Pick<UpstreamResponse, 'status' | 'headers'>> {
  const { status, headers, body } = await openResponse(host, request)
  await body?.cancel().catch(() => {})
  return { status, headers }
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
  const exchange = request.observe?.(request.method)
  if (exchange === undefined) return await openUnobserved(host, request)
  try {
    const headers = { ...request.headers, ...exchange.headers }
    const response = await openUnobserved(host, { ...request, headers })
    exchange.end(response.status)
    return response
  } catch (thrown) {
    exchange.end(thrown instanceof UpstreamHttpError && thrown.sent ? 'broken' : 'unreachable')
    throw thrown
  }
}

async function openUnobserved(host: PinnedHost, request: UpstreamRequest): Promise<Response> {
  const found = host.addresses()
  const addresses = found instanceof Promise ? await raceSignal(found, request.signal) : found
  let failure: UpstreamHttpError | undefined
  for (const address of addresses) {
    if (request.signal.aborted) throw aborted(false, request.signal)
    try {
      return await connect(host, address, request)
    } catch (thrown) {
      if (!(thrown instanceof UpstreamHttpError) || thrown.sent) throw thrown
      failure = thrown
      host.failed(address)
    }
  }
  throw failure ?? new UpstreamHttpError(false, 'has no address')
}

async function connect(host: PinnedHost, address: string, request: UpstreamRequest): Promise<Response> {
  const { url } = host
  const authority = isIP(address) === 6 ? `[${address}]` : address
  const target = `${url.protocol}//${authority}${url.port === '' ? '' : `:${url.port}`}${url.pathname === '/' ? '' : url.pathname}${request.path}`
  const init: BunFetchRequestInit = {
    method: request.method,
    // Identity, so that the bound covers the stored bytes and they can be passed on unchanged.
    headers: { ...request.headers, host: url.host, 'accept-encoding': 'identity' },
    redirect: 'manual',
    signal: request.signal,
    decompress: false,
  }
  // On a reused connection, fetch retries a DELETE if the connection drops before the reply.
  if (request.method === 'DELETE') init.keepalive = false
  if (request.body !== undefined) init.body = request.body
  if (url.protocol === 'https:' && isIP(host.host) === 0) init.tls = { serverName: host.host }
  try {
    return await fetch(target, init)
  } catch (thrown) {
    if (request.signal.aborted) throw aborted(true, request.signal)
    const code = errorCode(thrown)
    const sent = !connectFailures.has(code) && !tlsFailure.test(code)
    throw new UpstreamHttpError(sent, sent ? 'dropped the connection' : 'cannot be reached', thrown)
  }
}

async function readWhole(
  response: Response,
  request: UpstreamRequest,
  held: ByteReservation | undefined,
): Promise<UpstreamResponse> {
  const { status, headers } = response
  try {
    assertPlain(response)
    const body = response.ok
      ? await readBody(response, request.responseBytesMax, holding(request, held))
      : await readBody(response, limits.upstreamErrorBytesMax, () => undefined)
    return { status, headers, body }
  } catch (thrown) {
    // The status alone already shows that nothing was done.
    if (!response.ok) return { status, headers, body: new Uint8Array(0) }
    if (thrown instanceof UpstreamHttpError || thrown instanceof Fault) throw thrown
    if (request.signal.aborted) throw aborted(true, request.signal)
    throw new UpstreamHttpError(true, 'broke off its response', thrown)
  }
}

/** Called with the bytes of a response before they are kept; may wait, and throw a Fault `overloaded`. */
type Hold = (bytes: number) => Promise<void> | undefined

function holding({ changeAnswerBytes, signal }: UpstreamRequest, held: ByteReservation | undefined): Hold {
  if (changeAnswerBytes === undefined) return (bytes) => held?.addInTurn(heldFor(bytes), signal)
  let reserved = changeAnswerBytes
  return async (bytes) => {
    held?.addAnyway(heldFor(Math.max(bytes - reserved, 0)))
    reserved = Math.max(reserved - bytes, 0)
  }
}

/** Counts what a response with many small values takes beyond its share. */
async function holdParsed(
  held: ByteReservation,
  { changeAnswerBytes, signal }: UpstreamRequest,
  body: Uint8Array,
): Promise<void> {
  const parse = await parsedBeyond(body, body.length * limits.parsedBytesPerByte)
  if (parse === 0) return
  if (changeAnswerBytes === undefined) await held.addInTurn({ parse }, signal)
  else held.addAnyway({ parse })
}

/** What a response takes once it is parsed. */
function heldFor(bytes: number): ByteAmounts {
  return { upstream: bytes, parse: bytes * limits.parsedBytesPerByte }
}

function assertPlain(response: Response): void {
  if (response.headers.has('content-encoding'))
    throw new UpstreamHttpError(true, 'sent an encoding that was not requested')
}

function tooLarge(bytesMax: number): UpstreamHttpError {
  return new UpstreamHttpError(true, `sent more than ${bytesMax} bytes`)
}

async function readBody(response: Response, bytesMax: number, hold: Hold): Promise<Uint8Array> {
  const declared = Number(response.headers.get('content-length') ?? Number.NaN)
  try {
    if (declared > bytesMax) throw tooLarge(bytesMax)
    if (!Number.isNaN(declared)) await hold(declared)
  } catch (refusal) {
    await response.body?.cancel()
    throw refusal
  }
  if (!Number.isNaN(declared)) return response.bytes()
  if (response.body === null) return new Uint8Array(0)
  const chunks: Uint8Array[] = []
  let sizeBytes = 0
  for await (const chunk of response.body) {
    sizeBytes += chunk.length
    // Leaving the loop cancels the stream and closes the connection.
    if (sizeBytes > bytesMax) throw tooLarge(bytesMax)
    await hold(chunk.length)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, sizeBytes)
}

/**
 * Waits for `promise` until the signal aborts; for work that several callers share.
 * @throws UpstreamHttpError with `sent` false once the signal is aborted
 */
export async function raceSignal<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await unlessAborted(promise, signal)
  } catch (thrown) {
    throw signal.aborted ? aborted(false, signal) : thrown
  }
}

/** An UpstreamHttpError as the Fault of an exchange whose loss is harmless: a load, a list, a token. */
export function toUpstreamFault(thrown: unknown): unknown {
  return thrown instanceof UpstreamHttpError
    ? new Fault('upstream_failed', `The upstream catalog ${thrown.publicMessage}.`, { cause: thrown })
    : thrown
}

function aborted(sent: boolean, signal: AbortSignal): UpstreamHttpError {
  const late = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError'
  return new UpstreamHttpError(
    sent,
    late ? 'did not answer in time' : 'did not answer before the request was cancelled',
    signal.reason,
  )
}

function errorCode(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : ''
}
