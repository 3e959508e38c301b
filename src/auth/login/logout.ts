/**
 * Declares how a login ends (docs/reference/identity.md 6.3): by its person here, or here and at the identity provider,
 * or by the provider, which sends a logout token.
 */

import { Fault } from '../../base/fault.ts'
import { aboutRequest } from '../../http/about-request.ts'
import { operationsOf } from '../../http/declare.ts'
import { readBody } from '../../http/read-body.ts'
import { endBrowserSession } from '../../store/session/browser-sessions.ts'
import { endLogins } from '../../store/session/ended-logins.ts'
import { assertSameOrigin, clearCookie, readCookie, sessionCookie } from '../credentials.ts'
import { tokenSkewMs } from '../token-keys.ts'
import { configured, type LoginParts, redirect } from './begin-login.ts'
import { logoutTokenMs } from './logout-token.ts'

const operation = operationsOf<LoginParts>()
const tag = 'login'
const afterLogout = '/logged-out'
const formBytesMax = 40 * 1024
const ownFaults = {
  unauthenticated: 'There is no session to end.',
  forbidden: 'The request comes from another site’s page.',
}

export const logoutOperations = [
  operation({
    name: 'log_out',
    tag,
    summary: 'Revokes the session of the browser',
    method: 'POST',
    path: '/logout',
    access: { open: 'browser' },
    gives: { nothing: 'oneself' },
    faults: ownFaults,
    respond: async ({ parts, request }) => {
      await endOwn(parts, request)
      return new Response(null, { status: 204, headers: { 'set-cookie': clearCookie(sessionCookie) } })
    },
  }),
  operation({
    name: 'log_out_at_provider',
    tag,
    summary:
      'Revokes the session of the browser, and sends the browser to end its login at the identity provider',
    method: 'POST',
    path: '/logout/provider',
    access: { open: 'browser' },
    gives: { nothing: 'oneself' },
    status: 302,
    faults: {
      ...ownFaults,
      unavailable: 'The session is revoked, but the identity provider does not respond.',
    },
    respond: ({ parts, request }) => logOutAtProvider(parts, request),
  }),
  operation({
    name: 'show_logged_out',
    tag,
    summary: 'Where the identity provider sends a browser after a logout',
    method: 'GET',
    path: afterLogout,
    access: { open: 'everyone' },
    gives: { nothing: 'service' },
    status: 200,
    media: { response: ['text/plain'] },
    respond: async () =>
      new Response('You are logged out.\n', { headers: { 'content-type': 'text/plain; charset=utf-8' } }),
  }),
  operation({
    name: 'receive_logout',
    tag,
    summary: 'Ends logins that the identity provider has ended (OpenID Connect back-channel logout)',
    method: 'POST',
    path: '/logout/back-channel',
    access: { open: 'signature' },
    gives: { nothing: 'own input' },
    media: { request: ['application/x-www-form-urlencoded'] },
    status: 200,
    faults: {
      bad_request: 'The logout token is missing, not valid, or was used before.',
      not_found: 'No identity provider is configured.',
      payload_too_large: 'The form is too large.',
      unavailable: 'The identity provider or the database is not available. Try again.',
    },
    respond: ({ parts, request }) => receiveLogout(parts, request),
  }),
]

/** Revokes the session of the browser. @returns the ID token of its login, where it is kept */
async function endOwn({ store }: LoginParts, request: Request): Promise<string | undefined> {
  assertSameOrigin(request)
  const secret = readCookie(request.headers, sessionCookie)
  if (secret === undefined) throw new Fault('unauthenticated', 'There is no session to end.')
  return await endBrowserSession(store, secret)
}

async function logOutAtProvider(parts: LoginParts, request: Request): Promise<Response> {
  const idToken = await endOwn(parts, request)
  const returnTo = new URL(afterLogout, parts.publicUrl()).href
  const url = await parts.provider?.logoutUrl(idToken, returnTo)
  return redirect(url?.href ?? afterLogout, [clearCookie(sessionCookie)])
}

async function receiveLogout(parts: LoginParts, request: Request): Promise<Response> {
  const provider = configured(parts)
  const { bytes } = await readBody(request, formBytesMax)
  const [token, ...more] = new URLSearchParams(Buffer.from(bytes).toString()).getAll('logout_token')
  if (token === undefined || more.length > 0)
    throw new Fault('bad_request', 'The form needs one `logout_token`.')
  const ended = await verified(parts, () => provider.verifyLogout(token, parts.clock.now()))
  // A token is accepted from a skew before its time until a skew after it is too old.
  const keptMs = logoutTokenMs + 2 * tokenSkewMs
  if (!(await endLogins(parts.store, ended, keptMs, aboutRequest(request).id)))
    throw new Fault('bad_request', 'This logout token was used before.')
  return new Response(null, { status: 200, headers: { 'cache-control': 'no-store' } })
}

/** Tells of a token that is refused. */
async function verified<T>({ onRefused }: LoginParts, verify: () => Promise<T>): Promise<T> {
  try {
    return await verify()
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.kind === 'bad_request') onRefused('logout_token')
    throw thrown
  }
}
