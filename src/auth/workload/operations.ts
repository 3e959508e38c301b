/** Declares the operations on trusts of workloads: whose tokens are exchanged for sessions, and of which name. */

import { Type } from '@sinclair/typebox'
import { Fault } from '../../base/fault.ts'
import type { AddressRules } from '../../catalog/address.ts'
import { serviceSubject } from '../../core/principal.ts'
import { sessionScopes } from '../../core/session.ts'
import { actorMembers, actorView } from '../../http/actor-view.ts'
import { pageRequest, pageView } from '../../http/page-view.ts'
import {
  described,
  list,
  maybe,
  object,
  oneOf,
  pageInput,
  pageOf,
  text,
  time,
  uuid,
} from '../../http/schemas.ts'
import {
  deleteWorkloadTrust,
  listWorkloadTrusts,
  putWorkloadTrust,
  type StoredTrust,
} from '../../store/session/workload-trusts.ts'
import type { Store } from '../../store/store.ts'
import { assertMayGrant } from '../administration/sessions.ts'
import { tenantOperationsOf } from '../administration/tenant-operations.ts'
import { keyMembers, keyView, keyViewMembers, readKeySource } from './key-source.ts'

interface WorkloadTrustParts {
  readonly store: Store
  readonly addressRules: AddressRules
}

const pair = tenantOperationsOf<WorkloadTrustParts>()
const tag = 'sessions'
const administering = { scope: 'admin', roles: ['administrator', 'owner'] } as const
const shortText = { minLength: 1, maxLength: 255 }
const name = Type.String(shortText)

const trustMembers = {
  issuer: described(Type.String(shortText), 'the claim `iss`'),
  audience: described(Type.String(shortText), 'what the claim `aud` must hold'),
  subject: described(Type.String(shortText), 'a pattern of the claim `sub`, in which `*` is any text'),
  roles: maybe(described(list(text), 'an owner of the tenant may give any, others those that they hold')),
  scopes: list(oneOf(sessionScopes), { minItems: 1 }),
}
const trust = object({
  id: described(uuid, 'what a client names as `audience`; it stays when the trust is changed'),
  name,
  ...trustMembers,
  roles: list(text),
  sub: described(text, 'of the sessions, `service:…`'),
  ...keyViewMembers,
  changed_at: time,
  changed_by: object(actorMembers),
})
const example = {
  name: 'spark',
  issuer: 'https://oidc.cluster.example',
  audience: 'covenant',
  subject: 'system:serviceaccount:analytics:spark-*',
  scopes: ['commit', 'read'],
  roles: ['etl'],
}

export const workloadTrustOperations = [
  pair({
    name: 'put_workload_trust',
    tag,
    summary: 'Trusts tokens of a workload, or changes a trust, which ends its sessions',
    method: 'PUT',
    path: '/workload-trusts/{name}',
    access: administering,
    gives: { nothing: 'own input' },
    input: {
      name,
      ...trustMembers,
      sub: maybe(described(text, 'the subject, in which `service:` comes first; default: the name')),
      ...keyMembers,
    },
    output: trust,
    faults: {
      forbidden: 'The caller is no owner and gives a role that it does not hold.',
      conflict: 'The tenant has too many trusts.',
    },
    examples: [{ input: example }],
    run: async ({ parts, tenant, actor, isOperator }, input) => {
      const by = await actor()
      const { roles = [], scopes, issuer, audience, subject } = input
      assertMayGrant({ actor: by, isOperator }, roles)
      if (!/[^*]/.test(subject))
        throw new Fault('bad_request', '`subject` must be more than `*`, which would trust the whole issuer.')
      const sub = serviceSubject(input.sub ?? input.name)
      if (sub === serviceSubject('')) throw new Fault('bad_request', 'A session needs a subject.')
      const put = {
        ...{ name: input.name, issuer, audience, subject, sub, roles },
        scopes: sessionScopes.filter((scope) => scopes.includes(scope)),
        keySource: readKeySource(parts.addressRules, input),
      }
      return trustView(await putWorkloadTrust(parts.store, tenant, put, by))
    },
  }),
  pair({
    name: 'list_workload_trusts',
    tag,
    summary: 'Whose tokens the tenant trusts',
    method: 'GET',
    path: '/workload-trusts',
    access: administering,
    gives: { nothing: 'administration' },
    input: pageInput,
    output: pageOf(trust),
    run: async ({ parts, tenant }, page) =>
      pageView(await listWorkloadTrusts(parts.store, tenant, pageRequest(page)), trustView),
  }),
  pair({
    name: 'delete_workload_trust',
    tag,
    summary: 'Removes a trust, and ends the sessions that were exchanged by it',
    method: 'DELETE',
    path: '/workload-trusts/{name}',
    access: administering,
    gives: { nothing: 'own input' },
    input: { name: text },
    faults: { not_found: 'There is no such trust.' },
    run: async ({ parts, tenant, actor }, input) => {
      if (!(await deleteWorkloadTrust(parts.store, tenant, input.name, await actor())))
        throw new Fault('not_found', 'There is no such trust.')
    },
  }),
].flat()

function trustView(stored: StoredTrust) {
  const { id, name: called, issuer, audience, subject, sub, roles, scopes, keySource } = stored
  return {
    ...{ id, name: called, issuer, audience, subject, sub, roles, scopes },
    ...keyView(keySource),
    changed_at: stored.changedAt,
    changed_by: actorView(stored.changedBy),
  }
}
