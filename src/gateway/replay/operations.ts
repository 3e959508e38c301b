/** Declares the operations on replays: start, list, show, cancel, and what each has found. */

import { readerOf, tenantOperationsOf } from '../../auth/administration/tenant-operations.ts'
import { Fault } from '../../base/fault.ts'
import { decisions } from '../../core/decision.ts'
import { policyKinds } from '../../core/policy.ts'
import {
  type ReplayDraft,
  type ReplayOutcome,
  replayBounds,
  replayFindings,
  replayOutcomes,
  replayStates,
} from '../../core/policy-replay.ts'
import { tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { actorMembers, actorView } from '../../http/actor-view.ts'
import { pageRequest, pageView } from '../../http/page-view.ts'
import {
  described,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  pageInput,
  pageOf,
  text,
  time,
  uuid,
  wholeNumber,
} from '../../http/schemas.ts'
import { groupFindings, listFindings, tablesOfFindings } from '../../store/commit/replay-findings.ts'
import { endReplay, findReplay, listReplays, type Replay, startReplay } from '../../store/commit/replays.ts'
import { givesWritten, type ValuesReader } from '../../store/governance/written-values.ts'
import { checkScope, namedScope } from '../../store/policy/policy-scope.ts'
import type { Store } from '../../store/store.ts'
import { askedScope, scopeMembers } from '../oversight/policy-views.ts'
import { hiddenTables } from './hidden-tables.ts'

interface Parts {
  readonly store: Store
  /** Lets this process begin at once; absent where a running service finds the replay by itself. */
  readonly wakeReplays?: () => void
}

const pair = tenantOperationsOf<Parts>()
const tag = 'policies'
const reading = { scope: 'read', roles: ['steward', 'administrator', 'owner'] } as const
const starting = { scope: 'admin', roles: ['steward', 'administrator', 'owner'] } as const
const unknown = { not_found: 'The tenant has no such replay.' }
const id = described(uuid, 'of the replay')
const changedTable = described(
  object({ namespace: list(text), name: text }),
  '`name` is empty for a change of a namespace',
)

const countMembers = Object.fromEntries(replayOutcomes.map((outcome) => [outcome, maybe(wholeNumber)]))

const replaySchema = object({
  id,
  state: oneOf(replayStates),
  definition_cel: maybe(described(text, 'absent where the policies of then are compared')),
  kind: maybe(oneOf(policyKinds)),
  name: maybe(text),
  message: maybe(text),
  scope: maybe(object(scopeMembers)),
  replaces: maybe(text),
  started_by: object(actorMembers),
  created_at: time,
  finished_at: maybe(time),
  commits: described(wholeNumber, 'commits and other changes to look at'),
  looked_at: described(wholeNumber, 'of these, so far'),
  counts: described(
    object(countMembers),
    'changes of each outcome so far; `unavailable` where who asks may not read all values of the table',
  ),
  problem: maybe(text),
})

function replayView({
  id,
  request,
  state,
  startedBy,
  createdAt,
  finishedAt,
  total,
  counts,
  problem,
}: Replay) {
  const { draft } = request
  return {
    ...{ id, state, counts, problem },
    ...(draft && {
      definition_cel: draft.definitionCel,
      kind: draft.kind,
      name: draft.name,
      message: draft.message,
      scope: namedScope(draft.scope),
      replaces: draft.replaces,
    }),
    started_by: actorView(startedBy),
    created_at: createdAt,
    finished_at: finishedAt,
    commits: total,
    looked_at: Object.values(counts).reduce((sum, count) => sum + count, 0),
  }
}

/**
 * Replays as somebody may be told of them: what came of the changes of a table of which something is hidden from them is
 * counted as `unavailable`, as if they had started the replay.
 * @throws Fault `unavailable` where that cannot be looked up
 */
async function seenBy(
  { store }: Parts,
  tenant: TenantId,
  replays: readonly Replay[],
  reader: ValuesReader,
): Promise<readonly Replay[]> {
  const tables = replays.flatMap(({ tableCounts }) => tableCounts.map(({ table }) => table))
  const hidden = new Set((await hiddenTables(store, tenant, tables, reader)).map(tableKey))
  return replays.map((replay) => {
    const { startedBy, counts, tableCounts } = replay
    const shown: Partial<Record<ReplayOutcome, number>> = {}
    const add = (outcome: ReplayOutcome, count: number) => {
      if (count > 0) shown[outcome] = (shown[outcome] ?? 0) + count
    }
    for (const { table, outcome, count } of tableCounts)
      add(hidden.has(tableKey(table)) ? 'unavailable' : outcome, count)
    // What an older version counted is of no table, so only who started it is told.
    const isOwn = reader !== 'operator' && startedBy.sub === reader.sub
    for (const outcome of replayOutcomes) {
      const known = tableCounts.filter((each) => each.outcome === outcome)
      const rest = (counts[outcome] ?? 0) - known.reduce((sum, { count }) => sum + count, 0)
      add(isOwn ? outcome : 'unavailable', rest)
    }
    return { ...replay, counts: shown }
  })
}

/** One replay, as {@link seenBy}. */
async function viewFor(parts: Parts, tenant: TenantId, replay: Replay, reader: ValuesReader) {
  const [seen = replay] = await seenBy(parts, tenant, [replay], reader)
  return replayView(seen)
}

/** @throws Fault `bad_request` for a text that a put would refuse */
async function checkText(definitionCel: string): Promise<void> {
  // Loaded here, because the command line declares this operation and does not wait for the parser of policies.
  const { checkPolicyToSave } = await import('../../policy/check.ts')
  const [first] = checkPolicyToSave(definitionCel)
  if (first !== undefined)
    throw new Fault('bad_request', `\`definition_cel\`, at ${first.offset}: ${first.message}`)
}

/** @throws Fault `not_found` */
async function existing({ store }: Parts, tenant: TenantId, replay: string): Promise<Replay> {
  const found = await findReplay(store, tenant, replay)
  if (found === undefined) throw new Fault('not_found', unknown.not_found)
  return found
}

/** The tables of a replay's findings that are hidden from who asks. @throws Fault `not_found` */
async function hiddenIn(parts: Parts, tenant: TenantId, replay: string, reader: ValuesReader) {
  await existing(parts, tenant, replay)
  return await hiddenTables(parts.store, tenant, await tablesOfFindings(parts.store, tenant, replay), reader)
}

export const replayOperations = [
  pair({
    name: 'start_policy_replay',
    tag,
    summary: 'Tries a draft policy on stored commits, and says which of them it would have decided otherwise',
    description:
      'Without `definition_cel` it compares instead: the policies that each commit was judged by, then and now. It runs in the background; ask for it by its id.',
    method: 'POST',
    path: '/policy-replays',
    access: starting,
    gives: { nothing: 'own input' },
    status: 202,
    input: {
      definition_cel: maybe(described(nonEmpty, 'the draft; it is not saved')),
      kind: maybe(described(oneOf(policyKinds), 'of the draft')),
      ...scopeMembers,
      name: maybe(described(nonEmpty, 'shown to a writer who is denied; default: `draft`')),
      message: maybe(text),
      replaces: maybe(described(nonEmpty, 'id of the policy whose place the draft would take')),
      from: maybe(described(time, 'commits of this time or later')),
      to: maybe(described(time, 'commits before this time')),
      commits: maybe(
        described(
          { ...wholeNumber, minimum: 1, maximum: replayBounds.commitsMax, default: replayBounds.commitsMax },
          'the newest so many',
        ),
      ),
    },
    output: replaySchema,
    faults: { conflict: 'As many replays of the tenant are running as may run at once.' },
    examples: [
      {
        input: {
          definition_cel: 'principal.role(principal, "sales-writer")',
          kind: 'write_acl',
          namespace: ['sales'],
        },
      },
    ],
    run: async (
      { parts, tenant, actor },
      {
        definition_cel: definitionCel,
        kind,
        name = 'draft',
        message = '',
        replaces,
        commits = replayBounds.commitsMax,
        table,
        namespace,
        tag: bound,
        from,
        to,
      },
    ) => {
      const between = { from: from?.toISOString(), to: to?.toISOString(), commits }
      const by = await actor()
      let request: Replay['request']
      if (definitionCel === undefined) {
        if ([kind, namespace, bound, replaces].some((one) => one !== undefined))
          throw new Fault(
            'bad_request',
            'Without `definition_cel` only `table` and times choose what is compared.',
          )
        if (table !== undefined) checkScope(table)
        request = { ...between, table }
      } else {
        if (kind === undefined) throw new Fault('bad_request', '`kind` of the draft is missing.')
        const scope = askedScope({ table, namespace, tag: bound })
        checkScope(scope)
        await checkText(definitionCel)
        const draft: ReplayDraft = { definitionCel, kind, name, message, scope, replaces }
        request = { ...between, draft }
      }
      const replay = await startReplay(parts.store, tenant, request, by)
      parts.wakeReplays?.()
      return replayView(replay)
    },
  }),
  pair({
    name: 'list_policy_replays',
    tag,
    summary: `The replays of the tenant, newest first; the newest ${replayBounds.kept} are kept`,
    method: 'GET',
    path: '/policy-replays',
    access: reading,
    gives: { visible: ['counts'], overseen: ['existence'] },
    input: pageInput,
    output: pageOf(replaySchema),
    run: async (context, page) => {
      const { parts, tenant } = context
      const found = await listReplays(parts.store, tenant, pageRequest(page))
      return pageView(
        { ...found, items: await seenBy(parts, tenant, found.items, await readerOf(context)) },
        replayView,
      )
    },
  }),
  pair({
    name: 'get_policy_replay',
    tag,
    summary: 'A replay: how far it has come, and how many changes had which outcome',
    method: 'GET',
    path: '/policy-replays/{id}',
    access: reading,
    gives: { visible: ['counts'], overseen: ['existence'] },
    input: { id },
    output: replaySchema,
    faults: unknown,
    run: async (context, { id }) => {
      const { parts, tenant } = context
      return await viewFor(parts, tenant, await existing(parts, tenant, id), await readerOf(context))
    },
  }),
  pair({
    name: 'cancel_policy_replay',
    tag,
    summary: 'Ends a replay; what it has found stays. Nothing where it has ended',
    method: 'POST',
    path: '/policy-replays/{id}/cancel',
    access: starting,
    gives: { nothing: 'own input' },
    input: { id },
    output: replaySchema,
    faults: unknown,
    run: async (context, { id }) => {
      const { parts, tenant } = context
      const by = await context.actor()
      const ended = await endReplay(parts.store, tenant, id, 'cancelled', { by })
      if (ended === undefined) throw new Fault('not_found', unknown.not_found)
      return await viewFor(parts, tenant, ended, await readerOf(context))
    },
  }),
  pair({
    name: 'list_policy_replay_findings',
    tag,
    summary: 'The changes that a replay decides otherwise, refuses again, or could not replay, newest first',
    method: 'GET',
    path: '/policy-replays/{id}/findings',
    access: reading,
    gives: givesWritten,
    input: { id, outcome: maybe(oneOf(replayFindings)), ...pageInput },
    output: pageOf(
      object({
        commit_id: described(uuid, 'of the decision'),
        action: text,
        table: changedTable,
        committer: described(text, 'subject'),
        decision: described(oneOf(decisions), 'of then'),
        created_at: time,
        outcome: oneOf(replayFindings),
        reason: text,
        explanation: maybe(described(text, 'the failing part of the draft with its values')),
      }),
    ),
    faults: unknown,
    run: async (context, { id, outcome, ...page }) => {
      const { parts, tenant } = context
      const without = await hiddenIn(parts, tenant, id, await readerOf(context))
      const found = await listFindings(parts.store, tenant, id, { outcome, without, ...pageRequest(page) })
      return pageView(found, ({ commitId, createdAt, ...same }) => ({
        ...same,
        commit_id: commitId,
        created_at: createdAt,
      }))
    },
  }),
  pair({
    name: 'sum_policy_replay',
    tag,
    summary: 'What a replay has found by outcome, writer, table and reason, the most frequent first',
    method: 'GET',
    path: '/policy-replays/{id}/summary',
    access: reading,
    gives: givesWritten,
    input: { id, ...pageInput },
    output: pageOf(
      object({
        outcome: oneOf(replayFindings),
        table: changedTable,
        committer: text,
        reason: text,
        commits: wholeNumber,
        last_at: described(time, 'of the newest of them'),
      }),
    ),
    faults: unknown,
    run: async (context, { id, ...page }) => {
      const { parts, tenant } = context
      const without = await hiddenIn(parts, tenant, id, await readerOf(context))
      const found = await groupFindings(parts.store, tenant, id, { without, ...pageRequest(page) })
      return pageView(found, ({ lastAt, ...same }) => ({ ...same, last_at: lastAt }))
    },
  }),
].flat()
