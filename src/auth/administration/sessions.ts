/** Sessions as administration sees them: minted, listed, ended; secrets are shown once and never again. */

import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { TenantId } from '../../core/tenant.ts'
import { type Asking, readFields } from '../../http/fields.ts'
import { pageOf } from '../../http/page-query.ts'
import { listBrowserSessions, revokeBrowserSession } from '../../store/browser-sessions.ts'
import { createServiceSession, listServiceSessions, revokeServiceSession } from '../../store/sessions.ts'
import type { Store } from '../../store/store.ts'

/**
 * A new service session from the request's body; the answer holds its secret.
 * @param tenant whose it is to be, found once the body is whole
 */
export async function mintSession(
  store: Store,
  clock: Clock,
  tenant: () => Promise<TenantId>,
  asking: Asking,
): Promise<Response> {
  const fields = await readFields(asking, 'name', 'sub', 'email', 'roles', 'scopes', 'expires_at')
  const name = fields.text('name')
  const email = fields.optionalText('email')
  const { id, secret } = await createServiceSession(store, await tenant(), {
    name,
    principal: {
      sub: fields.optionalText('sub') ?? name,
      ...(email !== undefined && { email }),
      roles: fields.texts('roles'),
    },
    scopes: fields.scopes('scopes'),
    expiresAt: fields.optionalFuture('expires_at', clock.now()),
  })
  return Response.json({ id, secret }, { status: 201 })
}

/** `?kind=service` (default) or `browser`, in pages. */
export async function listSessions(store: Store, tenant: TenantId, request: Request): Promise<Response> {
  const kind = new URL(request.url).searchParams.get('kind') ?? 'service'
  if (kind === 'service') return Response.json(await listServiceSessions(store, tenant, pageOf(request)))
  if (kind === 'browser') return Response.json(await listBrowserSessions(store, tenant, pageOf(request)))
  throw new Fault('bad_request', '`kind` must be service or browser.')
}

/** Ends a session of either kind, with effect on the next request. */
export async function endSession(store: Store, tenant: TenantId, id: string): Promise<Response> {
  const ended =
    (await revokeServiceSession(store, tenant, id)) || (await revokeBrowserSession(store, tenant, id))
  if (!ended) throw new Fault('not_found', 'There is no such session, or it was revoked before.')
  return new Response(null, { status: 204 })
}
