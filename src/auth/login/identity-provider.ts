/** Logs in through any OpenID Connect provider, by discovery, authorization code flow and PKCE. */

import * as oidc from 'openid-client'
import { Fault } from '../../base/fault.ts'
import type { Secret } from '../../base/secret.ts'
import type { Principal } from '../../core/principal.ts'
import { limits } from '../../limits.ts'
import { assertPerson } from '../bearer.ts'
import { type ClaimNames, organizationOf, rolesIn } from '../claims.ts'

export interface IdentityProviderOptions {
  readonly issuerUrl: string
  readonly clientId: string
  /** Absent for a public client, which only PKCE protects. */
  readonly clientSecret: Secret | undefined
  readonly claims: ClaimNames
}

/** The values that the callback of one login is checked against. */
export interface LoginChecks {
  readonly state: string
  readonly nonce: string
  readonly codeVerifier: string
}

export interface CompletedLogin {
  readonly principal: Principal
  /** As the provider sends it; not validated. Undefined where it sent none, null where it named no single one. */
  readonly organizationId: string | undefined | null
  readonly providerSid: string | undefined
}

/** One provider. Its metadata is fetched at the first login, so its outage does not prevent a start. */
export class IdentityProvider {
  #configuration: Promise<oidc.Configuration> | undefined

  constructor(readonly options: IdentityProviderOptions) {}

  /** The URL to send the browser to, and the checks to keep until it returns. */
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
   * Exchanges the code for an ID token and verifies its signature, issuer, audience, nonce and times.
   * @param callbackUrl as the browser called it, under this service's public address
   * @throws Fault `unauthenticated` where the provider refused, a check failed or its groups are missing, `unavailable` where the provider does
   *   not respond
   */
  async complete(callbackUrl: URL, checks: LoginChecks): Promise<CompletedLogin> {
    const { claims, sub } = await this.#claims(await this.#discovered(), callbackUrl, checks)
    return this.#loginOf(claims, sub)
  }

  async #claims(configuration: oidc.Configuration, callbackUrl: URL, checks: LoginChecks) {
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
      return { claims: { ...userInfo, ...idToken }, sub: idToken.sub }
    } catch (cause) {
      const noReply = noReplyIn(cause)
      if (noReply !== undefined) throw unavailable(noReply)
      throw new Fault('unauthenticated', 'The login failed. Start again at /login.', {
        cause: bare(cause),
      })
    }
  }

  #loginOf(claims: Readonly<Record<string, unknown>>, sub: string): CompletedLogin {
    assertPerson(sub)
    const { email, sid } = claims
    const { organization, roles } = this.options.claims
    return {
      principal: {
        sub,
        ...(typeof email === 'string' && { email }),
        roles: rolesIn(claims, roles),
      },
      organizationId: organizationOf(claims, organization),
      providerSid: typeof sid === 'string' ? sid : undefined,
    }
  }

  #discovered(): Promise<oidc.Configuration> {
    this.#configuration ??= discover(this.options).catch((cause: unknown) => {
      this.#configuration = undefined
      throw unavailable(cause)
    })
    return this.#configuration
  }
}

async function discover(options: IdentityProviderOptions): Promise<oidc.Configuration> {
  const issuer = new URL(options.issuerUrl)
  // Configuration allows plain http only on loopback.
  const insecure = issuer.protocol === 'http:' ? [oidc.allowInsecureRequests] : []
  const timeout = limits.identityProviderMs / 1000
  const found = await oidc.discovery(issuer, options.clientId, undefined, oidc.None(), {
    execute: insecure,
    timeout,
  })
  const metadata = found.serverMetadata()
  const configuration = new oidc.Configuration(metadata, options.clientId, {}, clientAuth(options, metadata))
  configuration.timeout = timeout
  configuration[oidc.customFetch] = fetchReply
  for (const apply of insecure) apply(configuration)
  // By default the library accepts a token that came directly from the provider without a valid signature; not here.
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

/** A request that got no usable reply from the provider, which does not mean that it refused the login. */
class NoReply extends Error {}

async function fetchReply(url: string, options: oidc.CustomFetchOptions): Promise<Response> {
  const response = await fetch(url, options as RequestInit).catch((cause: unknown) => {
    throw new NoReply(bare(cause).message)
  })
  if (response.status >= 500 || response.status === 429) throw new NoReply(`status ${response.status}`)
  return response
}

/** Finds the error in the causes, because the library wraps what a request threw. */
function noReplyIn(thrown: unknown): NoReply | undefined {
  if (thrown instanceof NoReply) return thrown
  return thrown instanceof Error ? noReplyIn(thrown.cause) : undefined
}

function unavailable(cause: unknown): Fault {
  return new Fault('unavailable', 'The identity provider does not respond. Start again at /login.', {
    cause: bare(cause),
  })
}

/** Keeps only message and code for the log, because the library's errors carry responses and parameters. */
function bare(cause: unknown): Error {
  if (!(cause instanceof Error)) return new Error('unknown')
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
  return Object.assign(new Error(cause.message), code === undefined ? {} : { code })
}
