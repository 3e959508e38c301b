/** Declares the operations on storage credentials that the service issued: what is out there, and its denial. */

import { tenantOperationsOf } from '../../auth/administration/tenant-operations.ts'
import { sessionKinds } from '../../core/session.ts'
import { pageView, tablePageRequest } from '../../http/page-view.ts'
import {
  described,
  list,
  maybe,
  object,
  oneOf,
  pageInput,
  pageOf,
  tableFilter,
  tableIdentifier,
  text,
  time,
  uuid,
} from '../../http/schemas.ts'
import { credentialAccesses, listVended } from '../../store/vended/vended-credentials.ts'
import { type DenyParts, denySession } from '../../vending/deny-session.ts'

const pair = tenantOperationsOf<DenyParts>()
const tag = 'credentials'
const roles = ['administrator', 'owner'] as const

export const vendingOperations = [
  pair({
    name: 'list_credentials_out',
    tag,
    summary: 'Storage credentials that sessions hold and that have not expired, without secrets',
    description:
      'Only those that the service issued. What a catalog vends and the gateway passes on is not here.',
    method: 'GET',
    path: '/credentials/out',
    access: { scope: 'read', roles, capability: 'vending' },
    input: { session: maybe(described(text, 'only those of this session')), ...tableFilter, ...pageInput },
    output: pageOf(
      object({
        id: uuid,
        session: uuid,
        session_kind: oneOf(sessionKinds),
        sub: described(text, 'the subject for which it was issued'),
        catalog: maybe(described(text, 'absent where its credential was removed')),
        table: tableIdentifier,
        access: oneOf(credentialAccesses),
        prefixes: list(described(text, 'a folder that it opens')),
        key_id: described(text, 'as logs of the storage name it'),
        role: text,
        role_session: described(text, 'as logs of the storage name the session'),
        issued_at: time,
        expires_at: time,
        denied_at: maybe(described(time, 'when an administrator asked the storage to refuse it')),
      }),
    ),
    run: async ({ parts, tenant }, { session, ...page }) =>
      pageView(
        await listVended(parts.store, tenant, { ...tablePageRequest(page), sessionId: session }),
        (one) => ({
          id: one.id,
          session: one.sessionId,
          session_kind: one.sessionKind,
          sub: one.principal,
          catalog: one.catalog,
          table: one.table,
          access: one.access,
          prefixes: one.prefixes,
          key_id: one.keyId,
          role: one.issuedFor,
          role_session: one.sessionName,
          issued_at: one.issuedAt,
          expires_at: one.expiresAt,
          denied_at: one.deniedAt,
        }),
      ),
  }),
  pair({
    name: 'deny_session',
    tag,
    summary: 'Has the storage refuse at once what a revoked session still holds',
    description:
      'Puts a policy on each role for which credentials were issued to the session. It may be repeated.',
    method: 'POST',
    path: '/credentials/denials',
    access: { scope: 'admin', roles, capability: 'vending' },
    input: { session: uuid },
    output: object({ roles: list(text) }),
    faults: {
      not_found: 'There is no such session.',
      conflict: 'The session has not ended, or the catalog credential that can deny it is gone.',
      upstream_failed: 'The storage did not take the denial: repeat it.',
    },
    examples: [{ input: { session: '0d6a3b8e-6f0a-4e2c-9a54-5b0f9e4e8c11' } }],
    run: async ({ parts, tenant, actor }, { session }) => ({
      roles: await denySession(parts, tenant, session, await actor()),
    }),
  }),
].flat()
