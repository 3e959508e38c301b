/**
 * Requests to one Trino and to the storage of its segments: pinned addresses, no redirects, no other origin, a
 * deadline for each, and another try where a failure is said to pass.
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
import { EngineError } from '../engine-error.ts'
import { cancelled, protocolError } from './failure.ts'
import { authorization, type TrinoSettings } from './settings.ts'

export interface TrinoHttpOptions {
  readonly addressRules: AddressRules
  readonly lookup?: Lookup
  /** `limits.trinoRequestMs`. */
  readonly requestMs?: number
  /** `limits.trinoRetryMs`. */
  readonly retryMs?: number
  /** `limits.trinoAnswerBytesMax`. */
  readonly answerBytesMax?: number
}

export interface TrinoRequest {
  readonly method: UpstreamMethod
  /** Absolute, as Trino named it. */
  readonly uri: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
}

/** What the coordinator says where a proxy or it itself has a passing problem (Trino client REST API). */
const passing = new Set([429, 502, 503, 504])
const firstDelayMs = 50
const delayMsMax = 2_000

/** One Trino as the service reaches it. */
export class TrinoHttp {
  readonly #coordinator: PinnedHost
  readonly #storage: ReadonlyMap<string, PinnedHost>
  readonly #authorization: string | undefined
  readonly #requestMs: number
  readonly #retryMs: number
  readonly #answerBytesMax: number

  constructor(
    readonly settings: TrinoSettings,
    options: TrinoHttpOptions,
  ) {
    const host = (url: URL) => new PinnedHost(url, options.addressRules, options.lookup)
    this.#coordinator = host(settings.endpoint)
    this.#storage = new Map(settings.segmentOrigins.map((url) => [url.origin, host(url)]))
    this.#authorization = authorization(settings.auth)
    this.#requestMs = options.requestMs ?? limits.trinoRequestMs
    this.#retryMs = options.retryMs ?? limits.trinoRetryMs
    this.#answerBytesMax = options.answerBytesMax ?? limits.trinoAnswerBytesMax
  }

  /** The address that statements are posted to. */
  get statementUri(): string {
    const { origin, pathname } = this.settings.endpoint
    return `${origin}${pathname === '/' ? '' : pathname}/v1/statement`
  }

  /**
   * Whether `uri` is the coordinator's, below `/v1/statement/`. What Trino names anywhere else is not followed.
   */
  isStatementUri(uri: string): boolean {
    return URL.canParse(uri) && new URL(uri).href.startsWith(`${this.statementUri}/`)
  }

  /**
   * Sends a request to the coordinator, again where that may help.
   * @returns the body of a 2xx answer
   * @throws EngineError 08006, 57014 where the signal fires
   */
  coordinator(request: TrinoRequest): Promise<Uint8Array> {
    const secret = this.#authorization
    const headers = secret === undefined ? request.headers : { ...request.headers, authorization: secret }
    return this.#patiently(this.#coordinator, { ...request, headers })
  }

  /**
   * Sends a request for a segment to the coordinator or to storage that is allowed; storage gets no credentials.
   * @throws EngineError as `coordinator`, and 08006 where the origin is not allowed
   */
  segment(request: TrinoRequest): Promise<Uint8Array> {
    const origin = URL.canParse(request.uri) ? new URL(request.uri).origin : ''
    if (origin === this.settings.endpoint.origin) return this.coordinator(request)
    const host = this.#storage.get(origin)
    if (host === undefined)
      return Promise.reject(
        protocolError(`a segment is at ${origin}, which trino.segment-origins does not name`),
      )
    return this.#patiently(host, request)
  }

  async #patiently(host: PinnedHost, request: TrinoRequest): Promise<Uint8Array> {
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
      const sent = { method, path, headers, signal, responseBytesMax: this.#answerBytesMax }
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
  const cause = new Error(`Trino answered ${status}`)
  const sentence =
    status === 401 || status === 403
      ? 'the engine refused the credentials of the service'
      : 'the engine did not take the request'
  return { passing: passing.has(status), error: new EngineError('08006', sentence, { cause }) }
}

/**
 * Whether another try may do better: never where the answer is too large or encoded, which has no cause of the
 * network's, and never where a statement that was posted may be running already.
 */
function mayPass({ sent, cause }: UpstreamHttpError, method: UpstreamMethod): boolean {
  return !sent || (cause !== undefined && method !== 'POST')
}

function unreachable(cause: UpstreamHttpError | Fault): EngineError {
  return new EngineError('08006', 'the engine cannot be reached', { cause })
}

/** As sendUpstream takes it: what follows the host's own base path. */
function pathBelow(base: URL, uri: string): string {
  const url = new URL(uri)
  const prefix = base.pathname === '/' ? '' : base.pathname
  if (url.origin !== base.origin || !url.pathname.startsWith(`${prefix}/`) || url.username !== '')
    throw protocolError('an address leads elsewhere')
  return `${url.pathname.slice(prefix.length)}${url.search}`
}

/**
 * Waits, or less where the signal fires.
 * @throws EngineError 57014 where it fired
 */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await setTimeout(ms, undefined, { signal })
  } catch {
    throw cancelled(signal)
  }
}
