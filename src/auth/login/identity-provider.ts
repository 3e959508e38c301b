/** The identity provider behind /login: any OpenID Connect provider, by discovery, code flow and PKCE. */

import * as oidc from 'openid-client'
import { Fault } from '../../base/fault.ts'
import type { Secret } from '../../base/secret.ts'
import type { Principal } from '../../core/principal.ts'
import { limits } from '../../limits.ts'
import { rolesOf } from '../bearer.ts'

export interface IdentityProviderOptions {
  readonly issuerUrl: string
  readonly clientId: string
  /** Absent for a public client, which PKCE alone protects. */
  readonly clientSecret: Secret | undefined
  /** The claim that names the organization. */
  readonly organizationClaim: string
}

/** What one login is checked against when it comes back. */
export interface LoginChecks {
  readonly state: string
  readonly nonce: string
  readonly codeVerifier: string
}

export interface CompletedLogin {
  readonly principal: Principal
  /** As the provider says it, not yet looked at. */
  readonly organizationId: string
  readonly providerSid: string | undefined
}

/** One provider; its metadata is fetched at the first login, so that its outage does not stop a start. */
export class IdentityProvider {
  #configuration: Promise<oidc.Configuration> | undefined

  constructor(readonly options: IdentityProviderOptions) {}

  /** Where to send the browser, and what to keep until it comes back. */
  async begin(redirectUri: string): Promise<{ readonly url: URL; readonly checks: LoginChecks }> {
    const configuration = await this.#discovered()
    const checks: LoginChecks = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      codeVerifier: oidc.randomPKCECodeVerifier(),
    }
    const url = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: 'openid profile email',
      state: checks.state,
      nonce: checks.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(checks.codeVerifier),
      code_challenge_method: 'S256',
    })
    return { url, checks }
  }

  /**
   * Trades the code for an ID token and verifies it: signature, issuer, audience, nonce, times.
   * @param callbackUrl as the browser called it, under our public address
   * @throws Fault `unauthenticated` where the provider refused or anything does not hold,
   *   `unavailable` where it does not answer
   */
  async complete(callbackUrl: URL, checks: LoginChecks): Promise<CompletedLogin> {
    const configuration = await this.#discovered()
    try {
      const tokens = await oidc.authorizationCodeGrant(configuration, callbackUrl, {
        expectedState: checks.state,
        expectedNonce: checks.nonce,
        pkceCodeVerifier: checks.codeVerifier,
        idTokenExpected: true,
      })
      const idToken = tokens.claims()
      if (idToken === undefined) throw new Error('no ID token')
      const userInfo =
        configuration.serverMetadata().userinfo_endpoint === undefined
          ? {}
          : await oidc.fetchUserInfo(configuration, tokens.access_token, idToken.sub)
      return this.#loginOf({ ...userInfo, ...idToken }, idToken.sub)
    } catch (cause) {
      const unanswered = unansweredIn(cause)
      if (unanswered !== undefined) throw noAnswer(unanswered)
      throw new Fault('unauthenticated', 'The login did not succeed. Begin again at /login.', {
        cause: bare(cause),
      })
    }
  }

  #loginOf(claims: Readonly<Record<string, unknown>>, sub: string): CompletedLogin {
    const { email, sid } = claims
    const organizationId = claims[this.options.organizationClaim]
    return {
      principal: {
        sub,
        ...(typeof email === 'string' && { email }),
        roles: rolesOf(claims.roles) ?? rolesOf(claims.groups) ?? [],
      },
      organizationId: typeof organizationId === 'string' ? organizationId : '',
      providerSid: typeof sid === 'string' ? sid : undefined,
    }
  }

  #discovered(): Promise<oidc.Configuration> {
    this.#configuration ??= discover(this.options).catch((cause: unknown) => {
      this.#configuration = undefined
      throw noAnswer(cause)
    })
    return this.#configuration
  }
}

async function discover(options: IdentityProviderOptions): Promise<oidc.Configuration> {
  const issuer = new URL(options.issuerUrl)
  // Configuration admits plain http on loopback only.
  const insecure = issuer.protocol === 'http:' ? [oidc.allowInsecureRequests] : []
  const timeout = limits.identityProviderMs / 1000
  const found = await oidc.discovery(issuer, options.clientId, undefined, oidc.None(), {
    execute: insecure,
    timeout,
  })
  const metadata = found.serverMetadata()
  const configuration = new oidc.Configuration(metadata, options.clientId, {}, clientAuth(options, metadata))
  configuration.timeout = timeout
  configuration[oidc.customFetch] = fetchAnswer
  for (const apply of insecure) apply(configuration)
  // By default a token that came straight from the provider is believed unsigned; here it is verified.
  oidc.enableNonRepudiationChecks(configuration)
  return configuration
}

function clientAuth(
  { clientSecret }: IdentityProviderOptions,
  metadata: oidc.ServerMetadata,
): oidc.ClientAuth {
  if (clientSecret === undefined) return oidc.None()
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  return methods.includes('client_secret_basic')
    ? oidc.ClientSecretBasic(clientSecret.reveal())
    : oidc.ClientSecretPost(clientSecret.reveal())
}

/** What the provider did not answer: nobody's login was refused. */
class Unanswered extends Error {}

async function fetchAnswer(url: string, options: oidc.CustomFetchOptions): Promise<Response> {
  const response = await fetch(url, options as RequestInit).catch((cause: unknown) => {
    throw new Unanswered(bare(cause).message)
  })
  if (response.status >= 500 || response.status === 429) throw new Unanswered(`status ${response.status}`)
  return response
}

/** The library wraps what a request threw. */
function unansweredIn(thrown: unknown): Unanswered | undefined {
  if (thrown instanceof Unanswered) return thrown
  return thrown instanceof Error ? unansweredIn(thrown.cause) : undefined
}

function noAnswer(cause: unknown): Fault {
  return new Fault('unavailable', 'The identity provider does not answer. Begin again at /login.', {
    cause: bare(cause),
  })
}

/** The library's errors carry responses and parameters; the log gets what went wrong alone. */
function bare(cause: unknown): Error {
  if (!(cause instanceof Error)) return new Error('unknown')
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
  return Object.assign(new Error(cause.message), code === undefined ? {} : { code })
}
