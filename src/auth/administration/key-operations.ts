/**
 * Declares the operations on keys (docs/operations.md): those that no tenant owns, a tenant's own, and the turn of the
 * keys that sign access tokens and plans, and of the secret of a service session. The other keys turn where they belong: a
 * webhook's secret, a scope of the transform. No answer holds a key but a new secret, once.
 */

import { listedKey } from '../../core/key.ts'
import { operationsOf } from '../../http/declare.ts'
import { pageRequest, pageView } from '../../http/page-view.ts'
import { schemaOf, viewOf } from '../../http/record-view.ts'
import { described, list, nonEmpty, object, pageInput, pageOf, text, time, uuid } from '../../http/schemas.ts'
import { keyRecord, listKeyRecords } from '../../store/keys/key-record.ts'
import { listInstallationKeys, listTenantKeys } from '../../store/keys/list-keys.ts'
import { turnPlanRoot } from '../../store/keys/plan-roots.ts'
import { turnSigningKey } from '../../store/session/signing-keys.ts'
import type { Store } from '../../store/store.ts'
import { turnSecret } from './sessions.ts'
import { tenantOperationsOf } from './tenant-operations.ts'

interface KeyParts {
  readonly store: Store
}

const operation = operationsOf<KeyParts>()
const pair = tenantOperationsOf<KeyParts>()
const common = { tag: 'administration', access: { organization: 'internal admin' } } as const
const key = schemaOf(listedKey)
const keyView = viewOf(listedKey)
const recordView = viewOf(keyRecord)

export const keyOperations = [
  operation({
    ...common,
    name: 'list_service_keys',
    summary: 'Lists the keys that no tenant owns, with their ages, and what became of them',
    method: 'GET',
    path: '/admin/keys',
    gives: { nothing: 'service' },
    output: object({
      items: list(key),
      record: described(list(schemaOf(keyRecord)), 'the last hundred changes, newest first'),
    }),
    run: async ({ parts: { store } }) => ({
      items: (await listInstallationKeys(store)).map(keyView),
      record: (await listKeyRecords(store)).map(recordView),
    }),
  }),
  operation({
    ...common,
    name: 'turn_token_signing_key',
    summary: 'Makes another key that signs access tokens; the one before verifies until its tokens end',
    description: 'The new key signs five seconds later, when every replica can read it.',
    method: 'POST',
    path: '/admin/keys/token-signing/turns',
    gives: { nothing: 'service' },
    output: object({ id: described(uuid, 'the `kid` of the new key') }),
    run: async ({ parts, caller }) => ({ id: await turnSigningKey(parts.store, await caller.actor()) }),
  }),
  operation({
    ...common,
    name: 'turn_plan_signing_key',
    summary:
      'Makes another key that signs plans of the transform; what the one before signed counts until it ends',
    description:
      'The new key signs three minutes later, when every replica has read it. The turn ends two hours after that; until then there is no other.',
    method: 'POST',
    path: '/admin/keys/plan-signing/turns',
    gives: { nothing: 'service' },
    output: object({ signs_at: described(time, 'from when on the new key signs') }),
    faults: { conflict: 'The key of plans is turning already.' },
    run: async ({ parts, caller }) => ({
      signs_at: await turnPlanRoot(parts.store, await caller.actor()),
    }),
  }),
  ...pair({
    name: 'turn_session_secret',
    tag: 'administration',
    summary: 'Gives a service session another secret, with effect on the next request and log-in',
    description:
      'The one before is refused. What was opened with it stays open: connections of SQL clients, and access tokens until they end. Revoke the session where its secret is in wrong hands.',
    method: 'POST',
    path: '/sessions/{session}/secret',
    access: { scope: 'admin', roles: ['administrator', 'owner'] },
    gives: { nothing: 'own input' },
    input: { session: text },
    output: object({ secret: described(nonEmpty, 'shown only in this response') }),
    faults: {
      not_found: 'There is no such service session, or it has ended, or has no secret.',
      forbidden:
        'The caller is no owner and does not hold a role of the session, or it is in the name of a person.',
    },
    run: async ({ parts, tenant, actor, isOperator }, { session }) => ({
      secret: await turnSecret(parts.store, tenant, session, { actor: await actor(), isOperator }),
    }),
  }),
  ...pair({
    name: 'list_keys',
    tag: 'administration',
    summary: 'Lists the keys of the tenant, with their ages: webhooks, transform, sessions',
    method: 'GET',
    path: '/keys',
    access: { scope: 'read', roles: ['administrator', 'owner'] },
    gives: { nothing: 'administration' },
    input: pageInput,
    output: pageOf(key),
    run: async ({ parts, tenant }, page) =>
      pageView(await listTenantKeys(parts.store, tenant, pageRequest(page)), keyView),
  }),
]
