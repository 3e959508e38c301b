/** Declares the operations on access that is asked for, decided, granted for a time, and revoked. */

import { Fault } from '../../base/fault.ts'
import type { OperationContext, SessionAccess } from '../../core/operation.ts'
import type { TableRef } from '../../core/table-ref.ts'
import { operationsOf } from '../../http/declare.ts'
import { pageRequest, pageView } from '../../http/page-view.ts'
import {
  described,
  filteredTable,
  flag,
  maybe,
  nonEmpty,
  object,
  oneOf,
  ordinal,
  pageInput,
  pageOf,
  sentTableAddress,
  tableFilter,
  uuid,
} from '../../http/schemas.ts'
import { listGrants } from '../../store/contract/access-grants.ts'
import { type AccessFilter, listAccessRequests, requestStates } from '../../store/contract/access-requests.ts'
import type { RunQuery } from '../../store/contract/versions.ts'
import { reading } from '../parts.ts'
import { decideAccess, revokeAccess } from './decide-access.ts'
import { accessOverseers, deciderOf, overseesAccess, ownedContractOf } from './oversight.ts'
import { renewAccess } from './renew-access.ts'
import { type AccessContext, type MadeRequest, requestAccess, withdrawAccess } from './request-access.ts'
import { grantSecondsMax } from './review.ts'
import { type AccessParts, showRequest } from './show-request.ts'
import {
  askedParts,
  grantSchema,
  grantView,
  madeRequestSchema,
  madeRequestView,
  newGrantView,
  requestSchema,
  requestView,
  shownRequestSchema,
} from './views.ts'
import type { Wanted } from './wanted-lifts.ts'

const operation = operationsOf<AccessParts>()
const tag = 'access'
const path = '/api/v1/access' as const
const everyoneNeeds =
  'needs the role `steward`, `administrator` or `auditor`, or a table whose contract names the caller as an owner.'

type Context = Pick<OperationContext<AccessParts, SessionAccess>, 'parts' | 'caller'>

async function contextOf({ parts, caller }: Context): Promise<AccessContext> {
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
      'A steward or an owner of the contract decides, and somebody else too where the contract asks for that; nobody decides about access of their own. Without `columns`, `filters` and `policies` it is for all that hides something from the caller. With `policies` it is for commits: an enforced policy that a person wrote only warns of the grantee’s commits to the table. A request waits for 14 days. Where the contract’s review plan lets the caller, access is granted at once. With `renews` it is for what that grant gives, from its end on.',
    method: 'POST',
    path: `${path}/requests`,
    access: reading,
    gives: { nothing: 'own input' },
    input: object({
      namespace: maybe(sentTableAddress.namespace),
      table: maybe(sentTableAddress.table),
      ...askedParts,
      role: maybe(described(nonEmpty, 'for everybody with this role, which the caller has')),
      purpose: maybe(
        described(
          nonEmpty,
          'at most 500 characters; it is recorded with each query. Required, but for a renewal, which else has that of the grant',
        ),
      ),
      seconds: described(ordinal, `at most ${grantSecondsMax}: 30 days`),
      ticket: maybe(nonEmpty),
      break_glass: maybe(
        described(
          flag,
          'takes access at once, where the contract’s review plan lets the caller; a steward reviews it afterwards. Needs `ticket`',
        ),
      ),
      renews: maybe(
        described(uuid, 'an open grant of the caller; instead of the table, what is lifted, and to whom'),
      ),
    }),
    status: 201,
    output: madeRequestSchema,
    faults: {
      not_found: 'There is no such table, or no such grant of the caller.',
      conflict:
        'Fifty requests of the caller wait already, too many grants are open, or the grant cannot be renewed.',
      unprocessable:
        'Nothing of it is hidden from the caller, the table is a clone, or the contract’s review plan does not allow the purpose or the time.',
    },
    examples: [
      {
        input: {
          ...{ namespace: ['sales'], table: 'orders', columns: ['email'] },
          ...{ purpose: 'Refund of order 4711', seconds: 7_200 },
        },
      },
    ],
    run: async (context, input) => madeRequestView(await make(await contextOf(context), input)),
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
    output: pageOf(requestSchema),
    faults: { forbidden: `\`everyone\` ${everyoneNeeds}` },
    run: async (context, { limit, page_token, state, everyone, ...named }) => {
      const { parts, caller } = context
      const table = filteredTable(named)
      const filter = { ...(await listed(context, everyone === true, table)), state, table }
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
    gives: {
      own: ['existence', 'columns'],
      overseen: ['existence', 'columns', 'counts'],
      overseers: accessOverseers,
    },
    input: object({ id: uuid }),
    output: shownRequestSchema,
    faults: { not_found: 'There is no such request.' },
    run: async (context, { id }) => {
      const { parts, caller, signal } = context
      return await showRequest(
        parts,
        caller.tenant,
        await deciderOf(context.parts.store, context.caller),
        id,
        signal,
      )
    },
  }),
  operation({
    name: 'decide_access_request',
    tag,
    summary: 'Approves or denies a request for access that somebody else made',
    description:
      'A steward or an owner of the contract decides first, and an administrator or another one of those second where the contract asks for that. The last approval grants the access from now on. About access that was taken by break-glass it is the review, by a steward: a denial ends it.',
    method: 'POST',
    path: `${path}/requests/{id}/decisions`,
    access: reading,
    gives: { nothing: 'own input' },
    input: object({
      id: uuid,
      approves: flag,
      sha256: described(nonEmpty, 'of the request that was read'),
      comment: maybe(nonEmpty),
    }),
    output: object({ grant: maybe(grantSchema) }),
    faults: {
      not_found: 'There is no such request.',
      forbidden: 'The caller asked for the access, would have it, or lacks the role of the decision.',
      conflict:
        'The request does not wait, is another one than was read, or would reveal something else by now.',
    },
    run: async (context, { id, ...decision }) => {
      const on = {
        ...(await contextOf(context)),
        decider: await deciderOf(context.parts.store, context.caller),
      }
      const made = await decideAccess(on, id, decision)
      return made === undefined ? {} : { grant: newGrantView(made) }
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
    output: pageOf(grantSchema),
    faults: { forbidden: `\`everyone\` ${everyoneNeeds}` },
    run: async (context, { limit, page_token, open, everyone, ...named }) => {
      const { parts, caller } = context
      const table = filteredTable(named)
      const whose = await listed(context, everyone === true, table)
      const openAt = open === true ? new Date(parts.clock.now()) : undefined
      const filter = { ...whose, roles: caller.principal.roles, table }
      const page = pageRequest({ limit, page_token })
      return pageView(await listGrants(parts.store, caller.tenant, filter, openAt, page), grantView)
    },
  }),
  operation({
    name: 'revoke_access_grant',
    tag,
    summary: 'Ends a grant of access at once: by who has it, a steward, or an owner of the contract',
    method: 'POST',
    path: `${path}/grants/{id}/revocation`,
    access: reading,
    gives: { nothing: 'own input' },
    input: object({ id: uuid, reason: nonEmpty }),
    faults: { not_found: 'There is no such grant.', conflict: 'It has ended already.' },
    run: async (context, { id, reason }) => {
      const on = {
        ...(await contextOf(context)),
        decider: await deciderOf(context.parts.store, context.caller),
      }
      await revokeAccess(on, id, reason)
    },
  }),
]

interface Asked extends Wanted {
  readonly namespace?: readonly string[] | undefined
  readonly table?: string | undefined
  readonly role?: string | undefined
  readonly purpose?: string | undefined
  readonly seconds: number
  readonly ticket?: string | undefined
  readonly break_glass?: boolean | undefined
  readonly renews?: string | undefined
}

/** Makes a request for a table, or the renewal of a grant. @throws Fault `bad_request` where it names neither, or both */
async function make(
  on: AccessContext,
  { break_glass: isBreakGlass, renews, ...asked }: Asked,
): Promise<MadeRequest> {
  const { namespace, table: name, purpose, seconds, ticket, ...what } = asked
  const table = filteredTable({ namespace, table: name })
  if (renews !== undefined) {
    if (table !== undefined || isBreakGlass || Object.keys(what).length > 0)
      throw new Fault(
        'bad_request',
        'A renewal has the table, reader and parts of its grant: leave them out.',
      )
    return await renewAccess(on, { renews, seconds, purpose, ticket })
  }
  if (table === undefined || purpose === undefined)
    throw new Fault('bad_request', 'A request names a table and a purpose, or the grant that it renews.')
  return await requestAccess(on, { ...what, table, purpose, seconds, ticket, isBreakGlass })
}

/**
 * Whose access is listed: the caller's; with `everyone` that of everybody. An owner of the contract that governs a table
 * sees what was asked for and granted under that contract: another one may have governed a table of the name before.
 * @throws Fault `forbidden`
 */
async function listed(
  context: Context,
  everyone: boolean,
  table: TableRef | undefined,
): Promise<Pick<AccessFilter, 'sub' | 'contract'>> {
  const { parts, caller } = context
  if (!everyone) return { sub: caller.principal.sub }
  if (overseesAccess(caller.principal)) return {}
  const run: RunQuery = (sql, params) => parts.store.tenantQuery(caller.tenant, sql, params)
  const decider = table && (await deciderOf(context.parts.store, context.caller))
  const contract =
    table && decider && (await ownedContractOf(run, caller.tenant, decider, table, parts.clock.now()))
  if (contract === undefined) throw new Fault('forbidden', `\`everyone\` ${everyoneNeeds}`)
  return { contract }
}
