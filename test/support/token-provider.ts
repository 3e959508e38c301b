/** A real OpenID Connect provider (npm oidc-provider) that gives its clients access tokens as JWTs, and changes its keys. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import { Provider } from 'oidc-provider'

export interface TokenProvider extends AsyncDisposable {
  readonly issuer: string
  /** An access token of a client, by client credentials. */
  token(client: string): Promise<string>
  /** Begins to sign with a new key. @param algorithm of it; @param published whether the keys before it stay in the key set */
  rotate(algorithm: string, published: 'with the others' | 'alone'): Promise<void>
}

const secret = 'secret-of-the-client'

/**
 * @param clients their ids
 * @param claims that each token has besides
 */
export async function startTokenProvider(
  clients: readonly string[],
  claims: Readonly<Record<string, unknown>>,
): Promise<TokenProvider> {
  let handle: ReturnType<Provider['callback']> | undefined
  const server = createServer((request, response) => void handle?.(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let keys: JWK[] = []
  const rotate: TokenProvider['rotate'] = async (algorithm, published) => {
    const { privateKey } = await generateKeyPair(algorithm, { extractable: true })
    const kid = `${algorithm} ${keys.length}`
    const key = { ...(await exportJWK(privateKey)), kid, alg: algorithm, use: 'sig' }
    keys = published === 'alone' ? [key] : [key, ...keys]
    handle = new Provider(issuer, {
      clients: clients.map((id) => ({
        ...{ client_id: id, client_secret: secret, redirect_uris: [], response_types: [] },
        ...{ grant_types: ['client_credentials'], id_token_signed_response_alg: algorithm as 'RS256' },
      })),
      jwks: { keys: keys as never[] },
      cookies: { keys: ['test'] },
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: () => ({
            ...{ scope: '', audience: 'covenant', accessTokenFormat: 'jwt' as const },
            jwt: { sign: { alg: algorithm as 'RS256', kid } },
          }),
        },
      },
      extraTokenClaims: (_, token) => ({ azp: String(token.clientId), ...claims }),
      formats: {
        customizers: {
          jwt: (_, _token, jwt) => {
            jwt.payload.aud = ['covenant', 'https://other.example']
          },
        },
      },
      ttl: { ClientCredentials: 3_600 },
    }).callback()
  }
  await rotate('EdDSA', 'alone')
  return {
    issuer,
    rotate,
    async token(client) {
      const response = await fetch(`${issuer}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${client}:${secret}`)}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource: 'https://covenant.example' }),
      })
      const text = await response.text()
      if (!response.ok) throw new Error(`the provider answered ${response.status}: ${text}`)
      return (JSON.parse(text) as { readonly access_token: string }).access_token
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
