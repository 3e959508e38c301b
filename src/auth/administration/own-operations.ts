/** Declares operations on the caller's own session, and on the sessions of a tenant for its own administrator. */

import type { Clock } from '../../base/clock.ts'
import { operationsOf } from '../../http/declare.ts'
import { pageRequest } from '../../http/page-view.ts'
import { maybe, object, text, uuid } from '../../http/schemas.ts'
import type { Store } from '../../store/store.ts'
import {
  mintedSession,
  principal,
  scopes,
  sessionExample,
  sessionFilter,
  sessionPage,
  wantedSession,
} from './session-schemas.ts'
import { endSession, listSessions, mintSession, principalJson } from './sessions.ts'

const operation = operationsOf<{ readonly store: Store; readonly clock: Clock }>()
const tag = 'sessions'
const administering = { scope: 'admin', roles: ['administrator'] } as const

export const ownOperations = [
  operation({
    name: 'get_own_session',
    tag,
    summary: 'Shows the session of the request and its verified principal',
    method: 'GET',
    path: '/api/v1/session',
    access: { scope: 'read' },
    output: object({ session_id: uuid, tenant: uuid, organization_id: maybe(text), scopes, principal }),
    run: async ({ caller: { session, tenant, principal: who } }) => ({
      session_id: session.sessionId,
      tenant,
      organization_id: session.organizationId,
      scopes: session.scopes,
      principal: principalJson(who),
    }),
  }),
  operation({
    name: 'list_own_sessions',
    tag,
    summary: 'Lists the sessions of the caller’s tenant, without secrets',
    method: 'GET',
    path: '/api/v1/sessions',
    access: administering,
    input: object(sessionFilter),
    output: sessionPage,
    run: ({ parts, caller }, { kind = 'service', ...page }) =>
      listSessions(parts.store, caller.tenant, kind, pageRequest(page)),
  }),
  operation({
    name: 'mint_own_session',
    tag,
    summary: 'Makes a service session of the caller’s tenant',
    method: 'POST',
    path: '/api/v1/sessions',
    access: administering,
    input: object(wantedSession),
    output: mintedSession,
    status: 201,
    examples: [{ input: sessionExample }],
    run: ({ parts, caller }, wanted) => mintSession(parts.store, caller.tenant, parts.clock.now(), wanted),
  }),
  operation({
    name: 'end_own_session',
    tag,
    summary: 'Revokes a session of the caller’s tenant, with effect on the next request',
    method: 'DELETE',
    path: '/api/v1/sessions/{session}',
    access: administering,
    input: object({ session: text }),
    faults: { not_found: 'There is no such session, or it was already revoked.' },
    run: ({ parts, caller }, { session }) => endSession(parts.store, caller.tenant, session),
  }),
]
