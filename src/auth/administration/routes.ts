/**
 * /admin/* (SPEC 5: for the internal admin organization alone, 403 for everyone else), and what a tenant's
 * own administrator may do under /api/v1.
 */

import { Elysia } from 'elysia'
import type { Logger } from 'pino'
import type { Clock } from '../../base/clock.ts'
import { Fault, toFault } from '../../base/fault.ts'
import type { Operation } from '../../base/json-schema.ts'
import { sameSecret } from '../../base/same-secret.ts'
import { answerFaults, wrongMethod } from '../../http/answer.ts'
import type { Asking } from '../../http/fields.ts'
import { pathMatches } from '../../http/operation-path.ts'
import type { Licensed } from '../../license/licensed.ts'
import type { Store } from '../../store/store.ts'
import { type FindSession, requireSession } from '../guard.ts'
import type { IdentifyPrincipal } from '../principal-chain.ts'
import { requireRoleOf, verifiedPrincipal } from '../verified-principal.ts'
import {
  catalogsDetail,
  changeCatalogDetail,
  endDetail,
  licenseDetail,
  mintDetail,
  newTenantDetail,
  ownEndDetail,
  ownMintDetail,
  ownSessionDetail,
  ownSessionsDetail,
  putCatalogDetail,
  removeCatalogDetail,
  resumeDetail,
  sessionsDetail,
  suspendDetail,
  tenantDetail,
  tenantsDetail,
} from './open-api.ts'
import { endSession, listSessions, mintSession } from './sessions.ts'
import {
  everyCredential,
  everyTenant,
  existingTenant,
  forgetCredential,
  newTenant,
  oneTenant,
  registerCredential,
  rotateCredential,
  setTenantState,
  tenantOf,
} from './tenants.ts'

export interface AdministrationParts {
  readonly store: Store
  readonly licensed: Licensed
  readonly clock: Clock
  readonly log: Logger
  readonly findSession: FindSession
  readonly identify: IdentifyPrincipal
  /** Undefined: nobody administers over HTTP. */
  readonly internalAdminOrgId: string | undefined
}

type Params = Readonly<Record<string, string>>
/** @typeParam Caller what a handler is given: an Asking where its caller has been looked up already */
type Handler<Caller> = (caller: Caller, params: Params) => Promise<Response>
type Route<Caller> = readonly [
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  detail: Operation,
  handler: Handler<Caller>,
]

/** The routes of both surfaces. What is not among them is refused before it is said to be missing. */
export function administrationRoutes(parts: AdministrationParts) {
  const admin = adminTable(parts)
  const own = ownTable(parts)
  const app = new Elysia({ name: 'administration' })
  for (const [method, path, detail, handler] of admin)
    app.route(
      method,
      path,
      ({ request, params }: { request: Request; params: Params }) =>
        answerFaults(parts.log, async () => {
          const again = () => requireInternalAdmin(parts, request)
          await again()
          return await handler({ request, again }, params)
        }),
      { parse: 'none', detail },
    )
  for (const [method, path, detail, handler] of own)
    app.route(
      method,
      path,
      ({ request, params }: { request: Request; params: Params }) =>
        answerFaults(parts.log, () => handler(request, params)),
      { parse: 'none', detail },
    )
  const missing = ({ request }: { request: Request }) =>
    answerFaults(parts.log, async () => {
      await requireInternalAdmin(parts, request)
      const { pathname } = new URL(request.url)
      const methods = admin.filter(([, path]) => pathMatches(path, pathname)).map(([method]) => method)
      if (methods.length === 0) throw new Fault('not_found', 'There is no such route.')
      return wrongMethod(methods)
    })
  const unlisted = { parse: 'none', detail: { hide: true } } as const
  return app.all('/admin', missing, unlisted).all('/admin/*', missing, unlisted)
}

function adminTable({ store, licensed, clock }: AdministrationParts): readonly Route<Asking>[] {
  const one = '/admin/tenants/:tenant'
  return [
    ['GET', '/admin/tenants', tenantsDetail, ({ request }) => everyTenant(store, request)],
    ['POST', '/admin/tenants', newTenantDetail, (asking) => newTenant(store, licensed, asking)],
    ['GET', one, tenantDetail, (_, { tenant }) => oneTenant(store, tenantOf(tenant))],
    [
      'POST',
      `${one}/suspend`,
      suspendDetail,
      (_, { tenant }) => setTenantState(store, tenantOf(tenant), 'suspended'),
    ],
    [
      'POST',
      `${one}/resume`,
      resumeDetail,
      (_, { tenant }) => setTenantState(store, tenantOf(tenant), 'active'),
    ],
    [
      'GET',
      `${one}/catalogs`,
      catalogsDetail,
      async ({ request }, { tenant }) => everyCredential(store, await existingTenant(store, tenant), request),
    ],
    [
      'PUT',
      `${one}/catalogs/:nickname`,
      putCatalogDetail,
      (asking, { tenant, nickname = '' }) => registerCredential(store, tenantOf(tenant), nickname, asking),
    ],
    [
      'PATCH',
      `${one}/catalogs/:nickname`,
      changeCatalogDetail,
      (asking, { tenant, nickname = '' }) => rotateCredential(store, tenantOf(tenant), nickname, asking),
    ],
    [
      'DELETE',
      `${one}/catalogs/:nickname`,
      removeCatalogDetail,
      (_, { tenant, nickname = '' }) => forgetCredential(store, tenantOf(tenant), nickname),
    ],
    [
      'GET',
      `${one}/sessions`,
      sessionsDetail,
      async ({ request }, { tenant }) => listSessions(store, await existingTenant(store, tenant), request),
    ],
    [
      'POST',
      `${one}/sessions`,
      mintDetail,
      (asking, { tenant }) => mintSession(store, clock, () => existingTenant(store, tenant), asking),
    ],
    [
      'DELETE',
      `${one}/sessions/:session`,
      endDetail,
      (_, { tenant, session = '' }) => endSession(store, tenantOf(tenant), session),
    ],
    ['GET', '/admin/license', licenseDetail, async () => Response.json(licenseView(licensed))],
  ]
}

/** A session of the caller's own tenant; minting and ending them takes the role besides the scope. */
function ownTable(parts: AdministrationParts): readonly Route<Request>[] {
  const { store, clock, identify, findSession } = parts
  const administrator = async (request: Request) => {
    const session = await requireSession(request, findSession, 'admin')
    await requireRoleOf(identify, request, session, 'administrator')
    return session.tenant
  }
  return [
    [
      'GET',
      '/api/v1/session',
      ownSessionDetail,
      async (request) => {
        const session = await requireSession(request, findSession, 'read')
        const principal = await verifiedPrincipal(identify, request, session)
        const { sessionId, tenant, organizationId, scopes } = session
        return Response.json({ sessionId, tenant, organizationId, scopes, principal })
      },
    ],
    [
      'GET',
      '/api/v1/sessions',
      ownSessionsDetail,
      async (request) => listSessions(store, await administrator(request), request),
    ],
    [
      'POST',
      '/api/v1/sessions',
      ownMintDetail,
      async (request) => {
        const again = () => administrator(request)
        const tenant = await again()
        return await mintSession(store, clock, async () => tenant, { request, again })
      },
    ],
    [
      'DELETE',
      '/api/v1/sessions/:session',
      ownEndDetail,
      async (request, { session = '' }) => endSession(store, await administrator(request), session),
    ],
  ]
}

/** @throws Fault `forbidden` for every reason there is, so that /admin says nothing about sessions */
async function requireInternalAdmin(parts: AdministrationParts, request: Request): Promise<void> {
  const session = await requireSession(request, parts.findSession, 'admin').catch((thrown: unknown) => {
    const fault = toFault(thrown)
    if (fault.kind !== 'unauthenticated') throw fault
    return undefined
  })
  const organization = session?.organizationId
  const internal = parts.internalAdminOrgId
  if (organization === undefined || internal === undefined || !sameSecret(organization, internal))
    throw new Fault('forbidden', 'Administration is for members of the internal admin organization.')
}

function licenseView({ license, state }: Licensed) {
  return { state: state(), ...license }
}
