/** Policies ready to be copied: one for each question that SPEC 2.4's three kinds answer most often. */

import type { PolicyKind } from '../core/policy.ts'

export interface PolicyExample {
  readonly kind: PolicyKind
  readonly name: string
  /** What a writer who is denied should do. */
  readonly message: string
  readonly definitionCel: string
}

export const policyExamples: readonly PolicyExample[] = [
  {
    kind: 'schema',
    name: 'keep-id-column',
    message: 'The column id must stay in the schema.',
    definitionCel: 'manifest.has_column(commit.result, "id")',
  },
  {
    kind: 'schema',
    name: 'no-ssn-column',
    message: 'Store the tokenized column ssn_token instead of ssn.',
    definitionCel: '!manifest.has_column(commit.result, "ssn")',
  },
  {
    kind: 'schema',
    name: 'keep-day-partition',
    message: 'The table must stay partitioned by event_day.',
    definitionCel: 'manifest.has_partition(commit.result, "event_day")',
  },
  {
    kind: 'write_acl',
    name: 'writers-only',
    message: 'Ask the owner of the table for the role orders-writer.',
    definitionCel: 'principal.role(principal, "orders-writer")',
  },
  {
    kind: 'write_acl',
    name: 'stewards-change-schema',
    message: 'Only a data-steward may change the schema.',
    definitionCel: `principal.role(principal, "data-steward") ||
  !commit.updates.exists(u, u.action in ["add-schema", "set-current-schema"])`,
  },
  {
    kind: 'retention',
    name: 'keep-seven-days',
    message: 'Snapshots are kept for seven days.',
    definitionCel: `// Times are milliseconds since the Unix epoch, as in Iceberg metadata.
commit.updates.filter(u, u.action == "remove-snapshots").all(u,
  table.snapshots.all(s,
    !(s["snapshot-id"] in u["snapshot-ids"]) ||
    commit.received_at - s["timestamp-ms"] >= 7 * 24 * 60 * 60 * 1000))`,
  },
]
