/** Logs in through any OpenID Connect provider, by discovery, authorization code flow and PKCE. */

import * as oidc from 'openid-client'
import { Fault } from '../../base/fault.ts'
import type { Secret } from '../../base/secret.ts'
import type { Principal } from '../../core/principal.ts'
import { limits } from '../../limits.ts'
import type { LoggedOut } from '../../store/session/ended-logins.ts'
import { assertPerson } from '../bearer.ts'
import { type ClaimNames, emailIn, organizationOf, rolesIn } from '../claims.ts'
import type { TellMissingClaims } from '../missing-claims.ts'
import { keySetCooldownMs } from '../token-keys.ts'
import { logoutTokenVerifier, type VerifyLogoutToken } from './logout-token.ts'

interface IdentityProviderOptions {
  readonly issuerUrl: string
  readonly clientId: string
  /** Absent for a public client, which only PKCE protects. */
  readonly clientSecret: Secret | undefined
  readonly claims: ClaimNames
  /** Told of claims that are set and yield nothing. */
  readonly tell?: TellMissingClaims
}

/** Characters of an ID token that is kept: the logout at the provider has it in its address. */
const idTokenCharsMax = 4_096

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
  /** Milliseconds since 1970 by the provider's clock. */
  readonly issuedAtMs: number
  /** The ID token, for the logout at the provider; undefined where it takes none. */
  readonly idToken: string | undefined
}

/** One provider. Its metadata is fetched at the first login, so its outage does not prevent a start. */
export class IdentityProvider {
  #metadata: Promise<oidc.ServerMetadata> | undefined
  #keys: oidc.ExportedJWKSCache | undefined
  #verifyLogout: Promise<VerifyLogoutToken> | undefined

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
    const configuration = await this.#discovered()
    const { claims, idToken, text } = await this.#claims(configuration, callbackUrl, checks)
    const takesLogout = configuration.serverMetadata().end_session_endpoint !== undefined
    return {
      ...this.#loginOf(claims, idToken.sub),
      issuedAtMs: idToken.iat * 1000,
      idToken: takesLogout && text.length <= idTokenCharsMax ? text : undefined,
    }
  }

  /**
   * The address at which a browser ends its login at the provider, which sends it back to `returnTo`.
   * @returns undefined where the provider takes no logout
   * @throws Fault `unavailable`
   */
  async logoutUrl(idToken: string | undefined, returnTo: string): Promise<URL | undefined> {
    const configuration = await this.#discovered()
    if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined
    return oidc.buildEndSessionUrl(configuration, {
      post_logout_redirect_uri: returnTo,
      ...(idToken !== undefined && { id_token_hint: idToken }),
    })
  }

  /**
   * Verifies a logout token of the provider.
   * @throws Fault `bad_request` where it is not valid, `unavailable` where that cannot be checked
   */
  async verifyLogout(token: string, nowMs: number): Promise<LoggedOut> {
    this.#verifyLogout ??= this.#discovered().then(
      (configuration) => logoutTokenVerifier(configuration.serverMetadata(), this.options.clientId),
      (thrown: unknown) => {
        this.#verifyLogout = undefined
        throw thrown
      },
    )
    return await (await this.#verifyLogout)(token, nowMs)
  }

  async #claims(configuration: oidc.Configuration, callbackUrl: URL, checks: LoginChecks) {
    try {
      useKeys(configuration, this.#keys)
      const tokens = await oidc.authorizationCodeGrant(configuration, callbackUrl, {
        expectedState: checks.state,
        expectedNonce: checks.nonce,
        pkceCodeVerifier: checks.codeVerifier,
        idTokenExpected: true,
      })
      this.#keys = oidc.getJwksCache(configuration)
      const [idToken, text] = [tokens.claims(), tokens.id_token]
      if (idToken === undefined || text === undefined) throw new Error('no ID token')
      // The library looks at it only where there are several audiences.
      if (idToken.azp !== undefined && idToken.azp !== this.options.clientId)
        throw new Error('the ID token was issued for another client')
      const userInfo =
        configuration.serverMetadata().userinfo_endpoint === undefined
          ? {}
          : await oidc.fetchUserInfo(configuration, tokens.access_token, idToken.sub)
      return { claims: { ...userInfo, ...idToken }, idToken, text }
    } catch (cause) {
      const noReply = noReplyIn(cause)
      if (noReply !== undefined) throw unavailable(noReply)
      throw new Fault('unauthenticated', 'The login failed. Start again at /login.', {
        cause: bare(cause),
      })
    }
  }

  #loginOf(
    claims: Readonly<Record<string, unknown>>,
    sub: string,
  ): Omit<CompletedLogin, 'issuedAtMs' | 'idToken'> {
    assertPerson(sub)
    const { sid } = claims
    const email = emailIn(claims)
    const { claims: names, issuerUrl: issuer, tell } = this.options
    tell?.(claims, names, { kind: 'login', issuer })
    const { organization, roles } = names
    return {
      principal: {
        sub,
        ...(email !== undefined && { email }),
        roles: rolesIn(claims, roles),
      },
      organizationId: organizationOf(claims, organization),
      providerSid: typeof sid === 'string' ? sid : undefined,
    }
  }

  /** Of its own for each use, because the library keeps keys with it. */
  async #discovered(): Promise<oidc.Configuration> {
    this.#metadata ??= discover(this.options).catch((cause: unknown) => {
      this.#metadata = undefined
      throw unavailable(cause)
    })
    return configurationOf(this.options, await this.#metadata)
  }
}

/**
 * Gives the library the keys of a login some seconds ago. Older ones it fetches again, because the provider may have
 * replaced one since, also under the same id, and the code of a login cannot be used twice.
 */
function useKeys(configuration: oidc.Configuration, last: oidc.ExportedJWKSCache | undefined): void {
  if (last !== undefined && Date.now() - last.uat * 1000 < keySetCooldownMs)
    oidc.setJwksCache(configuration, last)
}

async function discover(options: IdentityProviderOptions): Promise<oidc.ServerMetadata> {
  const found = await oidc.discovery(new URL(options.issuerUrl), options.clientId, undefined, oidc.None(), {
    execute: insecure(options),
    timeout: timeoutSeconds,
  })
  return found.serverMetadata()
}

const timeoutSeconds = limits.identityProviderMs / 1000

/** Settings allow plain http only on loopback. */
function insecure({ issuerUrl }: IdentityProviderOptions) {
  return issuerUrl.startsWith('http:') ? [oidc.allowInsecureRequests] : []
}

function configurationOf(
  options: IdentityProviderOptions,
  metadata: oidc.ServerMetadata,
): oidc.Configuration {
  const configuration = new oidc.Configuration(metadata, options.clientId, {}, clientAuth(options, metadata))
  configuration.timeout = timeoutSeconds
  configuration[oidc.customFetch] = fetchReply
  for (const apply of insecure(options)) apply(configuration)
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
