/** Policies of commits, decisions, and totals of usage. */

import { auditEntry } from '../../../core/audit-entry.ts'
import type { Builder } from '../builder.ts'
import { nodeIdOf } from '../node-id.ts'
import { recordFields } from '../record-fields.ts'
import type { Refs } from './refs.ts'

/** The members of a decision that are answered as the audit log keeps them. */
const shownOfDecision = [
  'commitId',
  'action',
  'committer',
  'reason',
  'createdAt',
  'requestId',
  'metadataLocation',
  'client',
  'applicationId',
  'branch',
] as const

/** Adds the types. */
export function addOversight(_: Builder, refs: Refs): void {
  refs.policy.ref.implement({
    description: 'A CEL expression that decides about commits.',
    interfaces: [refs.node],
    fields: (t) => ({
      id: t.field({ type: 'ID', resolve: ({ id }) => nodeIdOf('Policy', id) }),
      policyId: t.exposeString('id'),
      kind: t.exposeString('kind'),
      mode: t.exposeString('mode'),
      name: t.exposeString('name'),
      message: t.exposeString('message'),
      definitionCel: t.exposeString('definitionCel'),
    }),
  })
  refs.outcome.implement({
    description: 'What a policy said of a change.',
    fields: (t) => ({
      policyId: t.exposeString('policyId', { nullable: true }),
      name: t.exposeString('name'),
      mode: t.exposeString('mode'),
      value: t.exposeBoolean('value', { nullable: true }),
      error: t.exposeString('error', { nullable: true }),
      explanation: t.exposeString('explanation', {
        nullable: true,
        description:
          'The failing part with its values. For stewards, and for who may read all values of the table.',
      }),
    }),
  })
  refs.decision.implement({
    description: 'Why a change was approved or rejected.',
    fields: (t) => ({
      policies: t.stringList({
        description: 'Ids of those in force.',
        resolve: ({ policies }) => policies.map(({ id }) => id),
      }),
      outcomes: t.field({ type: [refs.outcome], resolve: ({ outcomes }) => [...outcomes] }),
    }),
  })
  refs.writeEvent.ref.implement({
    description: 'A decision on a change, as the audit log keeps it.',
    interfaces: [refs.node],
    fields: (t) => ({
      id: t.field({ type: 'ID', resolve: ({ commitId }) => nodeIdOf('WriteEvent', commitId) }),
      ...recordFields(t, auditEntry, shownOfDecision),
      decision: t.field({ type: refs.decisionKind, resolve: ({ decision }) => decision }),
      namespace: t.stringList({ resolve: ({ table }) => [...table.namespace] }),
      tableName: t.string({ resolve: ({ table }) => table.name }),
      table: t.field({
        type: refs.table.ref,
        nullable: true,
        description: 'Where you may read it.',
        resolve: async ({ table }, __, { loaders }) => (await loaders.table(table)) ?? null,
      }),
      explanation: t.field({
        type: refs.decision,
        nullable: true,
        resolve: async ({ explanation, table }, __, { loaders }) => {
          if (explanation === undefined) return null
          if ((await loaders.sight(table)).isWhole) return explanation
          const outcomes = explanation.outcomes.map(({ explanation: _values, ...outcome }) => outcome)
          return { ...explanation, outcomes }
        },
      }),
    }),
  })
  refs.usageTotal.ref.implement({
    description: 'Totals of queries. 64-bit numbers are texts.',
    fields: (t) => ({
      key: t.exposeString('key'),
      queries: t.string({ resolve: ({ queries }) => String(queries) }),
      rowsOut: t.string({ resolve: ({ rows_out: rows }) => String(rows) }),
      bytesOut: t.string({ resolve: ({ bytes_out: bytes }) => String(bytes) }),
      bytesScanned: t.string({
        nullable: true,
        description: 'For stewards and administrators.',
        resolve: ({ bytes_scanned: bytes }) => (bytes === undefined ? null : String(bytes)),
      }),
      runMs: t.float({ resolve: ({ run_ms: ms }) => ms }),
    }),
  })
}
