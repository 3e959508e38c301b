/** Declares the operations on how provisioned people are matched with principals (docs/reference/identity.md 11). */

import { personAttributes, personClaims, roleSources } from '../core/provisioning.ts'
import { actorMembers, actorView } from '../http/actor-view.ts'
import { operationsOf } from '../http/declare.ts'
import { described, maybe, object, oneOf, time } from '../http/schemas.ts'
import { provisioningOf, putProvisioning } from '../store/session/provisioning.ts'
import type { Store } from '../store/store.ts'

const operation = operationsOf<{ readonly store: Store }>()
const path = '/api/v1/provisioning'
const tag = 'sessions'
const members = {
  claim: described(
    oneOf(personClaims),
    'what of a principal is compared: its subject, or its e-mail address',
  ),
  attribute: described(oneOf(personAttributes), 'what of a user it is compared with'),
  roles_from: described(
    oneOf(roleSources),
    '`token`: the roles are those of the token; `groups`: they are the names of the provisioned groups, and nothing else',
  ),
}
const settings = object({
  ...members,
  changed_at: maybe(time),
  changed_by: maybe(object(actorMembers)),
})

export const provisioningOperations = [
  operation({
    name: 'get_provisioning',
    tag,
    summary: 'How people that an identity provider provisions are matched, and where their roles come from',
    method: 'GET',
    path,
    access: { scope: 'admin', roles: ['administrator', 'owner'] },
    gives: { nothing: 'administration' },
    input: object({}),
    output: settings,
    run: async ({ parts, caller }) => await shown(parts.store, caller.tenant),
  }),
  operation({
    name: 'put_provisioning',
    tag,
    summary: 'Sets how provisioned people are matched, and where their roles come from',
    description: 'All browser sessions of the tenant end, because their people may have other roles now.',
    method: 'PUT',
    path,
    // Where groups give the roles, who provisions them gives any role, as only an owner may.
    access: { scope: 'admin', roles: ['owner'] },
    gives: { nothing: 'own input' },
    input: object(members),
    output: settings,
    examples: [{ input: { claim: 'email', attribute: 'userName', roles_from: 'groups' } }],
    run: async ({ parts, caller }, { claim, attribute, roles_from: rolesFrom }) => {
      await putProvisioning(parts.store, caller.tenant, { claim, attribute, rolesFrom }, await caller.actor())
      return await shown(parts.store, caller.tenant)
    },
  }),
]

async function shown(store: Store, tenant: Parameters<typeof provisioningOf>[1]) {
  const { claim, attribute, rolesFrom, changedAt, changedBy } = await provisioningOf(store, tenant)
  return {
    ...{ claim, attribute, roles_from: rolesFrom },
    changed_at: changedAt,
    changed_by: changedBy && actorView(changedBy),
  }
}
