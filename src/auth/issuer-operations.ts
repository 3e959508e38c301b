/** Declares the operations on a tenant's issuers of bearer tokens (docs/reference/identity.md 3.3). */

import { Type } from '@sinclair/typebox'
import { Fault } from '../base/fault.ts'
import type { AddressRules } from '../catalog/address.ts'
import { actorMembers, actorView } from '../http/actor-view.ts'
import { operationsOf } from '../http/declare.ts'
import { described, list, maybe, object, text, time } from '../http/schemas.ts'
import {
  deleteTokenIssuer,
  putTokenIssuer,
  type StoredIssuer,
  tokenIssuersOf,
} from '../store/session/token-issuers.ts'
import type { Store } from '../store/store.ts'
import { claimNameForm, isClaimName, organizationClaimDefault } from './claims.ts'
import { keyMembers, keyView, keyViewMembers, readKeySource } from './workload/key-source.ts'

interface IssuerParts {
  readonly store: Store
  readonly addressRules: AddressRules
}

const operation = operationsOf<IssuerParts>()
const root = '/api/v1/token-issuers'
const tag = 'sessions'
// An issuer names people and gives them any role, as only an owner may.
const changing = { scope: 'admin', roles: ['owner'] } as const
const reading = { scope: 'admin', roles: ['administrator', 'owner'] } as const
const short = Type.String({ minLength: 1, maxLength: 255 })
const issuerMembers = {
  issuer: described(short, 'the claim `iss`; one name for each issuer'),
  audience: described(short, 'what the claim `aud` must hold'),
  authorized_parties: maybe(
    described(
      list(short, { minItems: 1, maxItems: 20 }),
      'the clients whose tokens are taken: one of them must be `azp`, or `client_id` without it; default: any, but for ID tokens',
    ),
  ),
  organization_claim: maybe(
    described(short, `names the organization: ${claimNameForm}; default: \`${organizationClaimDefault}\``),
  ),
  roles_claim: maybe(
    described(short, `names the roles, in the same form; default: \`roles\`, else \`groups\``),
  ),
  subject_prefix: maybe(
    described(
      Type.String({ maxLength: 64 }),
      'stands before each subject, to tell the people of issuers apart',
    ),
  ),
}
const issuerSchema = object({
  name: short,
  ...issuerMembers,
  ...keyViewMembers,
  organization_claim: short,
  changed_at: time,
  changed_by: object(actorMembers),
})

export const tokenIssuerOperations = [
  operation({
    name: 'put_token_issuer',
    tag,
    summary: 'Trusts an issuer of bearer tokens to name people of the tenant, or changes how',
    description:
      'Its tokens are verified by its own keys, audience and claims. A tenant with issuers takes no unverified tokens.',
    method: 'PUT',
    path: `${root}/{name}`,
    access: changing,
    gives: { nothing: 'own input' },
    input: object({ name: short, ...issuerMembers, ...keyMembers }),
    output: issuerSchema,
    faults: {
      bad_request: 'An address is no https URL, a key is not public, or a path to a claim cannot be read.',
      conflict: 'The tenant has too many issuers, or has this one under another name.',
    },
    examples: [
      {
        input: {
          name: 'partner',
          issuer: 'https://login.partner.example',
          audience: 'covenant',
          roles_claim: 'realm_access.roles',
          subject_prefix: 'partner:',
        },
      },
    ],
    run: async ({ parts, caller }, input) => {
      const { name, issuer, audience, roles_claim: rolesClaim, subject_prefix: subjectPrefix = '' } = input
      const { authorized_parties: authorizedParties } = input
      const keySource = readKeySource(parts.addressRules, input)
      const organizationClaim = input.organization_claim ?? organizationClaimDefault
      assertClaimName('organization_claim', organizationClaim)
      if (rolesClaim !== undefined) assertClaimName('roles_claim', rolesClaim)
      const put = {
        ...{ name, issuer, audience, authorizedParties, keySource },
        ...{ organizationClaim, rolesClaim, subjectPrefix },
      }
      const stored = await putTokenIssuer(parts.store, caller.tenant, put, await caller.actor())
      return issuerView(stored)
    },
  }),
  operation({
    name: 'list_token_issuers',
    tag,
    summary: 'The issuers of bearer tokens that the tenant trusts; there are few',
    method: 'GET',
    path: root,
    access: reading,
    gives: { nothing: 'administration' },
    input: object({}),
    output: object({ items: list(issuerSchema) }),
    run: async ({ parts, caller }) => ({
      items: (await tokenIssuersOf(parts.store, caller.tenant)).map(issuerView),
    }),
  }),
  operation({
    name: 'delete_token_issuer',
    tag,
    summary: 'Trusts an issuer no more: its tokens name nobody',
    method: 'DELETE',
    path: `${root}/{name}`,
    access: changing,
    gives: { nothing: 'own input' },
    input: object({ name: text }),
    faults: { not_found: 'There is no such issuer.' },
    run: async ({ parts, caller }, { name }) => {
      const isGone = await deleteTokenIssuer(parts.store, caller.tenant, name, await caller.actor())
      if (!isGone) throw new Fault('not_found', 'There is no such issuer.')
    },
  }),
]

/** @throws Fault `bad_request` */
function assertClaimName(member: string, text: string): void {
  if (!isClaimName(text)) throw new Fault('bad_request', `\`${member}\` must be ${claimNameForm}.`)
}

function issuerView(stored: StoredIssuer) {
  return {
    ...{ name: stored.name, issuer: stored.issuer, audience: stored.audience },
    authorized_parties: stored.authorizedParties,
    organization_claim: stored.organizationClaim,
    roles_claim: stored.rolesClaim,
    subject_prefix: stored.subjectPrefix,
    ...keyView(stored.keySource),
    changed_at: stored.changedAt,
    changed_by: actorView(stored.changedBy),
  }
}
