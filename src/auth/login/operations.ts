/** Declares /login and /callback (docs/reference/identity.md 6), which give a browser a session. */

import { Fault } from '../../base/fault.ts'
import type { SessionScope } from '../../core/session.ts'
import type { TenantId } from '../../core/tenant.ts'
import { aboutRequest } from '../../http/about-request.ts'
import { operationsOf } from '../../http/declare.ts'
import { described, maybe, object, text } from '../../http/schemas.ts'
import { limits } from '../../limits.ts'
import { createBrowserSession } from '../../store/session/browser-sessions.ts'
import { standingOf } from '../../store/session/provisioning.ts'
import { useOnce } from '../../store/session/used-once.ts'
import type { Store } from '../../store/store.ts'
import { findTenantByOrganization } from '../../store/tenant/tenants.ts'
import { consentPage } from '../authorization/consent-page.ts'
import { resourceOf } from '../authorization/metadata.ts'
import { consentMs } from '../authorization/terms.ts'
import { type AuthorizationRequest, sealTicket } from '../authorization/tickets.ts'
import { clearCookie, readCookie, sessionCookie, setCookie } from '../credentials.ts'
import { admitPerson } from '../people.ts'
import { beginLogin, callbackUrl, configured, type LoginParts, loginCookie, redirect } from './begin-login.ts'
import type { CompletedLogin, IdentityProvider } from './identity-provider.ts'
import { localPath, openLogin } from './login-state.ts'
import { logoutOperations } from './logout.ts'

const afterLogin = '/api/v1/session'

const operation = operationsOf<LoginParts>()
const tag = 'login'
const unavailable = {
  not_found: 'No identity provider is configured.',
  unavailable: 'The identity provider or the database is not available. Try again.',
}

export const loginOperations = [
  operation({
    name: 'begin_login',
    tag,
    summary: 'Sends the browser to the identity provider',
    method: 'GET',
    path: '/login',
    access: { open: 'everyone' },
    gives: { nothing: 'oneself' },
    input: object({ return_to: maybe(described(text, 'path on this service to return to')) }),
    status: 302,
    faults: unavailable,
    respond: ({ parts, request }) => begin(parts, request),
  }),
  operation({
    name: 'complete_login',
    tag,
    summary: 'Completes a login when the identity provider returns: makes the session and its cookie',
    method: 'GET',
    path: '/callback',
    access: { open: 'everyone' },
    gives: { nothing: 'oneself' },
    input: object({ code: maybe(text), state: maybe(text) }),
    status: 302,
    faults: {
      bad_request: 'The login was not started in this browser, is already complete, or has expired.',
      unauthenticated: 'The identity provider refused the login, or its token is invalid.',
      forbidden: 'The organization has no active tenant.',
      ...unavailable,
    },
    respond: ({ parts, request }) => complete(parts, request),
  }),
  ...logoutOperations,
]

function begin(parts: LoginParts, request: Request): Promise<Response> {
  const returnTo = localPath(new URL(request.url).searchParams.get('return_to'), afterLogin)
  return beginLogin(parts, { returnTo })
}

async function complete(parts: LoginParts, request: Request): Promise<Response> {
  const provider = configured(parts)
  const { store } = parts
  const { search, searchParams } = new URL(request.url)
  const cookie = readCookie(request.headers, loginCookie)
  const login = openLogin(store, cookie, searchParams.get('state'), parts.clock.now())
  if (login === undefined)
    throw new Fault(
      'bad_request',
      'This login was not started in this browser, or it has expired. Start again at /login.',
    )
  if (!(await store.adminTransaction((tx) => useOnce(tx, 'login', login.state, 2 * limits.loginMs))))
    throw new Fault('bad_request', 'This login is already complete. Start again at /login.')
  const verified = await provider.complete(new URL(`${callbackUrl(parts)}${search}`), login)
  const { organizationId } = verified
  if (typeof organizationId !== 'string') throw noOrganization(provider, organizationId)
  const tenant = await findTenantByOrganization(store, organizationId)
  const completed = tenant === undefined ? verified : await provisioned(store, tenant.id, verified)
  // A session for a client is not the browser's own.
  const replaced = login.authorization === undefined ? readCookie(request.headers, sessionCookie) : undefined
  const secret =
    tenant &&
    (await createBrowserSession(
      store,
      tenant.id,
      { ...completed, scopes: scopesOf(parts, completed), requestId: aboutRequest(request).id },
      replaced,
    ))
  // An unknown and a suspended tenant get the same message, so that a login does not reveal which tenants exist.
  if (secret === undefined)
    throw new Fault('forbidden', 'Your organization has no active tenant in this service.')
  if (login.authorization !== undefined)
    return await askConsent(parts, login.authorization, completed.principal.sub, secret)
  return redirect(login.returnTo, [
    setCookie(sessionCookie, secret, limits.browserSessionMs),
    clearCookie(loginCookie),
  ])
}

/** The login with the roles that provisioning gives. @throws Fault `unauthenticated` for a person who was removed */
async function provisioned(store: Store, tenant: TenantId, login: CompletedLogin): Promise<CompletedLogin> {
  const { principal } = login
  return { ...login, principal: admitPerson(principal, await standingOf(store, tenant, principal)) }
}

/** Says what the provider has to be set up to send. */
function noOrganization({ options }: IdentityProvider, found: undefined | null): Fault {
  const claim = options.claims.organization
  return new Fault(
    'forbidden',
    found === undefined
      ? `The identity provider sent no claim \`${claim}\`, which names your organization (IDP_ORGANIZATION_CLAIM).`
      : `The claim \`${claim}\` of the identity provider does not name one organization.`,
  )
}

/** Asks the person who has signed in whether the client may act. */
async function askConsent(
  parts: LoginParts,
  request: AuthorizationRequest,
  person: string,
  secret: string,
): Promise<Response> {
  const client = await parts.findClient(request.clientId)
  const expiresAtMs = parts.clock.now() + consentMs
  const resource = resourceOf(parts.publicUrl())
  const consent = sealTicket(parts.store, 'consent', resource, { ...request, secret, expiresAtMs })
  const page = consentPage(client, request, person, consent)
  page.headers.append('set-cookie', clearCookie(loginCookie))
  return page
}

/**
 * The organization opens /admin (docs/reference/identity.md 5.1). All else with the scope `admin` needs the role as
 * well.
 */
function scopesOf(parts: LoginParts, { principal, organizationId }: CompletedLogin): readonly SessionScope[] {
  const administers =
    ['administrator', 'owner'].some((role) => principal.roles.includes(role)) ||
    organizationId === parts.internalAdminOrgId
  return administers ? ['read', 'admin'] : ['read']
}
