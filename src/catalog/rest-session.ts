/**
 * Holds the configuration, fetched once, and the token of one Iceberg REST upstream, and sends its requests. Of the
 * configuration only prefix, separator and endpoints are used; addresses, tokens and storage settings are ignored.
 */

import type { ByteBudget } from '../base/byte-budget.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import { Lru } from '../base/lru.ts'
import type { CatalogKind } from '../core/catalog-kinds.ts'
import { limits } from '../limits.ts'
import type { ExchangeObserver } from '../telemetry/exchange.ts'
import { parseErrorModel } from '../wire/iceberg/error-model.ts'
import type { LoadTableResult } from '../wire/iceberg/table-metadata.ts'
import { type AddressRules, type Lookup, PinnedHost } from './address.ts'
import { CatalogError, type UpstreamReply } from './catalog.ts'
import type { RestCatalogConfig } from './config.ts'
import { startDeadline } from './deadline.ts'
import { OAuthTokens } from './oauth.ts'
import { defaultSeparator, parseConfigResponse, type UpstreamConfig } from './rest-responses.ts'
import { type SigningKeys, signRequest } from './sign-request.ts'
import {
  raceSignal,
  type StreamedResponse,
  sendUpstream,
  streamUpstream,
  toUpstreamFault,
  type UpstreamMethod,
  type UpstreamRequest,
  type UpstreamResponse,
} from './upstream-http.ts'

/** Bytes of one response of an upstream catalog. */
const upstreamResponseBytesMax = 256 * 1024 * 1024

export interface CatalogVariant {
  readonly kind: CatalogKind
  /** Below the endpoint's path; begins with '/'. */
  configPath(config: RestCatalogConfig): string
  /** The prefix of the upstream's configuration as path text; undefined where it is not allowed in a path. */
  prefixPath(prefix: string): string | undefined
  /** Whether a reply other than 404 also means that the table does not exist. */
  isTableNotFound(reply: UpstreamReply): boolean
  /**
   * The suffix of the table's name that loads exactly the state that a commit's reply describes, if that names no
   * metadata file; else undefined. Decoded.
   */
  committedState(result: LoadTableResult): string | undefined
  /** Whether the upstream checks a commit's `assert-ref-snapshot-id` with a null id. */
  readonly assertsAbsentRefs: boolean
  /** See `Catalog.checksRequirements`. */
  readonly checksRequirements: boolean
}

export interface RestCatalogOptions {
  readonly addressRules: AddressRules
  readonly lookup?: Lookup
  readonly clock?: Clock
  /** Milliseconds for ListTables, GetTable, LoadTable and a token; `limits.upstreamLoadMs`. */
  readonly loadMs?: number
  /** Milliseconds for one commit, token and configuration included; `limits.upstreamCommitMs`. */
  readonly commitMs?: number
  /** `upstreamResponseBytesMax`. */
  readonly responseBytesMax?: number
  /** Bounds the responses that are held at once; absent: they are not counted. */
  readonly budget?: ByteBudget
  /** Counts requests and continues their traces; absent: they are not noted. */
  readonly observe?: ExchangeObserver
}

export interface RestRequest {
  readonly method: UpstreamMethod
  /** Below `/v1/{prefix}`. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** Whether the upstream's state may change, so that the response must be read. */
  readonly changes?: boolean
}

/** A request with its whole path. */
type SentRequest = Omit<RestRequest, 'changes'> & Pick<UpstreamRequest, 'changeAnswerBytes'>

type Transport<R> = (host: PinnedHost, request: UpstreamRequest) => Promise<R>

interface Configured extends UpstreamConfig {
  /** The path text of the prefix; '' without one. */
  readonly prefixPath: string
}

const sentenceLengthMax = 1_000
/** A shorter header is no secret, and hiding it would blot out words of the upstream. */
const secretLengthMin = 8
/** Paths whose last response's size is kept. */
const answerSizesCount = 1_000
/** Seconds, or a date of HTTP. */
const retryAfterForm = /^(?:\d{1,7}|[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT)$/
const errorType = /^[A-Za-z_]{1,100}$/

/** Sends requests to one upstream and reads its refusals. */
export class UpstreamSession {
  readonly #host: PinnedHost
  readonly #clock: Clock
  readonly #tokens: OAuthTokens | undefined
  readonly #loadMs: number
  readonly #responseBytesMax: number
  readonly #budget: ByteBudget | undefined
  readonly #observe: ExchangeObserver | undefined
  /** Bytes of the last response by path without query: a commit's response is about as large as the table's load. */
  readonly #answerBytes = new Lru<string, number>(answerSizesCount)
  #configured: Configured | undefined
  #configuring: Promise<Configured> | undefined

  constructor(
    readonly variant: CatalogVariant,
    readonly config: RestCatalogConfig,
    options: RestCatalogOptions,
  ) {
    const { addressRules, lookup, clock = systemClock } = options
    this.#host = new PinnedHost(config.endpoint, addressRules, lookup, clock)
    this.#clock = clock
    this.#loadMs = options.loadMs ?? limits.upstreamLoadMs
    this.#responseBytesMax = options.responseBytesMax ?? upstreamResponseBytesMax
    this.#budget = options.budget
    this.#observe = options.observe
    if (config.auth.kind === 'client-credentials') {
      const { credentials } = config.auth
      const tokenHost = new PinnedHost(credentials.tokenUrl, addressRules, lookup, clock)
      this.#tokens = new OAuthTokens(credentials, (form) => this.#sendTokenRequest(tokenHost, form), clock)
    }
  }

  /**
   * Sends one request below the upstream's prefix, and retries once where the upstream refuses the token.
   * @param deadlineMs covers configuration, token and request together, so that a commit never outlives its intent
   * @throws UpstreamHttpError where the exchange failed; a commit may have been made only if `sent` is true
   * @throws CatalogError `ErrCredentialsExpired` and Fault `upstream_failed`; the request was not sent, or refused
   */
  async call(
    request: RestRequest,
    deadlineMs: number,
    callerSignal: AbortSignal | undefined,
  ): Promise<UpstreamResponse> {
    using deadline = startDeadline(deadlineMs, callerSignal)
    const response = await this.#callBy(sendUpstream, request, deadline.signal)
    if (response.status === 200) this.#answerBytes.set(pathOf(request), response.body.length)
    return response
  }

  /**
   * As `call`, but streams the body of a success; the deadline covers the whole body.
   * @throws as `call` does
   */
  async stream(
    request: RestRequest,
    deadlineMs: number,
    callerSignal: AbortSignal | undefined,
  ): Promise<StreamedResponse> {
    const deadline = AbortSignal.timeout(deadlineMs)
    const signal = callerSignal === undefined ? deadline : AbortSignal.any([deadline, callerSignal])
    return await this.#callBy(streamUpstream, request, signal)
  }

  /** The upstream's configuration, fetched once; a failure is not cached. */
  async configuration(callerSignal: AbortSignal | undefined): Promise<UpstreamConfig> {
    using deadline = startDeadline(this.#loadMs, callerSignal)
    return await this.#configure(deadline.signal)
  }

  async #callBy<R extends { readonly status: number }>(
    transport: Transport<R>,
    request: RestRequest,
    signal: AbortSignal,
  ): Promise<R> {
    const { prefixPath, namespaceSeparator } = await this.#configure(signal)
    const path = separated(request.path, namespaceSeparator)
    const changeAnswerBytes = request.changes ? (this.#answerBytes.get(pathOf(request)) ?? 0) : undefined
    return this.#send(transport, { ...request, path: `/v1${prefixPath}${path}`, changeAnswerBytes }, signal)
  }

  async #configure(signal: AbortSignal): Promise<Configured> {
    if (this.#configured !== undefined) return this.#configured
    this.#configuring ??= this.#fetchConfig().finally(() => {
      this.#configuring = undefined
    })
    return await raceSignal(this.#configuring, signal)
  }

  async #fetchConfig(): Promise<Configured> {
    const { warehouse } = this.config
    const query = warehouse === undefined ? '' : `?warehouse=${encodeURIComponent(warehouse)}`
    const path = `${this.variant.configPath(this.config)}${query}`
    let response: UpstreamResponse
    try {
      const request = { method: 'GET', path, changeAnswerBytes: undefined } as const
      response = await this.#send(sendUpstream, request, AbortSignal.timeout(this.#loadMs))
    } catch (thrown) {
      throw toUpstreamFault(thrown)
    }
    if (response.status === 401 || response.status === 419) throw credentialsExpired(this.replyOf(response))
    if (response.status !== 200)
      throw new Fault(
        'upstream_failed',
        `The upstream catalog gave no configuration for the warehouse: it ${replyClause(this.replyOf(response))}.`,
      )
    const config = parseConfigResponse(response.body)
    const { prefix } = config
    const prefixPath = prefix === undefined || prefix === '' ? '' : this.variant.prefixPath(prefix)
    if (prefixPath === undefined)
      throw new Fault(
        'upstream_failed',
        "The upstream catalog's configuration holds a prefix that cannot stand in a path.",
      )
    this.#configured = { ...config, prefixPath: prefixPath === '' ? '' : `/${prefixPath}` }
    return this.#configured
  }

  /** Sends with the current token; retries once with a new one where the upstream refuses it. */
  async #send<R extends { readonly status: number }>(
    transport: Transport<R>,
    request: SentRequest,
    signal: AbortSignal,
  ): Promise<R> {
    const { auth } = this.config
    const token = auth.kind === 'token' ? auth.token : await this.#tokens?.token(signal)
    const response = await this.#sendOnce(transport, request, token, signal)
    if (
      (response.status !== 401 && response.status !== 419) ||
      this.#tokens === undefined ||
      token === undefined
    )
      return response
    this.#tokens.invalidate(token)
    return this.#sendOnce(transport, request, await this.#tokens.token(signal), signal)
  }

  #sendOnce<R>(
    transport: Transport<R>,
    request: SentRequest,
    token: string | undefined,
    signal: AbortSignal,
  ): Promise<R> {
    const { method, path, body, changeAnswerBytes } = request
    const sent: UpstreamRequest = {
      method,
      path,
      headers: {
        ...this.config.headers,
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...request.headers,
      },
      ...(body === undefined ? {} : { body }),
      signal,
      responseBytesMax: this.#responseBytesMax,
      budget: this.#budget,
      changeAnswerBytes,
      observe: this.#observe,
    }
    const { auth } = this.config
    return auth.kind === 'sigv4'
      ? this.#sendSigned(transport, sent, auth.keys, body)
      : transport(this.#host, sent)
  }

  async #sendSigned<R>(
    transport: Transport<R>,
    request: UpstreamRequest,
    keys: SigningKeys,
    body: Uint8Array | undefined,
  ): Promise<R> {
    const { origin, pathname } = this.#host.url
    // A space is %20 in what is signed, and must be so in what is sent.
    const path = request.path.replaceAll('+', '%20')
    const url = `${origin}${pathname.replace(/\/$/, '')}${path}`
    const { method, headers } = request
    const signed = await signRequest(keys, { method, url, headers, body }, this.#clock.now())
    return await transport(this.#host, { ...request, path, headers: signed })
  }

  #sendTokenRequest(host: PinnedHost, form: URLSearchParams): Promise<UpstreamResponse> {
    return sendUpstream(host, {
      method: 'POST',
      path: '',
      headers: {
        // A header may be a secret of the catalog, so it goes nowhere else.
        ...(host.url.origin === this.#host.url.origin && this.config.headers),
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: form.toString(),
      signal: AbortSignal.timeout(this.#loadMs),
      responseBytesMax: limits.upstreamErrorBytesMax,
    })
  }

  /** What the upstream replied. The text of a 401 is dropped, because it may quote the refused token. */
  replyOf({ status, body, headers }: UpstreamResponse): UpstreamReply {
    if (status === 401 || status === 419) return { status }
    const { type, message } = parseErrorModel(body)
    let sentence = message ?? ''
    for (const secret of this.#secrets()) sentence = sentence.replaceAll(secret, '…')
    sentence = sentence
      .replace(/[\p{Cc}\p{Cf}]+/gu, ' ')
      .slice(0, sentenceLengthMax)
      .trim()
    const retryAfter = headers.get('retry-after')
    return {
      status,
      ...(type !== undefined && errorType.test(type) ? { type } : {}),
      ...(sentence === '' ? {} : { message: sentence }),
      ...(retryAfter !== null && retryAfterForm.test(retryAfter) ? { retryAfter } : {}),
    }
  }

  #secrets(): readonly string[] {
    const { auth, headers } = this.config
    const ofHeaders = Object.values(headers).filter((value) => value.length >= secretLengthMin)
    if (auth.kind === 'token') return [auth.token, ...ofHeaders]
    if (auth.kind !== 'sigv4') return [...(this.#tokens?.secrets() ?? []), ...ofHeaders]
    const { secretAccessKey, sessionToken } = auth.keys
    return [secretAccessKey, ...(sessionToken === undefined ? [] : [sessionToken]), ...ofHeaders]
  }

  close(): void {
    this.#tokens?.close()
  }
}

function pathOf({ path }: RestRequest): string {
  return path.split('?', 1)[0] ?? path
}

/**
 * Replaces the namespace separator. Names hold no U+001F, so in a path and in the parameter `parent` it always
 * separates.
 */
function separated(path: string, separator: string): string {
  if (separator === defaultSeparator) return path
  const [names = '', ...query] = path.split('?')
  const replaced = names.replaceAll(defaultSeparator, separator)
  if (query.length === 0) return replaced
  const parameters = query
    .join('?')
    .split('&')
    .map((one) => (one.startsWith('parent=') ? one.replaceAll(defaultSeparator, separator) : one))
  return `${replaced}?${parameters.join('&')}`
}

/**
 * The error for credentials that the upstream refused.
 * @param reply the upstream's 401 or 419
 */
export function credentialsExpired(reply: UpstreamReply): CatalogError {
  return new CatalogError(
    'ErrCredentialsExpired',
    "The upstream catalog refused this catalog's credentials; an administrator must renew them.",
    reply,
  )
}

/** The reply as a clause: `answered 403 (…)`. */
export function replyClause(reply: UpstreamReply): string {
  return `answered ${reply.status}${reply.message === undefined ? '' : ` (${reply.message})`}`
}
