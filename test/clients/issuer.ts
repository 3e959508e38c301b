/** An OpenID provider for servers that verify tokens: discovery, keys, client credentials. */

import { exportJWK, generateKeyPair, SignJWT } from 'jose'

export interface Issuer extends AsyncDisposable {
  readonly url: string
  readonly tokenUrl: string
  /** `id:secret`, the pair it accepts while `refusing` is false. */
  readonly credential: string
  readonly granted: () => number
  refusing: boolean
  /** The next token granted has ended already, whatever lifetime the answer names. */
  nextEnded: boolean
  /** A token of its own, for set-up. */
  token(): Promise<string>
}

/** Starts a provider on a free loopback port. */
export async function startIssuer(): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }
  let grants = 0

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      switch (new URL(request.url).pathname) {
        case '/.well-known/openid-configuration':
          return Response.json({
            issuer: issuer.url,
            jwks_uri: `${issuer.url}/keys`,
            token_endpoint: issuer.tokenUrl,
            authorization_endpoint: `${issuer.url}/authorize`,
            response_types_supported: ['code'],
            subject_types_supported: ['public'],
            id_token_signing_alg_values_supported: ['RS256'],
          })
        case '/keys':
          return Response.json({ keys: [jwk] })
        case '/token': {
          const form = new URLSearchParams(await request.text())
          const given = `${form.get('client_id')}:${form.get('client_secret')}`
          if (issuer.refusing || given !== issuer.credential)
            return Response.json({ error: 'invalid_client' }, { status: 401 })
          grants++
          const access_token = await sign(issuer.nextEnded ? -600 : 600)
          issuer.nextEnded = false
          return Response.json({ access_token, token_type: 'Bearer', expires_in: 600 })
        }
        default:
          return new Response(null, { status: 404 })
      }
    },
  })

  const sign = (seconds: number): Promise<string> => {
    const now = Math.floor(Date.now() / 1000)
    return new SignJWT({ preferred_username: 'gateway', groups: [] })
      .setProtectedHeader({ alg: 'RS256', kid: 'one', typ: 'JWT' })
      .setIssuer(issuer.url)
      .setSubject('gateway')
      .setAudience('nessie')
      .setIssuedAt(now - 3600)
      .setExpirationTime(now + seconds)
      .sign(privateKey)
  }

  const url = `http://127.0.0.1:${server.port}`
  const issuer: Issuer = {
    url,
    tokenUrl: `${url}/token`,
    credential: 'gateway:s3cret',
    granted: () => grants,
    refusing: false,
    nextEnded: false,
    token: () => sign(600),
    [Symbol.asyncDispose]: () => server.stop(true),
  }
  return issuer
}
