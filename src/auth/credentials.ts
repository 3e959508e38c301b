/** Finds the session credential of a request: the header, an access token of this service, or the browser's cookie. */

import { Fault } from '../base/fault.ts'
import type { SessionScope } from '../core/session.ts'
import { browserSecretPrefix, isSessionSecret, serviceSecretPrefix } from '../store/session/session-secret.ts'
import { bearerToken, claimsToBeOurs } from './bearer.ts'

/** `__Host-` makes the cookie Secure and limits it to this host; another host of the domain cannot set it. */
export const sessionCookie = '__Host-svc_session'

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * The credential that decides a request's session: X-Svc-Session, else an access token, else the cookie. With the
 * cookie, a request that changes something must come from this service's own pages.
 * @returns undefined where there is none
 * @throws Fault `forbidden` for a changing request that another site's page may have caused
 */
export function sessionCredential(request: Request): string | undefined {
  const { headers } = request
  const secret = headers.get('x-svc-session')
  // A browser's secret in the header would bypass the same-origin check.
  if (secret !== null && secret !== '')
    return isSessionSecret(browserSecretPrefix, secret) ? undefined : secret
  const token = bearerToken(headers.get('authorization'))
  if (token !== undefined && claimsToBeOurs(token)) return token
  const cookie = readCookie(headers, sessionCookie)
  if (cookie === undefined || !isSessionSecret(browserSecretPrefix, cookie)) return undefined
  if (!safeMethods.has(request.method)) assertSameOrigin(request)
  return cookie
}

/** Whether a service session's secret is taken as a bearer token, for what a scope opens. */
export function takesBearerSecret(scope: SessionScope): boolean {
  return scope === 'lineage' || scope === 'scim'
}

/**
 * The service session's secret that a request without another credential has as its bearer token. OpenLineage clients
 * send their API key so, and identity providers that provision people; nothing else takes it.
 */
export function bearerSecret(request: Request): string | undefined {
  const token = bearerToken(request.headers.get('authorization'))
  const isSecret = token !== undefined && isSessionSecret(serviceSecretPrefix, token)
  return isSecret && sessionCredential(request) === undefined ? token : undefined
}

/**
 * Refuses requests that a page of another origin made the browser send (cross-site request forgery). Browsers set
 * Sec-Fetch-Site or Origin themselves, so a request with neither does not come from a user's browser.
 * @throws Fault `forbidden`
 */
export function assertSameOrigin({ headers }: Request): void {
  const site = headers.get('sec-fetch-site')
  if (site === 'same-origin') return
  if (site === null && originHost(headers.get('origin')) === headers.get('host')?.toLowerCase()) return
  throw new Fault('forbidden', 'This request may use the session cookie only from a page of this service.')
}

function originHost(origin: string | null): string {
  return (origin === null ? undefined : URL.parse(origin)?.host) ?? '(none)'
}

/** The value of one cookie (RFC 6265, 5.4); undefined where it is absent or sent more than once. */
export function readCookie(headers: Headers, name: string): string | undefined {
  const values = (headers.get('cookie') ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
  return values.length === 1 ? values[0]?.slice(name.length + 1) : undefined
}

/** A Set-Cookie value that scripts cannot read and other sites' requests do not carry. */
export function setCookie(name: string, value: string, maxAgeMs: number): string {
  return `${name}=${value}; Path=/; Max-Age=${Math.floor(maxAgeMs / 1000)}; HttpOnly; Secure; SameSite=Lax`
}

/** A Set-Cookie value that makes the browser delete the cookie. */
export function clearCookie(name: string): string {
  return setCookie(name, '', 0)
}
