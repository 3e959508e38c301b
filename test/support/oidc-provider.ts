/** Starts a real OpenID Connect provider (npm oidc-provider) on a free port, with a browser to log in. */

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import { Provider } from 'oidc-provider'

export interface Account {
  readonly claims: Readonly<Record<string, unknown>>
}

export interface TestProvider extends AsyncDisposable {
  readonly issuer: string
  /** Accounts by their subject; changed by tests. */
  readonly accounts: Map<string, Account>
  /** Registers the client `covenant` once the service's address is known. */
  start(redirectUri: string): void
  /** Changes what the provider answers, as a hostile or broken one would. */
  tamper: ((path: string, body: string) => string) | undefined
  /** Answers 503 to everything, as in an outage. */
  isDown: boolean
  /** Signs its tokens. */
  readonly privateKey: CryptoKey
  readonly publicJwk: object
  /** Goes on with another key, of an id of its own unless one is given. Sessions at the provider are lost. */
  rotate(service: URL, kid?: string): void
  /** Follows a logout from its address to where the provider sends the browser back to. */
  logOut(browser: Browser, url: URL): Promise<string>
  /** How the service answered to logout tokens since the last call. */
  loggedOut(): readonly number[]
}

export const clientId = 'covenant'
export const deviceClientId = 'covenant-cli'
export const clientSecret = 'idp-client-secret-Zk4canaryQ9'

export async function startProvider(): Promise<TestProvider> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  const jwk = { ...(await exportJWK(privateKey)), kid: 'idp', alg: 'RS256', use: 'sig' }
  const { privateKey: nextKey } = await generateKeyPair('RS256', { extractable: true })
  const next = { ...(await exportJWK(nextKey)), kid: 'idp-next', alg: 'RS256', use: 'sig' }
  const publicJwk = await exportJWK(publicKey)
  let jwks = [jwk]
  const accounts = new Map<string, Account>()
  let logouts: number[] = []
  let handle: ReturnType<Provider['callback']> | undefined
  const server: Server = createServer((request, response) => {
    if (handle === undefined || test.isDown) response.writeHead(503).end()
    else {
      tamperWith(test, request.url ?? '', response)
      void handle(request, response)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const test: TestProvider = {
    issuer,
    accounts,
    tamper: undefined,
    isDown: false,
    privateKey,
    publicJwk: { ...publicJwk, kid: 'idp', alg: 'RS256', use: 'sig' },
    rotate(service, kid = next.kid) {
      jwks = [{ ...next, kid }]
      test.start(new URL('/callback', service).href)
    },
    async logOut(browser, url) {
      const page = await (await browser.request(url)).text()
      const action = /action="([^"]+)"/.exec(page)?.[1] ?? ''
      const xsrf = /name="xsrf" value="([^"]+)"/.exec(page)?.[1] ?? ''
      const body = new URLSearchParams({ xsrf, logout: 'yes' })
      const answer = await browser.request(new URL(action, url), { method: 'POST', body })
      return answer.headers.get('location') ?? `${answer.status}`
    },
    loggedOut() {
      const since = logouts
      logouts = []
      return since
    },
    start(redirectUri) {
      const provider = new Provider(issuer, {
        clients: [
          {
            client_id: clientId,
            client_secret: clientSecret,
            redirect_uris: [redirectUri],
            grant_types: ['authorization_code'],
            response_types: ['code'],
            application_type: 'native',
            backchannel_logout_uri: new URL('/logout/back-channel', redirectUri).href,
            backchannel_logout_session_required: true,
            post_logout_redirect_uris: [new URL('/logged-out', redirectUri).href],
          },
          {
            // The command line: public, and without a browser of its own.
            client_id: deviceClientId,
            token_endpoint_auth_method: 'none',
            redirect_uris: [],
            grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
            response_types: [],
            application_type: 'native',
          },
        ],
        jwks: { keys: jwks as never[] },
        cookies: { keys: ['test'] },
        claims: {
          openid: ['sub', 'org_id', 'roles', 'groups', 'sid', 'hasgroups'],
          email: ['email', 'email_verified'],
          profile: [],
        },
        features: {
          devInteractions: { enabled: true },
          backchannelLogout: { enabled: true },
          rpInitiatedLogout: { enabled: true },
          deviceFlow: { enabled: true },
        },
        // It refuses addresses of this machine by default.
        fetch: async (url, options) => {
          const response = await fetch(url, options)
          if (String(url).endsWith('/logout/back-channel')) logouts.push(response.status)
          return response
        },
        ttl: {
          AuthorizationCode: 60,
          Interaction: 600,
          Session: 600,
          Grant: 600,
          AccessToken: 600,
          IdToken: 600,
        },
        findAccount: (_, sub) => ({
          accountId: sub,
          claims: async () => ({ sub, ...accounts.get(sub)?.claims }),
        }),
      })
      handle = provider.callback()
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return test
}

/** Passes answers through `tamper` before they leave. */
function tamperWith(test: TestProvider, path: string, response: import('node:http').ServerResponse): void {
  const { tamper } = test
  if (tamper === undefined) return
  const end = response.end.bind(response)
  response.end = ((chunk?: unknown, ...rest: never[]) => {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return end(chunk as never, ...rest)
    const changed = tamper(path, Buffer.from(chunk as Uint8Array).toString('utf8'))
    response.setHeader('content-length', Buffer.byteLength(changed))
    return end(changed)
  }) as typeof response.end
}

/** A browser: cookies per host, redirects followed one at a time. */
export class Browser {
  readonly cookies = new Map<string, Map<string, string>>()

  /** One request, with the cookies of its host; no redirect is followed. */
  async request(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const { host } = new URL(url)
    const jar = this.cookies.get(host) ?? new Map<string, string>()
    this.cookies.set(host, jar)
    const headers = new Headers(init.headers)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    if (cookie !== '') headers.set('cookie', cookie)
    const response = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '' || /max-age=0|expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name)
      else jar.set(name, value)
    }
    return response
  }

  /** Follows redirects and the provider's forms from `/login` until the service's callback is due. */
  async logInUntilCallback(service: URL, sub: string, loginPath = '/login'): Promise<URL> {
    let response = await this.request(new URL(loginPath, service))
    let at = new URL(loginPath, service)
    for (let step = 0; step < 12; step++) {
      const location = response.headers.get('location')
      if (location !== null) {
        at = new URL(location, at)
        if (at.pathname === '/callback') return at
        response = await this.request(at)
        continue
      }
      const page = await response.text()
      const action = /action="([^"]+)"/.exec(page)?.[1]
      if (action === undefined) throw new Error(`the provider answered ${response.status} at ${at.pathname}`)
      at = new URL(action, at)
      const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1] ?? ''
      const fields = new URLSearchParams({ prompt, login: sub, password: 'x' })
      response = await this.request(at, { method: 'POST', body: fields })
    }
    throw new Error('the login went round in circles')
  }

  /** Enters the code of a device where the provider says, and agrees. */
  async agreeToDevice(address: string, sub: string): Promise<void> {
    let at = new URL(address)
    let response = await this.request(at)
    for (let step = 0; step < 14; step++) {
      const location = response.headers.get('location')
      if (location !== null) {
        at = new URL(location, at)
        response = await this.request(at)
        continue
      }
      const page = await response.text()
      const action = /action="([^"]+)"/.exec(page)?.[1]
      if (action === undefined) {
        if (response.ok) return
        throw new Error(`the provider answered ${response.status} at ${at.pathname}`)
      }
      at = new URL(action, at)
      const hidden = [...page.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
        name,
        value,
      ])
      const fields = new URLSearchParams({
        ...Object.fromEntries(hidden),
        ...{ login: sub, password: 'x', confirm: 'yes' },
      })
      response = await this.request(at, { method: 'POST', body: fields })
    }
    throw new Error('the login went round in circles')
  }

  /** The whole login. @returns the answer of /callback */
  async logIn(service: URL, sub: string, loginPath?: string): Promise<Response> {
    return await this.request(await this.logInUntilCallback(service, sub, loginPath))
  }
}
