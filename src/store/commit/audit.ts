/** Reads the audit log (docs/reference/gateway.md 7.1). Only `verdicts.ts` writes it, and nothing changes it. */

import { type AuditEntry, auditEntry } from '../../core/audit-entry.ts'
import type { AppliedPolicy, ChangeOrigin, CommitIntent } from '../../core/commit.ts'
import type { PolicyOutcome } from '../../core/decision.ts'
import type { Principal } from '../../core/principal.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { nodeId } from '../database/names.ts'
import { isUuid } from '../database/page.ts'
import { rowsOf } from '../database/rows.ts'
import type { Store } from '../store.ts'

/** An entry with everything that a replay needs. */
export interface AuditRecord extends AuditEntry {
  readonly principal: Principal
  readonly credentialId: string
  readonly bodySha256: string
  /** The request body, compressed by zstd. */
  readonly body: Uint8Array
  readonly policies: readonly AppliedPolicy[]
  readonly outcomes: readonly PolicyOutcome[]
  readonly receivedAtMs: number
}

interface RecordRow {
  readonly principal: Principal
  readonly credential_id: string
  readonly body_sha256: string
  readonly body: Uint8Array
  readonly policies: readonly AppliedPolicy[]
  readonly outcomes: readonly PolicyOutcome[]
  readonly received_at_ms: number
}

const entry = rowsOf(auditEntry)
/** The columns of an entry, and its place in the log. */
export const entryColumns = `audit_seq, ${entry.columns}`
/** The entry of a row that was selected by {@link entryColumns}. */
export const toEntry = entry.read

/** The columns that say through what a change came. */
export interface OriginRow {
  readonly session_id: string | null
  readonly session_name: string | null
  readonly client: string | null
  readonly application_id: string | null
  readonly branch: string | null
}

/** Through what the change of a row came. */
export function originOf(row: OriginRow): ChangeOrigin {
  const { session_id: id, session_name: name, client, application_id: applicationId, branch } = row
  return {
    ...(id !== null && { session: { id, name: name ?? '' } }),
    ...(client !== null && { client }),
    ...(applicationId !== null && { applicationId }),
    ...(branch !== null && { branch }),
  }
}

/** SQL for the policies of an audit row: most rows name their set by its hash. */
export function policiesOf(row: string): string {
  return `coalesce(${row}.policies, (select s.policies from svc.policy_set s
    where s.tenant_id = ${row}.tenant_id and s.sha256 = ${row}.policy_set))`
}

/** One decision with everything that its replay needs, or undefined. */
export async function findAudit(
  store: Store,
  tenant: TenantId,
  commitId: string,
): Promise<AuditRecord | undefined> {
  if (!isUuid(commitId)) return undefined
  const [row] = await store.tenantQuery<RecordRow>(
    tenant,
    `select ${entryColumns}, principal, credential_id, body_sha256, body, ${policiesOf('a')} as policies, outcomes,
       round(extract(epoch from received_at) * 1000)::float8 as received_at_ms
     from svc.audit_log a where tenant_id = $1 and commit_id = $2`,
    [tenant, commitId],
  )
  return (
    row && {
      ...toEntry(row),
      principal: row.principal,
      credentialId: row.credential_id,
      bodySha256: row.body_sha256,
      body: row.body,
      policies: row.policies,
      outcomes: row.outcomes,
      receivedAtMs: row.received_at_ms,
    }
  )
}

/** The subset of these metadata locations that APPROVED rows of the table name. */
export async function auditedLocations(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  locations: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await store.tenantQuery<{ metadata_location: string }>(
    tenant,
    `select metadata_location from svc.audit_log
     where tenant_id = $1 and table_id = $2 and decision = 'APPROVED'
       and metadata_location in (select jsonb_array_elements_text($3::text::jsonb))`,
    [tenant, nodeId(tableKey(table)), JSON.stringify(locations)],
  )
  return new Set(rows.map((row) => row.metadata_location))
}

/**
 * Those of these metadata locations that APPROVED commits wrote, each with the hash of that commit's body. A commit that
 * changed nothing names the file that it found, which it did not write.
 */
export async function auditedBodies(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  locations: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await store.tenantQuery<{ readonly metadata_location: string; readonly body_sha256: string }>(
    tenant,
    `select metadata_location, body_sha256 from svc.audit_log
     where tenant_id = $1 and table_id = $2 and decision = 'APPROVED'
       and metadata_location in (select jsonb_array_elements_text($3::text::jsonb))
       and metadata_location <> base_metadata_location`,
    [tenant, nodeId(tableKey(table)), JSON.stringify(locations)],
  )
  return new Map(rows.map((row) => [row.metadata_location, row.body_sha256]))
}

/**
 * The requests of APPROVED commits that wrote these files, compressed by zstd; undefined for a longer one.
 * @param bytesMax compressed bytes of one
 */
export async function auditedRequests(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  locations: readonly string[],
  bytesMax: number,
): Promise<readonly (Uint8Array | undefined)[]> {
  const rows = await store.tenantQuery<{ readonly body: Uint8Array | null }>(
    tenant,
    `select case when octet_length(body) <= $4::int then body end as body from svc.audit_log
     where tenant_id = $1 and table_id = $2 and decision = 'APPROVED'
       and metadata_location in (select jsonb_array_elements_text($3::text::jsonb))`,
    [tenant, nodeId(tableKey(table)), JSON.stringify(locations), bytesMax],
  )
  return rows.map((row) => row.body ?? undefined)
}

/** Rows that one look at the chain of a table reads at most. */
const chainRowsMax = 200_000

/**
 * The audited metadata files of a table that lead to `location`, oldest first, as far back as the audit shows which file
 * each replaced. It reads rows since a time of the database's clock.
 */
export async function auditedChain(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  location: string,
  since: Date,
): Promise<readonly string[]> {
  const rows = await store.tenantQuery<{ readonly made: string; readonly previous: string }>(
    tenant,
    `select metadata_location as made, previous_metadata_location as previous from svc.audit_log
     where tenant_id = $1 and decision = 'APPROVED' and created_at >= $3::text::timestamptz
       and table_id = $2 and previous_metadata_location is not null limit $4::int`,
    [tenant, nodeId(tableKey(table)), since.toISOString(), chainRowsMax],
  )
  const replaced = new Map(rows.map(({ made, previous }) => [made, previous]))
  const chain: string[] = []
  // Each row is passed once, so a loop in what the catalog said ends.
  for (let at = replaced.get(location); at !== undefined; at = replaced.get(at)) {
    if (chain.length > replaced.size) return []
    chain.unshift(at)
  }
  return chain
}

/** Whether an APPROVED row has this request's body and the metadata location as its result. */
export async function isAudited(
  store: Store,
  tenant: TenantId,
  { table, bodySha256 }: Pick<CommitIntent, 'table' | 'bodySha256'>,
  metadataLocation: string,
): Promise<boolean> {
  const rows = await store.tenantQuery(
    tenant,
    `select 1 from svc.audit_log
     where tenant_id = $1 and table_id = $2 and decision = 'APPROVED' and metadata_location = $3 and body_sha256 = $4
     limit 1`,
    [tenant, nodeId(tableKey(table)), metadataLocation, bodySha256],
  )
  return rows.length > 0
}

/** Whether an APPROVED row since a time of the database's clock was made on this metadata location: judged on it, or applied to it. */
export async function wasChangedFrom(
  store: Store,
  tenant: TenantId,
  name: TableRef,
  metadataLocation: string,
  since: Date,
): Promise<boolean> {
  const rows = await store.tenantQuery(
    tenant,
    `select 1 from svc.audit_log
     where tenant_id = $1 and table_id = $2 and decision = 'APPROVED' and $3 in (base_metadata_location, previous_metadata_location)
       and created_at >= $4::text::timestamptz limit 1`,
    [tenant, nodeId(tableKey(name)), metadataLocation, since.toISOString()],
  )
  return rows.length > 0
}

/**
 * What the store knows of a transaction that was forwarded as one, of which at least one intent is open.
 * @returns `made` if a commit of it is audited; `not-made` if one was closed without an audit, or never opened
 */
export async function transactionFate(
  store: Store,
  tenant: TenantId,
  commitIds: readonly string[],
): Promise<'made' | 'not-made' | 'open'> {
  const [row] = await store.tenantQuery<{ readonly approved: number; readonly open: number }>(
    tenant,
    `with ids as (select value::uuid as commit_id from jsonb_array_elements_text($2::text::jsonb))
     select
       (select count(*)::int from svc.audit_log
        where tenant_id = $1 and commit_id in (select commit_id from ids) and decision = 'APPROVED') as approved,
       (select count(*)::int from svc.commit_intent
        where tenant_id = $1 and commit_id in (select commit_id from ids)) as open`,
    [tenant, JSON.stringify(commitIds)],
  )
  if (row === undefined) throw new Error('a count gave no row')
  if (row.approved > 0) return 'made'
  return row.open < commitIds.length ? 'not-made' : 'open'
}

/** Counts of accepted changes of a name. */
export interface AuditedChanges {
  /** Creations of a table, view or namespace. */
  readonly created: number
  /** Drops, unregistrations and renames. */
  readonly removed: number
  /** Changes with the given action, and those of them with the given body. */
  readonly alike: number
  readonly same: number
}

/** Counts the audited changes of a name since a time of the database's clock. */
export async function auditedChanges(
  store: Store,
  tenant: TenantId,
  { table, action = 'update-table', bodySha256 }: Pick<CommitIntent, 'table' | 'action' | 'bodySha256'>,
  since: Date,
): Promise<AuditedChanges> {
  const [row] = await store.tenantQuery<AuditedChanges>(
    tenant,
    `select count(*) filter (where action ~ '^(create|register)-|^update-table$' and base_metadata_location = '')::int as created,
       count(*) filter (where action ~ '^(drop|unregister|rename)-')::int as removed,
       count(*) filter (where action = $4)::int as alike,
       count(*) filter (where action = $4 and body_sha256 = $5)::int as same
     from svc.audit_log
     where tenant_id = $1 and table_id = $2 and decision = 'APPROVED' and created_at >= $3::text::timestamptz`,
    [tenant, nodeId(tableKey(table)), since.toISOString(), action, bodySha256],
  )
  if (row === undefined) throw new Error('a count gave no row')
  return row
}
