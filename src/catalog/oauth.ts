/**
 * Fetches tokens for an upstream by OAuth2 client credentials (RFC 6749, section 4.4). It renews them early, with one
 * request at a time.
 */

import type { Clock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import { CatalogError } from './catalog.ts'
import type { ClientCredentials } from './config.ts'
import { raceSignal, toUpstreamFault, type UpstreamResponse } from './upstream-http.ts'

/** Sends the form to the token endpoint. The sender sets the deadline, because callers share the request. */
type SendTokenRequest = (form: URLSearchParams) => Promise<UpstreamResponse>

interface Token {
  readonly text: string
  /** Milliseconds since the Unix epoch; +Infinity where the server named no lifetime. */
  readonly renewAtMs: number
  readonly expiresAtMs: number
}

const renewBeforeMsMax = 60_000
const bearerText = /^[\x21-\x7e]+$/

/** Holds one token and renews it: in the background shortly before it expires, in the foreground afterwards. */
export class OAuthTokens {
  #token: Token | undefined
  #request: Promise<Token> | undefined
  #closed = false

  constructor(
    readonly credentials: ClientCredentials,
    readonly send: SendTokenRequest,
    readonly clock: Clock,
  ) {}

  /**
   * The current access token.
   * @throws CatalogError `ErrCredentialsExpired` where the token service refuses the client credentials
   * @throws Fault `upstream_failed` where it fails otherwise
   */
  async token(signal: AbortSignal): Promise<string> {
    const token = this.#token
    const now = this.clock.now()
    if (token !== undefined && now < token.expiresAtMs) {
      // A failure here occurs again, and is then reported, once the token has expired.
      if (now >= token.renewAtMs && !this.#closed) this.#renew().catch(() => {})
      return token.text
    }
    return (await raceSignal(this.#renew(), signal)).text
  }

  /** Drops `text` if it is still the current token, because the upstream refused it. */
  invalidate(text: string): void {
    if (this.#token?.text === text) this.#token = undefined
  }

  /** The secrets that no shown text may contain; none is empty. */
  secrets(): readonly string[] {
    const { clientSecret } = this.credentials
    return this.#token === undefined ? [clientSecret] : [clientSecret, this.#token.text]
  }

  close(): void {
    this.#closed = true
    this.#token = undefined
  }

  #renew(): Promise<Token> {
    this.#request ??= this.#fetchToken().finally(() => {
      this.#request = undefined
    })
    return this.#request
  }

  async #fetchToken(): Promise<Token> {
    const { clientId, clientSecret, scope } = this.credentials
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
    })
    if (scope !== undefined) form.set('scope', scope)
    const requestedAtMs = this.clock.now()
    let response: UpstreamResponse
    try {
      response = await this.send(form)
    } catch (thrown) {
      throw toUpstreamFault(thrown)
    }
    const token = parseTokenResponse(response, requestedAtMs)
    if (!this.#closed) this.#token = token
    return token
  }
}

function parseTokenResponse(response: UpstreamResponse, requestedAtMs: number): Token {
  const { status } = response
  const fields = jsonFields(response.body)
  if (status === 200) {
    const text = fields.access_token
    if (typeof text !== 'string' || !bearerText.test(text))
      throw new Fault(
        'upstream_failed',
        "The upstream catalog's token service answered without an access token.",
      )
    if (fields.token_type !== undefined && String(fields.token_type).toLowerCase() !== 'bearer')
      throw new Fault(
        'upstream_failed',
        "The upstream catalog's token service gave a token that is not a bearer token.",
      )
    const seconds = Number(fields.expires_in)
    if (!(seconds > 0))
      return { text, renewAtMs: Number.POSITIVE_INFINITY, expiresAtMs: Number.POSITIVE_INFINITY }
    const lifeMs = seconds * 1000
    return {
      text,
      renewAtMs: requestedAtMs + lifeMs - Math.min(renewBeforeMsMax, lifeMs / 4),
      expiresAtMs: requestedAtMs + lifeMs,
    }
  }
  // RFC 6749 section 5.2 lists the codes; anything else in that field is not quoted.
  const error =
    typeof fields.error === 'string' && /^[a-z_]{1,40}$/.test(fields.error) ? ` (${fields.error})` : ''
  if (status === 400 || status === 401 || status === 403)
    throw new CatalogError(
      'ErrCredentialsExpired',
      `The upstream catalog's token service refused the client credentials${error}.`,
      { status },
    )
  throw new Fault('upstream_failed', `The upstream catalog's token service answered ${status}${error}.`)
}

function jsonFields(body: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
