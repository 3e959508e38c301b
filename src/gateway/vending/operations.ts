/**
 * Declares the operations on how clients reach files: storage credentials that are out there, their denial, and which
 * sessions belong to engines that are trusted with read restrictions.
 */

import { tenantOperationsOf } from '../../auth/administration/tenant-operations.ts'
import { sessionKinds } from '../../core/session.ts'
import { pageView, tablePageRequest } from '../../http/page-view.ts'
import {
  described,
  flag,
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
import { putTrustedEngine } from '../../store/session/trusted-engines.ts'
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
    gives: { overseen: ['existence'] },
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
        key_id: maybe(described(text, 'as logs of the storage name it; absent where it is not known')),
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
          key_id: one.keyId === '' ? undefined : one.keyId,
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
    gives: { nothing: 'administration' },
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
  pair({
    name: 'put_trusted_engine',
    tag,
    summary: 'Says whether the engine behind a service session applies read restrictions itself',
    description:
      'A trusted engine that loads a table is told the row filters and masks that apply to it, in the form of Iceberg’s `read-restrictions`. Nothing else is given out for it: no credentials, signatures or plans. Only mark an engine that is known to apply all of them.',
    method: 'PUT',
    path: '/credentials/trusted-engines/{session}',
    access: { scope: 'admin', roles, capability: 'vending' },
    gives: { nothing: 'own input' },
    input: {
      session: uuid,
      trusted: described(flag, 'false takes the mark away, with effect on the next request'),
    },
    output: object({ session: uuid, trusted_engine: flag }),
    faults: { not_found: 'There is no such service session, or it was revoked.' },
    examples: [{ input: { session: '0d6a3b8e-6f0a-4e2c-9a54-5b0f9e4e8c11', trusted: true } }],
    run: async ({ parts, tenant, actor }, { session, trusted }) => {
      await putTrustedEngine(parts.store, tenant, session, trusted, await actor())
      return { session, trusted_engine: trusted }
    },
  }),
].flat()
