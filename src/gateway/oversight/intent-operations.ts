/** Declares the operations on intents: open intents, and their settlement where recovery cannot decide them. */

import { Type } from '@sinclair/typebox'
import { readerOf, tenantOperationsOf } from '../../auth/administration/tenant-operations.ts'
import { Fault } from '../../base/fault.ts'
import { pageView, tablePageRequest } from '../../http/page-view.ts'
import {
  described,
  filteredTable,
  flag,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  pageInput,
  pageOf,
  tableFilter,
  text,
  time,
  uuid,
} from '../../http/schemas.ts'
import { limits } from '../../limits.ts'
import {
  findIntent,
  intentStates,
  listIntents,
  settleIntent,
  settlementOutcomes,
} from '../../store/commit/intent-settlements.ts'
import { settleProven } from '../../store/commit/settle-proven.ts'
import { forWhom, givesWritten, showsWritten } from '../../store/governance/written-values.ts'
import type { Store } from '../../store/store.ts'
import { intentDetailView, intentView, settledView } from './intent-views.ts'

const pair = tenantOperationsOf<{ readonly store: Store }>()
const reading = { scope: 'read', roles: ['steward', 'administrator', 'owner'] } as const
const settling = { scope: 'admin', roles: ['steward', 'administrator'] } as const
const unknown = { not_found: 'The tenant has no such open intent.' }

const members = {
  commit_id: uuid,
  state: described(
    oneOf(intentStates),
    '`in-progress`: a process still owns it, or the upstream may still work on it',
  ),
  opened_at: time,
  action: text,
  table: described(
    object({ namespace: list(text), name: text }),
    '`name` is empty for a change of a namespace',
  ),
  principal: described(text, 'subject'),
  principal_source: text,
  request_id: maybe(text),
  base_metadata_location: described(text, 'the file that the change was judged on; empty for none'),
  proposed: maybe(
    described(
      object({ metadata_location: text, evidence: text, proven: flag }),
      'the one file that the change may have written, as recovery found it, what speaks for it, and whether it can be no other change’s',
    ),
  ),
}

export const intentOperations = [
  pair({
    name: 'list_intents',
    tag: 'policies',
    summary: 'Open intents: changes whose outcome is not on record yet',
    method: 'GET',
    path: '/intents',
    access: reading,
    gives: { overseen: ['existence'] },
    input: { ...tableFilter, ...pageInput },
    output: pageOf(object(members)),
    run: async ({ parts, tenant }, page) =>
      pageView(await listIntents(parts.store, tenant, tablePageRequest(page)), intentView),
  }),
  pair({
    name: 'show_intent',
    tag: 'policies',
    summary: 'An open intent with its request',
    method: 'GET',
    path: '/intents/{commit_id}',
    access: reading,
    gives: givesWritten,
    input: { commit_id: uuid },
    output: object({
      ...members,
      catalog: maybe(text),
      credential_id: uuid,
      snapshot_ids: described(list(text), 'that the change would add'),
      received_at: time,
      transaction: maybe(described(list(uuid), 'commit ids of an atomic transaction')),
      body_sha256: text,
      request: maybe(described(text, `the body as judged, ${forWhom}; absent if it is longer than 256 KiB`)),
    }),
    faults: unknown,
    run: async (context, { commit_id: commitId }) => {
      const { store } = context.parts
      const found = await findIntent(store, context.tenant, commitId)
      if (found === undefined) throw new Fault('not_found', unknown.not_found)
      const { table } = found.intent
      const shown = await showsWritten(store, context.tenant, await readerOf(context), [table])
      return intentDetailView(found, shown(table))
    },
  }),
  pair({
    name: 'settle_intent',
    tag: 'policies',
    summary: 'Ends an intent that recovery could not decide, by a person’s decision',
    description:
      '`made` writes the `APPROVED` audit row, and needs the metadata location for a commit, a creation or a registration. `not-made` closes the intent without one. Both are in the administration log.',
    method: 'POST',
    path: '/intents/{commit_id}/settle',
    access: settling,
    gives: { nothing: 'own input' },
    input: {
      commit_id: uuid,
      outcome: oneOf(settlementOutcomes),
      metadata_location: maybe(nonEmpty),
      reason: Type.String({ minLength: 1, maxLength: limits.decisionReasonCharsMax }),
    },
    faults: {
      ...unknown,
      conflict: 'A process still owns the intent.',
      unprocessable: 'The metadata location is missing, or the change has none.',
    },
    examples: [
      {
        input: {
          commit_id: '8a6e0804-2bd0-4672-b79d-d97027f9071a',
          outcome: 'made',
          metadata_location: 's3://lake/orders/metadata/00007-5f0c.metadata.json',
          reason: 'The table’s history shows the file, written by this principal.',
        },
      },
    ],
    run: async (
      { parts, tenant, actor },
      { commit_id: commitId, metadata_location: metadataLocation, ...rest },
    ) => await settleIntent(parts.store, tenant, commitId, { ...rest, metadataLocation }, await actor()),
  }),
  pair({
    name: 'settle_proven_intents',
    tag: 'policies',
    summary: 'Settles all intents whose file recovery has found, once a person has looked at them',
    description:
      'Settles as `made` each stale intent that `GET …/intents` lists with a `proposed` file that is `proven`, unless an audit row or another proposal has the same file. Each gets its `APPROVED` audit row and its own line in the administration log.',
    method: 'POST',
    path: '/intents/settle-proven',
    access: settling,
    gives: { overseen: ['existence'] },
    input: {
      ...tableFilter,
      reason: Type.String({ minLength: 1, maxLength: limits.decisionReasonCharsMax / 2 }),
    },
    output: object({
      settled: list(
        object({
          commit_id: uuid,
          table: object({ namespace: list(text), name: text }),
          metadata_location: text,
          evidence: text,
        }),
      ),
    }),
    examples: [{ input: { reason: 'Each proposed file holds the change of its commit.' } }],
    run: async ({ parts, tenant, actor }, { reason, ...filter }) => {
      const about = { table: filteredTable(filter), reason }
      const settled = await settleProven(parts.store, tenant, about, await actor())
      return { settled: settled.map(settledView) }
    },
  }),
].flat()
