/**
 * Sends requests to one Trino and to the storage of its segments: pinned addresses, no redirects, no other origin, a
 * timeout for each request, and retries of transient failures. Does not parse replies.
 */

import { setTimeout } from 'node:timers/promises'
import { Fault } from '../../base/fault.ts'
import { type AddressRules, type Lookup, PinnedHost } from '../../catalog/address.ts'
import {
  sendUpstream,
  UpstreamHttpError,
  type UpstreamMethod,
  type UpstreamResponse,
} from '../../catalog/upstream-http.ts'
import { limits } from '../../limits.ts'
import type { ExchangeObserver } from '../../telemetry/exchange.ts'
import { EngineError } from '../engine-error.ts'
import { cancelled, protocolError } from './failure.ts'
import { authorization, type TrinoSettings } from './settings.ts'

/** Milliseconds for one request to Trino; the coordinator replies to each within a second or two. */
const trinoRequestMs = 30_000

export interface TrinoHttpOptions {
  readonly addressRules: AddressRules
  readonly lookup?: Lookup
  /** `trinoRequestMs`. */
  readonly requestMs?: number
  /** `limits.trinoRetryMs`. */
  readonly retryMs?: number
  /** `limits.trinoAnswerBytesMax`. */
  readonly replyBytesMax?: number
  /** Counts requests to the coordinator and continues their traces; absent: they are not noted. */
  readonly observe?: ExchangeObserver | undefined
}

interface TrinoRequest {
  readonly method: UpstreamMethod
  /** Absolute, as Trino named it. */
  readonly uri: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
}

/** Statuses of transient failures of the coordinator or a proxy (Trino client REST API). */
const passing = new Set([429, 502, 503, 504])
const firstDelayMs = 50
const delayMsMax = 2_000

/** The connection settings of one Trino; holds no state between requests. */
export class TrinoHttp {
  readonly #coordinator: PinnedHost
  readonly #storage: ReadonlyMap<string, PinnedHost>
  readonly #authorization: string | undefined
  readonly #requestMs: number
  readonly #retryMs: number
  readonly #replyBytesMax: number
  readonly #observe: ExchangeObserver | undefined

  constructor(
    readonly settings: TrinoSettings,
    options: TrinoHttpOptions,
  ) {
    const host = (url: URL) => new PinnedHost(url, options.addressRules, options.lookup)
    this.#coordinator = host(settings.endpoint)
    this.#storage = new Map(settings.segmentOrigins.map((url) => [url.origin, host(url)]))
    this.#authorization = authorization(settings.auth)
    this.#requestMs = options.requestMs ?? trinoRequestMs
    this.#retryMs = options.retryMs ?? limits.trinoRetryMs
    this.#observe = options.observe
    this.#replyBytesMax = options.replyBytesMax ?? limits.trinoAnswerBytesMax
  }

  /** The address that statements are posted to. */
  get statementUri(): string {
    const { origin, pathname } = this.settings.endpoint
    return `${origin}${pathname === '/' ? '' : pathname}/v1/statement`
  }

  /** Whether `uri` is on the coordinator, below `/v1/statement/`. URIs elsewhere are not followed. */
  isStatementUri(uri: string): boolean {
    return URL.canParse(uri) && new URL(uri).href.startsWith(`${this.statementUri}/`)
  }

  /**
   * Sends a request to the coordinator and retries transient failures.
   * @returns the body of a 2xx reply
   * @throws EngineError 08006; 57014 where the signal fires
   */
  coordinator(request: TrinoRequest): Promise<Uint8Array> {
    const secret = this.#authorization
    const headers = secret === undefined ? request.headers : { ...request.headers, authorization: secret }
    return this.#retrying(this.#coordinator, { ...request, headers })
  }

  /**
   * Requests a segment from the coordinator or from allowed storage; storage is not sent the credentials.
   * @throws EngineError as `coordinator`, and 08006 where the origin is not allowed
   */
  segment(request: TrinoRequest): Promise<Uint8Array> {
    const origin = URL.canParse(request.uri) ? new URL(request.uri).origin : ''
    if (origin === this.settings.endpoint.origin) return this.coordinator(request)
    const host = this.#storage.get(origin)
    if (host === undefined)
      return Promise.reject(protocolError(`a segment is at ${origin}, which is not in trino.segment-origins`))
    return this.#retrying(host, request)
  }

  async #retrying(host: PinnedHost, request: TrinoRequest): Promise<Uint8Array> {
    const giveUpAt = performance.now() + this.#retryMs
    for (let delayMs = firstDelayMs; ; delayMs = Math.min(delayMs * 2, delayMsMax)) {
      const outcome = await this.#once(host, request)
      if (outcome instanceof Uint8Array) return outcome
      if (request.signal.aborted) throw cancelled(request.signal)
      if (!outcome.passing || performance.now() + delayMs > giveUpAt) throw outcome.error
      await pause(delayMs, request.signal)
    }
  }

  async #once(host: PinnedHost, request: TrinoRequest): Promise<Uint8Array | Failed> {
    const { method, uri, headers, body } = request
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(this.#requestMs)])
    try {
      const path = pathBelow(host.url, uri)
      // Storage is not told of the trace: a segment's address may be signed.
      const observe = host === this.#coordinator ? this.#observe : undefined
      const sent = { method, path, headers, signal, responseBytesMax: this.#replyBytesMax, observe }
      return read(await sendUpstream(host, body === undefined ? sent : { ...sent, body }))
    } catch (thrown) {
      if (thrown instanceof EngineError) throw thrown
      if (thrown instanceof UpstreamHttpError)
        return { passing: mayPass(thrown, method), error: unreachable(thrown) }
      if (thrown instanceof Fault) return { passing: false, error: unreachable(thrown) }
      throw thrown
    }
  }
}

interface Failed {
  readonly passing: boolean
  readonly error: EngineError
}

function read({ status, body }: UpstreamResponse): Uint8Array | Failed {
  if (status >= 200 && status < 300) return body
  const cause = new Error(`Trino replied with status ${status}`)
  const sentence =
    status === 401 || status === 403
      ? 'the engine rejected the credentials of the service; check `trino.user` or `trino.token`'
      : 'the engine rejected the request'
  return { passing: passing.has(status), error: new EngineError('08006', sentence, { cause }) }
}

/**
 * Whether a retry may succeed. Not for a reply that is too large or encoded: such an error has no cause. Not for a
 * statement that was posted, because it may be running already.
 */
function mayPass({ sent, cause }: UpstreamHttpError, method: UpstreamMethod): boolean {
  return !sent || (cause !== undefined && method !== 'POST')
}

function unreachable(cause: UpstreamHttpError | Fault): EngineError {
  return new EngineError('08006', 'the engine cannot be reached', { cause })
}

/** The part of a URI behind the host's base path, which is what sendUpstream takes. */
function pathBelow(base: URL, uri: string): string {
  const url = new URL(uri)
  const prefix = base.pathname === '/' ? '' : base.pathname
  if (url.origin !== base.origin || !url.pathname.startsWith(`${prefix}/`) || url.username !== '')
    throw protocolError('a URI is outside the base path of its host')
  return `${url.pathname.slice(prefix.length)}${url.search}`
}

/**
 * Waits until the time is over or the signal fires.
 * @throws EngineError 57014 where the signal fires
 */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await setTimeout(ms, undefined, { signal })
  } catch {
    throw cancelled(signal)
  }
}
