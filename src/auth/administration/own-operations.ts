/** Declares operations on the caller's own session, and on the sessions of a tenant for its own administrator. */

import { sessionKinds } from '../../core/session.ts'
import { operationsOf } from '../../http/declare.ts'
import { pageRequest } from '../../http/page-view.ts'
import { described, maybe, object, oneOf, text, uuid } from '../../http/schemas.ts'
import { findSessionCreator } from '../../store/session/sessions.ts'
import { administrationFilter, administrationOf, administrationPage } from './administration-log.ts'
import {
  endedSession,
  mintedSession,
  principal,
  scopes,
  sessionEnd,
  sessionExample,
  sessionFilter,
  sessionPage,
  wantedSession,
} from './session-schemas.ts'
import { endSession, listSessions, mintSession, principalJson, type SessionParts } from './sessions.ts'

const operation = operationsOf<SessionParts>()
const tag = 'sessions'
const mintRefusal =
  'The caller lacks the scope `admin` or the role `administrator` or `owner`, or is no owner and gives a role that it does not hold.'
const administering = { scope: 'admin', roles: ['administrator', 'owner'] } as const

export const ownOperations = [
  operation({
    name: 'get_own_session',
    tag,
    summary: 'Shows the session of the request and its verified principal',
    method: 'GET',
    path: '/api/v1/session',
    access: { scope: 'read' },
    gives: { nothing: 'oneself' },
    output: object({
      session_id: uuid,
      session_kind: oneOf(sessionKinds),
      session_created_by: maybe(described(text, 'subject of who made the session')),
      tenant: uuid,
      organization_id: maybe(text),
      scopes,
      principal,
    }),
    run: async ({ parts, caller: { session, tenant, principal: who } }) => ({
      session_id: session.sessionId,
      session_kind: session.kind,
      session_created_by: await findSessionCreator(parts.store, session),
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
    gives: { nothing: 'administration' },
    input: object(sessionFilter),
    output: sessionPage,
    run: ({ parts, caller }, { kind = 'service', ...page }) =>
      listSessions(parts, caller.tenant, kind, pageRequest(page)),
  }),
  operation({
    name: 'mint_own_session',
    tag,
    summary: 'Makes a service session of the caller’s tenant',
    method: 'POST',
    path: '/api/v1/sessions',
    access: administering,
    gives: { nothing: 'own input' },
    input: object(wantedSession),
    output: mintedSession,
    status: 201,
    faults: { forbidden: mintRefusal },
    examples: [{ input: sessionExample }],
    run: async ({ parts, caller }, wanted) =>
      await mintSession(parts.store, caller.tenant, parts.clock.now(), wanted, {
        actor: await caller.actor(),
        isOperator: false,
      }),
  }),
  operation({
    name: 'end_own_session',
    tag,
    summary: 'Revokes a session of the caller’s tenant, with effect on the next request',
    description: sessionEnd,
    method: 'DELETE',
    path: '/api/v1/sessions/{session}',
    access: administering,
    gives: { nothing: 'administration' },
    input: object({ session: text }),
    output: endedSession,
    faults: { not_found: 'There is no such session, or it was already revoked.' },
    run: async ({ parts, caller }, { session }) =>
      await endSession(parts, caller.tenant, session, await caller.actor()),
  }),
  operation({
    name: 'list_administration',
    tag: 'administration',
    summary: 'Who administered the tenant: sessions, catalogs, policies, contracts, decisions; newest first',
    method: 'GET',
    path: '/api/v1/administration',
    access: { scope: 'read', roles: ['steward', 'administrator', 'owner', 'auditor'] },
    gives: { overseen: ['existence', 'description', 'columns'] },
    input: object(administrationFilter),
    output: administrationPage,
    run: ({ parts, caller }, filter) => administrationOf(parts.store, caller.tenant, filter),
  }),
]
