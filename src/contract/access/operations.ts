/** Declares the operations on access that is asked for, decided, granted for a time, and revoked. */

import { Fault } from '../../base/fault.ts'
import type { Grantee } from '../../core/access-grant.ts'
import type { OperationContext, SessionAccess } from '../../core/operation.ts'
import { actorMembers, actorView } from '../../http/actor-view.ts'
import { pageRequest, pageView } from '../../http/page-view.ts'
import {
  addressed,
  described,
  filteredTable,
  flag,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  ordinal,
  pageInput,
  pageOf,
  sentTableAddress,
  tableFilter,
  tableIdentifier,
  text,
  time,
  uuid,
} from '../../http/schemas.ts'
import { type Grant, listGrants } from '../../store/contract/access-grants.ts'
import {
  type AccessRequest,
  findAccessRequest,
  listAccessRequests,
  requestStates,
} from '../../store/contract/access-requests.ts'
import type { RunQuery } from '../../store/contract/versions.ts'
import { type ContractParts, operation, reading } from '../parts.ts'
import { decideAccess, factsOf, liftsNow, revokeAccess, waitsFor } from './decide-access.ts'
import {
  type AccessContext,
  accessOverseers,
  mayKnow,
  noRequest,
  overseesAccess,
  requestAccess,
  withdrawAccess,
} from './request-access.ts'
import { grantSecondsMax } from './review.ts'

const tag = 'access'
const path = '/api/v1/access' as const
const by = object(actorMembers)
const levels = ['first', 'second'] as const

const grantee = {
  sub: maybe(described(text, 'the subject that has it')),
  role: maybe(described(text, 'those who have this role have it')),
}
const asked = {
  columns: maybe(described(list(nonEmpty, { minItems: 1, maxItems: 100 }), 'names of masked columns')),
  filters: maybe(described(list(nonEmpty, { minItems: 1, maxItems: 100 }), 'ids of row filters')),
  policies: maybe(
    described(
      list(nonEmpty, { minItems: 1, maxItems: 100 }),
      'ids or names of policies that shall refuse no commit of the grantee’s to the table',
    ),
  ),
}

const request = object({
  id: uuid,
  sha256: described(
    text,
    'of the table, who would have it, what is lifted, for how long and why: what is decided',
  ),
  state: oneOf(requestStates),
  requested_at: time,
  requested_by: by,
  table: tableIdentifier,
  contract: text,
  grantee: object(grantee),
  ...asked,
  purpose: text,
  ticket: maybe(text),
  seconds: described(ordinal, 'for how long, from the decision on'),
  decisions: list(object({ approves: flag, level: oneOf(levels), at: text, by, comment: maybe(text) })),
  ended_at: maybe(time),
})

const shownRequest = object({
  ...request.properties,
  waits_for: described(list(oneOf(levels)), '`first`: a steward, `second`: an administrator'),
  reveals: maybe(
    described(
      object({
        columns: list(object({ name: text, tags: list(text), masks: list(text) })),
        filters: list(object({ id: text, expression: text })),
        policies: list(object({ id: text, name: text, expression: text })),
      }),
      'what would be lifted by now; for stewards and administrators',
    ),
  ),
  problem: maybe(described(text, 'why it cannot be granted by now')),
})

const grant = object({
  id: uuid,
  request: uuid,
  table: tableIdentifier,
  contract: text,
  grantee: object(grantee),
  purpose: text,
  ticket: maybe(text),
  granted_at: time,
  granted_by: described(text, 'subject'),
  from: time,
  until: time,
  ended_at: maybe(time),
  ended_by: maybe(described(text, 'subject; absent where its time was over')),
  end_reason: maybe(text),
})

function requestView(found: AccessRequest) {
  const { id, sha256, state, table, contract, wanted, purpose, ticket, seconds, decisions } = found
  return {
    ...{ id, sha256, state, requested_at: found.requestedAt, requested_by: actorView(found.requestedBy) },
    ...{ table, contract: contract.id, grantee: granteeView(found.grantee) },
    ...(wanted.columns && { columns: [...wanted.columns] }),
    ...(wanted.filters && { filters: [...wanted.filters] }),
    ...(wanted.policies && { policies: [...wanted.policies] }),
    ...{ purpose, ticket, seconds, ended_at: found.endedAt },
    decisions: decisions.map((one) => ({ ...one, by: actorView(one.by) })),
  }
}

function grantView(found: Omit<Grant, 'lifts'>) {
  const { id, request: of, table, contract, purpose, ticket, from, until } = found
  return {
    ...{ id, request: of, table, contract, grantee: granteeView(found.grantee), purpose, ticket },
    ...{ granted_at: found.grantedAt, granted_by: found.grantedBy.sub, from, until },
    ...{ ended_at: found.endedAt, ended_by: found.endedBy?.sub, end_reason: found.endReason },
  }
}

const granteeView = (of: Grantee) => ('sub' in of ? { sub: of.sub } : { role: of.role })

async function contextOf({
  parts,
  caller,
}: Pick<OperationContext<ContractParts, SessionAccess>, 'parts' | 'caller'>): Promise<AccessContext> {
  const { store, clock } = parts
  return { store, clock, tenant: caller.tenant, actor: await caller.actor() }
}

const overseen = {
  overseen: ['existence', 'columns'],
  overseers: accessOverseers,
} as const

export const accessOperations = [
  operation({
    name: 'request_access',
    tag,
    summary: 'Asks for access to what filters and masks of a table hide, for a time',
    description:
      'A steward decides, and an administrator too where the contract asks for a second approval; nobody decides about access of their own. Without `columns`, `filters` and `policies` it is for all that hides something from the caller. With `policies` it is for commits: an enforced policy that a person wrote only warns of the grantee’s commits to the table. A request waits for 14 days.',
    method: 'POST',
    path: `${path}/requests`,
    access: reading,
    gives: { nothing: 'own input' },
    input: object({
      ...sentTableAddress,
      ...asked,
      role: maybe(described(nonEmpty, 'for everybody with this role, which the caller has')),
      purpose: described(nonEmpty, 'at most 500 characters; it is recorded with each query'),
      seconds: described(ordinal, `at most ${grantSecondsMax}: 30 days`),
      ticket: maybe(nonEmpty),
    }),
    status: 201,
    output: request,
    faults: {
      not_found: 'There is no such table.',
      conflict: 'Fifty requests of the caller wait already.',
      unprocessable: 'Nothing of it is hidden from the caller, or the table is a clone.',
    },
    examples: [
      {
        input: {
          ...{ namespace: ['sales'], table: 'orders', columns: ['email'] },
          ...{ purpose: 'Refund of order 4711', seconds: 7_200 },
        },
      },
    ],
    run: async (context, { namespace, table, ...wanted }) =>
      requestView(
        await requestAccess(await contextOf(context), { ...wanted, table: addressed({ namespace, table }) }),
      ),
  }),
  operation({
    name: 'list_access_requests',
    tag,
    summary: 'The caller’s requests for access, newest first; with `everyone` those of everybody',
    method: 'GET',
    path: `${path}/requests`,
    access: reading,
    gives: { own: ['existence', 'columns'], ...overseen },
    input: object({
      ...pageInput,
      ...tableFilter,
      state: maybe(oneOf(requestStates)),
      everyone: maybe(described(flag, 'of everybody: for stewards, administrators and auditors')),
    }),
    output: pageOf(request),
    faults: { forbidden: '`everyone` needs the role `steward`, `administrator` or `auditor`.' },
    run: async ({ parts, caller }, { limit, page_token, state, everyone, ...table }) => {
      const sub = everyone === true ? overseer(caller.principal) : caller.principal.sub
      const filter = { sub, state, table: filteredTable(table) }
      const page = pageRequest({ limit, page_token })
      return pageView(await listAccessRequests(parts.store, caller.tenant, filter, page), requestView)
    },
  }),
  operation({
    name: 'get_access_request',
    tag,
    summary: 'A request for access, and what it would reveal to whom',
    method: 'GET',
    path: `${path}/requests/{id}`,
    access: reading,
    gives: { own: ['existence', 'columns'], ...overseen },
    input: object({ id: uuid }),
    output: shownRequest,
    faults: { not_found: 'There is no such request.' },
    run: async (context, { id }) => {
      const { store, clock, tenant, actor } = await contextOf(context)
      return await store.tenantTransaction(
        tenant,
        async (tx) => {
          const found = await findAccessRequest(tx, tenant, id)
          if (found === undefined || !mayKnow(actor, found)) throw noRequest()
          const run: RunQuery = (sql, params) => tx.query(sql, params)
          const decides = actor.roles.some((role) => ['steward', 'administrator'].includes(role))
          const now =
            decides && found.state === 'waiting' ? await liftsNow(run, found, clock.now()) : undefined
          return {
            ...requestView(found),
            waits_for: [...waitsFor(await factsOf(run, tenant, found, clock.now()))],
            ...(now &&
              ('problem' in now ? { problem: now.problem } : { reveals: revealsView(now.revealed) })),
          }
        },
        { readOnly: true },
      )
    },
  }),
  operation({
    name: 'decide_access_request',
    tag,
    summary: 'Approves or denies a request for access that somebody else made',
    description:
      'A steward decides first, and an administrator second where the contract asks for that. The last approval grants the access from now on.',
    method: 'POST',
    path: `${path}/requests/{id}/decisions`,
    access: { scope: 'admin', roles: ['steward', 'administrator'] },
    gives: { nothing: 'own input' },
    input: object({
      id: uuid,
      approves: flag,
      sha256: described(nonEmpty, 'of the request that was read'),
      comment: maybe(nonEmpty),
    }),
    output: object({ grant: maybe(grant) }),
    faults: {
      not_found: 'There is no such request.',
      forbidden: 'The caller asked for the access, would have it, or lacks the role of the decision.',
      conflict:
        'The request does not wait, is another one than was read, or would reveal something else by now.',
    },
    run: async (context, { id, ...decision }) => {
      const made = await decideAccess(await contextOf(context), id, decision)
      const open = { endedAt: undefined, endedBy: undefined, endReason: undefined }
      return made === undefined ? {} : { grant: grantView({ ...made, ...open }) }
    },
  }),
  operation({
    name: 'withdraw_access_request',
    tag,
    summary: 'Withdraws a request for access of the caller’s own',
    method: 'POST',
    path: `${path}/requests/{id}/withdrawal`,
    access: reading,
    gives: { nothing: 'own input' },
    input: object({ id: uuid }),
    faults: {
      not_found: 'There is no such request.',
      forbidden: 'Somebody else made it.',
      conflict: 'It does not wait any more.',
    },
    run: async (context, { id }) => await withdrawAccess(await contextOf(context), id),
  }),
  operation({
    name: 'list_access_grants',
    tag,
    summary:
      'What access the caller has, why and until when, newest first; with `everyone` that of everybody',
    method: 'GET',
    path: `${path}/grants`,
    access: reading,
    gives: { own: ['existence'], ...overseen },
    input: object({
      ...pageInput,
      ...tableFilter,
      open: maybe(described(flag, 'those alone that hold now')),
      everyone: maybe(described(flag, 'of everybody: for stewards, administrators and auditors')),
    }),
    output: pageOf(grant),
    faults: { forbidden: '`everyone` needs the role `steward`, `administrator` or `auditor`.' },
    run: async ({ parts, caller }, { limit, page_token, open, everyone, ...table }) => {
      const { sub, roles } = caller.principal
      const whose = everyone === true ? { sub: overseer(caller.principal) } : { sub, roles }
      const openAt = open === true ? new Date(parts.clock.now()) : undefined
      const filter = { ...whose, table: filteredTable(table) }
      const page = pageRequest({ limit, page_token })
      return pageView(await listGrants(parts.store, caller.tenant, filter, openAt, page), grantView)
    },
  }),
  operation({
    name: 'revoke_access_grant',
    tag,
    summary: 'Ends a grant of access at once: by who has it, or by a steward',
    method: 'POST',
    path: `${path}/grants/{id}/revocation`,
    access: reading,
    gives: { nothing: 'own input' },
    input: object({ id: uuid, reason: nonEmpty }),
    faults: { not_found: 'There is no such grant.', conflict: 'It has ended already.' },
    run: async (context, { id, reason }) => await revokeAccess(await contextOf(context), id, reason),
  }),
]

function revealsView({
  columns,
  filters,
  policies,
}: Extract<Awaited<ReturnType<typeof liftsNow>>, { lifts: object }>['revealed']) {
  return {
    columns: columns.map(({ name, tags, masks }) => ({ name, tags: [...tags], masks: [...masks] })),
    filters: [...filters],
    policies: [...policies],
  }
}

/** No subject: that of everybody. @throws Fault `forbidden` */
function overseer(principal: { readonly roles: readonly string[] }): undefined {
  if (!overseesAccess(principal))
    throw new Fault('forbidden', '`everyone` needs the role `steward`, `administrator` or `auditor`.')
}
