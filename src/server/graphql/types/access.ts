/**
 * Access for a time: what the caller has and asked for, and per table that of everybody, for those who may list it over
 * REST.
 */

import { Fault } from '../../../base/fault.ts'
import { accessOperations } from '../../../contract/access/operations.ts'
import { overseesAccess } from '../../../contract/access/oversight.ts'
import type { Grantee } from '../../../core/access-grant.ts'
import type { TableRef } from '../../../core/table-ref.ts'
import { listGrants } from '../../../store/contract/access-grants.ts'
import { listAccessRequests } from '../../../store/contract/access-requests.ts'
import { accessOf, requireAccess } from '../access.ts'
import { type Builder, connectionOf, pageOf } from '../builder.ts'
import type { GraphContext } from '../context.ts'
import type { Refs } from './refs.ts'

const grantsAccess = accessOf(accessOperations, 'list_access_grants')
const requestsAccess = accessOf(accessOperations, 'list_access_requests')

/** Lists of one operation, because each takes a statement of its own. */
const listsMax = 10
const lists = new WeakMap<GraphContext['loaders'], number>()

interface PageArgs {
  readonly first: number
  readonly after?: string | null | undefined
}

/** Adds the types, the fields of Table, and `myAccess` and `myAccessRequests` to Query. */
export function addAccess(builder: Builder, refs: Refs): void {
  const subOf = (grantee: Grantee) => ('sub' in grantee ? grantee.sub : null)
  const roleOf = (grantee: Grantee) => ('role' in grantee ? grantee.role : null)
  const whose = {
    sub: 'The subject that has it; null where a role has.',
    role: 'The role that has it; null where a subject has.',
  }
  refs.accessGrant.ref.implement({
    description: 'Access to what filters and masks of a table hide, for a time.',
    fields: (t) => ({
      grantId: t.string({ description: 'Its id over REST.', resolve: ({ id }) => id }),
      requestId: t.string({
        description: 'The request that was granted.',
        resolve: ({ request }) => request,
      }),
      namespace: t.stringList({ resolve: ({ table }) => [...table.namespace] }),
      tableName: t.string({ resolve: ({ table }) => table.name }),
      sub: t.string({ nullable: true, description: whose.sub, resolve: ({ grantee }) => subOf(grantee) }),
      role: t.string({ nullable: true, description: whose.role, resolve: ({ grantee }) => roleOf(grantee) }),
      purpose: t.exposeString('purpose', { description: 'Why it was asked for.' }),
      ticket: t.string({
        nullable: true,
        description: 'Named by who asked.',
        resolve: ({ ticket }) => ticket ?? null,
      }),
      grantedBy: t.string({
        description: 'The subject who approved last.',
        resolve: (one) => one.grantedBy.sub,
      }),
      from: t.field({ type: 'DateTime', description: 'From when it holds.', resolve: ({ from }) => from }),
      until: t.field({
        type: 'DateTime',
        description: 'Before when it holds.',
        resolve: ({ until }) => until,
      }),
      endedAt: t.field({
        type: 'DateTime',
        nullable: true,
        description: 'When its end was recorded; null while it is open.',
        resolve: ({ endedAt }) => endedAt ?? null,
      }),
      endReason: t.string({
        nullable: true,
        description: 'Why it ended.',
        resolve: ({ endReason }) => endReason ?? null,
      }),
    }),
  })
  refs.accessRequest.ref.implement({
    description: 'A request for access to what filters and masks of a table hide.',
    fields: (t) => ({
      requestId: t.string({ description: 'Its id over REST.', resolve: ({ id }) => id }),
      state: t.exposeString('state', {
        description:
          '`waiting`, `granted`, `denied`, `withdrawn` or `expired`; of break-glass `to_review`, `confirmed` or `condemned`.',
      }),
      namespace: t.stringList({ resolve: ({ table }) => [...table.namespace] }),
      tableName: t.string({ resolve: ({ table }) => table.name }),
      sub: t.string({ nullable: true, description: whose.sub, resolve: ({ grantee }) => subOf(grantee) }),
      role: t.string({ nullable: true, description: whose.role, resolve: ({ grantee }) => roleOf(grantee) }),
      columns: t.stringList({
        nullable: true,
        description: 'Columns whose masks would be lifted; null where none is named.',
        resolve: ({ wanted }) => (wanted.columns ? [...wanted.columns] : null),
      }),
      filters: t.stringList({
        nullable: true,
        description: 'Row filters that would be lifted; null where none is named.',
        resolve: ({ wanted }) => (wanted.filters ? [...wanted.filters] : null),
      }),
      policies: t.stringList({
        nullable: true,
        description: 'Policies about commits that would only warn; null where none is named.',
        resolve: ({ wanted }) => (wanted.policies ? [...wanted.policies] : null),
      }),
      purpose: t.exposeString('purpose', { description: 'Why it is asked for.' }),
      ticket: t.string({
        nullable: true,
        description: 'Named by who asked.',
        resolve: ({ ticket }) => ticket ?? null,
      }),
      seconds: t.exposeInt('seconds', { description: 'For how long, from the decision on.' }),
      requestedBy: t.string({ description: 'The subject who asked.', resolve: (one) => one.requestedBy.sub }),
      requestedAt: t.field({
        type: 'DateTime',
        description: 'When it was asked for.',
        resolve: ({ requestedAt }) => requestedAt,
      }),
      endedAt: t.field({
        type: 'DateTime',
        nullable: true,
        description: 'When it was decided, withdrawn or expired; null while it waits.',
        resolve: ({ endedAt }) => endedAt ?? null,
      }),
    }),
  })
  const grantsOf = async (context: GraphContext, args: PageArgs, filter: GrantFilter) => {
    const { parts, store, caller } = context
    requireAccess(parts, caller, grantsAccess)
    const openAt = filter.open ? new Date(parts.clock.now()) : undefined
    const whose = filter.everyone ? {} : { sub: caller.principal.sub, roles: caller.principal.roles }
    const wanted = { ...whose, table: filter.table }
    const found = await listGrants(store, caller.tenant, wanted, openAt, pageOf(args))
    return connectionOf(found, ({ position }) => position, args)
  }
  const requestsOf = async (context: GraphContext, args: PageArgs, filter: Omit<GrantFilter, 'open'>) => {
    const { parts, store, caller } = context
    requireAccess(parts, caller, requestsAccess)
    const sub = filter.everyone ? undefined : caller.principal.sub
    const found = await listAccessRequests(store, caller.tenant, { sub, table: filter.table }, pageOf(args))
    return connectionOf(found, ({ position }) => position, args)
  }
  builder.queryFields((t) => {
    const page = { first: t.arg.int({ required: true }), after: t.arg.string() }
    return {
      myAccess: t.field({
        type: refs.accessGrant.connection,
        nullable: true,
        description: 'What access for a time you have, why and until when; newest first.',
        args: { ...page, open: t.arg.boolean({ description: 'Those alone that hold now.' }) },
        resolve: async (_, { open, ...args }, context) =>
          await grantsOf(context, args, { open: open === true, everyone: false }),
      }),
      myAccessRequests: t.field({
        type: refs.accessRequest.connection,
        nullable: true,
        description: 'What you asked for; newest first.',
        args: page,
        resolve: async (_, args, context) => await requestsOf(context, args, { everyone: false }),
      }),
    }
  })
  builder.objectFields(refs.table.ref, (t) => {
    const page = { first: t.arg.int({ required: true }), after: t.arg.string() }
    const seenBy = `of at most ${listsMax} tables in one operation. Yours; with \`everyone\` that of everybody, for stewards, administrators and auditors.`
    const everyone = t.arg.boolean({ description: 'Of everybody.' })
    return {
      accessGrants: t.field({
        type: refs.accessGrant.connection,
        nullable: true,
        description: `Access to it for a time, newest first; ${seenBy}`,
        args: { ...page, everyone, open: t.arg.boolean({ description: 'Those alone that hold now.' }) },
        resolve: async ({ ref: table }, { open, everyone: wants, ...args }, context) =>
          await grantsOf(context, args, { table, open: open === true, everyone: ofAll(context, wants) }),
      }),
      accessRequests: t.field({
        type: refs.accessRequest.connection,
        nullable: true,
        description: `Requests for access to it, newest first; ${seenBy}`,
        args: { ...page, everyone },
        resolve: async ({ ref: table }, { everyone: wants, ...args }, context) =>
          await requestsOf(context, args, { table, everyone: ofAll(context, wants) }),
      }),
    }
  })
}

interface GrantFilter {
  readonly table?: TableRef
  readonly open: boolean
  readonly everyone: boolean
}

/** Counts a list, and says whether it is of everybody. @throws Fault `bad_request` beyond the bound, `forbidden` */
function ofAll({ loaders, caller }: GraphContext, everyone: boolean | null | undefined): boolean {
  const asked = (lists.get(loaders) ?? 0) + 1
  lists.set(loaders, asked)
  if (asked > listsMax)
    throw new Fault(
      'bad_request',
      `Access is asked of more than ${listsMax} tables. Ask in several operations.`,
    )
  if (everyone !== true) return false
  if (!overseesAccess(caller.principal))
    throw new Fault('forbidden', '`everyone` needs the role `steward`, `administrator` or `auditor`.')
  return true
}
