/**
 * What of each kind of row is proven: which members an entry shows, and of which it holds salted hashes. A member that is
 * added here changes the leaves of rows that come later only; one that is changed or removed would make earlier rows look
 * changed, and needs a new version of its kind's prefix.
 */

import type { LeafKind } from '../../proof/entry.ts'

/** Rows of a kind, as parts of a statement. */
export interface RowSource {
  readonly kind: LeafKind
  /** The rows are called r. */
  readonly from: string
  /** Rises from row to row; drawn before its transaction ends. */
  readonly number: string
  /** The highest number, where it is found in another way than by the numbers. It may be that of a row left out. */
  readonly newest?: string
  /** Limits the rows; it may name $1, the tenant. */
  readonly where: string
  /** By whose salt its words are hashed. */
  readonly person: string
  /** A jsonb object that never changes. */
  readonly open: string
  readonly sealed: string
}

/** A time to the microsecond, as the entry has it. */
const time = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`

const members = (of: Readonly<Record<string, string>>) =>
  `jsonb_build_object(${Object.entries(of)
    .map(([name, expression]) => `'${name}', ${expression}`)
    .join(', ')})`

const ownRows = 'r.tenant_id = $1::uuid'

/** What an event of a pin has, without the words of a person. */
const pinMembers = "(r.properties::text::jsonb - 'by' - 'session_created_by' - 'tenant_id')"

/** Every kind that has a leaf for each row. */
export const rowSources: readonly RowSource[] = [
  {
    ...{ kind: 'sign-off', from: 'svc.contract_sign_off r', number: 'r.sign_off_seq', where: ownRows },
    person: 'r.actor_sub',
    open: members({
      ...{ at: time('r.at'), contract: 'r.contract_id', version: 'r.number', level: 'r.level' },
      document: "encode(r.sha256, 'hex')",
    }),
    sealed: members({ by: 'r.actor', comment: 'r.comment' }),
  },
  {
    ...{ kind: 'attestation', from: 'svc.metric_attestation r', number: 'r.attestation_seq', where: ownRows },
    person: 'r.actor_sub',
    open: members({
      ...{ at: time('r.at'), id: 'r.attestation_id', metric: 'r.metric', version: 'r.number' },
      ...{ definition_sha256: 'r.sha256', conditions: 'r.definition', valid_until: time('r.valid_until') },
    }),
    sealed: members({ by: 'r.actor', reason: 'r.reason', evidence: 'r.evidence' }),
  },
  {
    ...{ kind: 'attestation-end', from: 'svc.metric_attestation_end r', number: 'r.end_seq', where: ownRows },
    person: 'r.actor_sub',
    open: members({ at: time('r.at'), attestation: 'r.attestation_id', cause: 'r.cause' }),
    sealed: members({ by: 'r.actor', reason: 'r.reason' }),
  },
  {
    ...{
      kind: 'pin',
      from: '"PinEvent" r',
      number: '(r.id::text::int8 & 281474976710655)',
      // All ids of a label begin with the same bits.
      newest: `(select x.id::text::int8 & 281474976710655 from "PinEvent" x order by x.id desc limit 1)`,
      // The graph has nodes of its own beside.
      where: "$1::uuid is not null and r.properties::text::jsonb ->> 'kind' in ('pin', 'unpin')",
    },
    person: "r.properties::text::jsonb ->> 'by'",
    open: pinMembers,
    sealed:
      "r.properties::text::jsonb - 'id' - 'tenant_id' - 'seq' - 'kind' - 'snapshot_id' - 'schema_id' - 'catalog' - 'at'",
  },
  {
    ...{ kind: 'grant', from: 'svc.access_grant r', number: 'r.grant_seq', where: ownRows },
    person: "coalesce(r.grantee ->> 'sub', r.granted_by ->> 'sub')",
    open: members({
      ...{ at: time('r.granted_at'), id: 'r.grant_id', request: 'r.request_id', contract: 'r.contract_id' },
      ...{ lifts: 'r.lifts', from: time('r.from_at'), role: "r.grantee ->> 'role'" },
    }),
    sealed: members({
      to: "r.grantee ->> 'sub'",
      by: 'r.granted_by',
      purpose: 'r.purpose',
      ticket: 'r.ticket',
    }),
  },
  {
    ...{
      kind: 'grant-end',
      from: 'svc.access_grant r',
      number: 'r.end_seq',
      where: `${ownRows} and r.end_seq is not null`,
    },
    person: "coalesce(r.grantee ->> 'sub', r.granted_by ->> 'sub')",
    open: members({ at: time('r.ended_at'), id: 'r.grant_id' }),
    sealed: members({ by: 'r.ended_by', reason: 'r.end_reason' }),
  },
  {
    kind: 'month',
    from: 'svc.administration_log r',
    number: 'r.administration_seq',
    where: `${ownRows} and r.action = 'detach-month'`,
    person: 'r.actor_sub',
    open: members({
      ...{ at: time('r.at'), month: "r.subject ->> 'month'", rows: "r.value -> 'rows'" },
      sha256: "svc.month_sha256(r.subject ->> 'month')",
    }),
    sealed: members({ by: 'r.actor' }),
  },
  {
    ...{ kind: 'change', from: 'svc.contract_change r', number: 'r.change_seq', where: ownRows },
    person: 'r.actor_sub',
    open: members({ at: time('r.at'), action: 'r.action', subject: 'r.subject' }),
    // Those of before the actor was recorded have the subject alone.
    sealed: members({ by: 'coalesce(r.actor, to_jsonb(r.actor_sub))', value: 'r.value' }),
  },
  {
    kind: 'administration',
    ...{ from: 'svc.administration_log r', number: 'r.administration_seq', where: ownRows },
    person: 'r.actor_sub',
    open: members({ at: time('r.at'), action: 'r.action', request: 'r.request_id' }),
    sealed: members({ by: 'r.actor', subject: 'r.subject', value: 'r.value' }),
  },
  {
    ...{ kind: 'verdict', from: 'svc.audit_log r', number: 'r.audit_seq', where: ownRows },
    person: 'r.committer',
    open: members({
      ...{ commit: 'r.commit_id', decision: 'r.decision', action: 'r.action', table: 'r.table_id' },
      ...{ at: time('r.created_at'), received_at: time('r.received_at'), body_sha256: 'r.body_sha256' },
      ...{ credential: 'r.credential_id', principal_source: 'r.principal_source', base_held: 'r.base_held' },
      ...{ base_metadata: 'r.base_metadata_location', metadata: 'r.metadata_location' },
      ...{
        previous_metadata: 'r.previous_metadata_location',
        request: 'r.request_id',
        session: 'r.session_id',
      },
      ...{ branch: 'r.branch', policy_set: "encode(r.policy_set, 'hex')" },
    }),
    sealed: members({
      ...{ committer: 'r.committer', principal: 'r.principal', reason: "nullif(r.reason, '')" },
      ...{
        policies: 'r.policies',
        outcomes: 'r.outcomes',
        session_name: 'r.session_name',
        client: 'r.client',
      },
      application: 'r.application_id',
    }),
  },
]

/** Every kind that has a leaf for many rows: the rows of an hour, or fewer where there are very many. */
export const batchSources: readonly RowSource[] = [
  {
    ...{ kind: 'usage-hour', from: 'svc.query_usage r', number: 'r.usage_seq', where: ownRows },
    person: 'r.principal_sub',
    open: members({
      ...{
        query: 'r.query_id',
        started_at: time('r.started_at'),
        surface: 'r.surface',
        outcome: 'r.outcome',
      },
      ...{ contracts: 'r.contracts', reads: 'r.reads', policies: 'r.policies', fingerprint: 'r.fingerprint' },
      ...{ rows: 'r.rows_out', bytes: 'r.bytes_out', given: 'r.given', protection: 'r.protection' },
      session: 'r.session_id',
    }),
    sealed: members({ principal: 'r.principal_sub', tool: 'r.tool', client: 'r.client' }),
  },
  {
    kind: 'detection-hour',
    from: 'svc.detection_run r',
    number: '(extract(epoch from r.finished_at) * 1000000)::int8',
    // A run that ends now is committed within the minute, or is found when it ends.
    newest: '((extract(epoch from clock_timestamp()) - 60) * 1000000)::int8',
    where: `${ownRows} and r.finished_at is not null`,
    person: "''",
    open: members({
      ...{
        run: 'r.run_id',
        snapshot: 'r.snapshot_metadata_location',
        state: 'r.state',
        attempt: 'r.attempt',
      },
      ...{ finished_at: time('r.finished_at'), table: 'r.table_id', report: 'r.report' },
    }),
    sealed: members({ reason: "nullif(r.reason, '')" }),
  },
]
