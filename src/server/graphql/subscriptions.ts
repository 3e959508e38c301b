/**
 * The fields of Subscription, served as server-sent events. They follow the tenant's sequence of events: each carries
 * its number, and `after` resumes behind one. What the subscriber may see is decided again for every event.
 */

import { Fault } from '../../base/fault.ts'
import { lifeCycleOperations } from '../../contract/lifecycle/operations.ts'
import type { EventType, TenantEvent } from '../../core/event.ts'
import type { Caller } from '../../core/operation.ts'
import type { TableRef } from '../../core/table-ref.ts'
import { decisionOperations } from '../../gateway/oversight/decision-operations.ts'
import { lastEvent } from '../../store/event/events.ts'
import { eventsAfter } from '../events/follow-events.ts'
import { accessOf, requireAccess } from './access.ts'
import type { Builder } from './builder.ts'
import type { GraphContext } from './context.ts'
import type { Refs } from './types/refs.ts'

const decisionsAccess = accessOf(decisionOperations, 'list_decisions')
const movesAccess = accessOf(lifeCycleOperations, 'list_contract_moves')

/** Adds the fields. */
export function addSubscriptions(builder: Builder, refs: Refs): void {
  const numbered = 'Of the event: give it as `after` to go on behind it.'
  const textOf = (value: unknown) => (value == null ? null : String(value))
  const pinNotice = builder.objectRef<TenantEvent>('PinNotice').implement({
    description: 'A table that you may read was pinned, or its pin ended.',
    fields: (t) => ({
      sequence: t.string({ description: numbered, resolve: ({ sequence }) => String(sequence) }),
      at: t.field({ type: 'DateTime', resolve: ({ occurredAt }) => occurredAt }),
      kind: t.string({ resolve: ({ type }) => (type === 'table.pinned' ? 'pin' : 'unpin') }),
      snapshotId: t.string({ nullable: true, resolve: ({ data }) => textOf(data.snapshot_id) }),
      catalog: t.string({ nullable: true, resolve: ({ data }) => textOf(data.catalog) }),
      by: t.string({ resolve: ({ data }) => String(data.by) }),
      table: t.field({
        type: refs.table.ref,
        nullable: true,
        resolve: async ({ data }, _, { loaders }) => (await loaders.table(refOf(data))) ?? null,
      }),
    }),
  })
  const decisionNotice = builder.objectRef<TenantEvent>('DecisionNotice').implement({
    description: 'A change was approved or rejected.',
    fields: (t) => ({
      sequence: t.string({ description: numbered, resolve: ({ sequence }) => String(sequence) }),
      at: t.field({ type: 'DateTime', resolve: ({ occurredAt }) => occurredAt }),
      commitId: t.string({ resolve: ({ data }) => String(data.commit_id) }),
      decision: t.field({
        type: refs.decisionKind,
        resolve: ({ data }) => (data.decision === 'APPROVED' ? 'APPROVED' : 'REJECTED'),
      }),
      action: t.string({ resolve: ({ data }) => String(data.action) }),
      committer: t.string({ resolve: ({ data }) => String(data.committer) }),
      reason: t.string({ resolve: ({ data }) => String(data.reason) }),
      namespace: t.stringList({ resolve: ({ data }) => [...refOf(data).namespace] }),
      tableName: t.string({ resolve: ({ data }) => refOf(data).name }),
    }),
  })
  const lifecycleNotice = builder.objectRef<TenantEvent>('LifecycleNotice').implement({
    description: 'A version of a contract moved, or somebody signed it.',
    fields: (t) => ({
      sequence: t.string({ description: numbered, resolve: ({ sequence }) => String(sequence) }),
      at: t.field({ type: 'DateTime', resolve: ({ occurredAt }) => occurredAt }),
      contract: t.string({ resolve: ({ data }) => String(data.contract) }),
      number: t.int({ resolve: ({ data }) => Number(data.number) }),
      move: t.string({
        description: '`sign_off`, or the move.',
        resolve: ({ type, data }) => (type === 'contract.signed_off' ? 'sign_off' : String(data.move)),
      }),
      from: t.string({ nullable: true, resolve: ({ data }) => textOf(data.from) }),
      to: t.string({ nullable: true, resolve: ({ data }) => textOf(data.to) }),
      reason: t.string({ nullable: true, resolve: ({ data }) => textOf(data.reason) }),
      by: t.string({ resolve: ({ data }) => String(data.by) }),
    }),
  })
  builder.subscriptionFields((t) => ({
    pinEvents: t.field({
      type: pinNotice,
      description: 'Pins of one table, or of all that you may read.',
      args: { namespace: t.arg.stringList(), table: t.arg.string(), after: t.arg.string() },
      subscribe: (_, { namespace, table, after }, context) =>
        follow(context, after, ['table.pinned', 'table.unpinned'], async ({ data }) => {
          const ref = refOf(data)
          if (namespace != null && JSON.stringify(namespace) !== JSON.stringify(ref.namespace)) return false
          if (table != null && table !== ref.name) return false
          return (await context.loaders.table(ref)) !== undefined
        }),
      resolve: (event) => event,
    }),
    decisions: t.field({
      type: decisionNotice,
      description: 'Decisions on changes. For stewards, administrators and owners.',
      args: { after: t.arg.string() },
      subscribe: (_, { after }, context) => {
        requireAccess(context.parts, context.caller, decisionsAccess)
        return follow(context, after, ['commit.decided'], async (__, caller) => {
          requireAccess(context.parts, caller, decisionsAccess)
          return true
        })
      },
      resolve: (event) => event,
    }),
    lifecycle: t.field({
      type: lifecycleNotice,
      description: 'The life cycle of one contract, or of all. For stewards and administrators.',
      args: { contract: t.arg.string(), after: t.arg.string() },
      subscribe: (_, { contract, after }, context) => {
        requireAccess(context.parts, context.caller, movesAccess)
        return follow(
          context,
          after,
          ['contract.moved', 'contract.signed_off'],
          async ({ subject }, caller) => {
            requireAccess(context.parts, caller, movesAccess)
            return contract == null || contract === subject
          },
        )
      },
      resolve: (event) => event,
    }),
  }))
}

function refOf({ namespace, table }: TenantEvent['data']): TableRef {
  return { namespace: Array.isArray(namespace) ? namespace.map(String) : [], name: String(table) }
}

/**
 * The events of some types after a number; without one, those that come from now on. It ends with the client, with the
 * session, and when the process drains.
 * @param isSeen whether the caller, as the session is now, may see an event
 */
async function* follow(
  context: GraphContext,
  given: string | null | undefined,
  types: readonly EventType[],
  isSeen: IsSeen,
): AsyncGenerator<TenantEvent> {
  const { parts, caller, signal, loaders } = context
  const leave = parts.events.enter(caller.tenant, caller.principal.sub)
  try {
    const { tenant } = caller
    const after = given == null ? await lastEvent(parts.store, tenant) : sequenceOf(given)
    const again = async () => {
      loaders.clear()
      return await context.again()
    }
    for await (const [event, now] of eventsAfter(parts, { caller, signal, again }, after))
      if (event !== undefined && types.includes(event.type) && (await isSeen(event, now))) yield event
  } finally {
    leave()
  }
}

type IsSeen = (event: TenantEvent, caller: Caller) => Promise<boolean>

/** @throws Fault `bad_request` for what is no number of an event */
function sequenceOf(text: string): bigint {
  if (!/^\d{1,18}$/.test(text)) throw new Fault('bad_request', '`after` must be the `sequence` of an event.')
  return BigInt(text)
}
