/** Records a commit's decision, graph and end of the intent in one transaction (docs/reference/gateway.md 7.2). */

import { Fault } from '../../base/fault.ts'
import {
  type ChangeOrigin,
  type CommitIntent,
  type CommittedTable,
  type VerdictRecord,
  writesMetadata,
} from '../../core/commit.ts'
import { type Decision, type PolicyOutcome, shadowDenials } from '../../core/decision.ts'
import { tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { nodeId, storableJson } from '../database/names.ts'
import type { Param, Tx } from '../database/session.ts'
import { describeTable } from '../governance/described-table.ts'
import type { Store } from '../store.ts'

export interface RecordedVerdict {
  /** False where this verdict was recorded before. */
  readonly recorded: boolean
  /** Whether the snapshot's details are in the graph; never for REJECTED. A failed ingest undoes nothing else. */
  readonly ingested: boolean
  readonly ingestError?: string
}

interface Row {
  readonly recorded: boolean
  readonly ingested: boolean
  readonly ingest_error: string | null
}

/**
 * Records a verdict durably and closes its intent. Recording the same commit again changes nothing.
 * @throws Fault `conflict` where the commit already has another verdict. After any other fault retry: the verdict was
 * not recorded, or after a lost connection that is unknown
 */
export async function recordVerdict(
  store: Store,
  tenant: TenantId,
  record: VerdictRecord,
): Promise<RecordedVerdict> {
  assertWhole(record)
  const params = recordParams(tenant, record)
  const [row] = await store.tenantCall<Row>(tenant, 'record_verdict', params)
  return recordedOf(row)
}

function recordedOf(row: Row | undefined): RecordedVerdict {
  if (row === undefined)
    throw new Fault('internal', 'Internal error.', { detail: 'record_verdict gave no row' })
  const { recorded, ingested, ingest_error } = row
  return ingest_error === null ? { recorded, ingested } : { recorded, ingested, ingestError: ingest_error }
}

/** The same inside a transaction of the tenant. */
export async function recordVerdictIn(
  tx: Tx,
  tenant: TenantId,
  record: VerdictRecord,
): Promise<RecordedVerdict> {
  assertWhole(record)
  const params = [tenant, ...recordParams(tenant, record)]
  const [row] = await tx.query<Row>('select * from svc.record_verdict($1, $2, $3, $4, $5, $6, $7)', params)
  return recordedOf(row)
}

function assertWhole({ decision, intent, committed }: VerdictRecord): void {
  const writes = decision === 'APPROVED' && writesMetadata(intent.action ?? 'update-table')
  if (writes === (committed !== undefined)) return
  throw new Fault('internal', 'Internal error.', {
    detail: 'APPROVED metadata needs what was committed, all else has none',
  })
}

/** The parameters of svc.record_verdict after the tenant. The function reads the keys of the first. */
function recordParams(tenant: TenantId, record: VerdictRecord): readonly Param[] {
  const { intent, decision, reason, policies, outcomes, committed, renamedTo } = record
  const { table, principal, commitId } = intent
  const tableId = nodeId(tableKey(table))
  const verdict = {
    commit_id: commitId,
    action: intent.action ?? 'update-table',
    committer: principal.sub,
    decision,
    reason,
    principal_source: intent.principalSource,
    principal,
    principal_id: nodeId(principal.sub),
    table_id: tableId,
    namespace: table.namespace,
    table_name: table.name,
    credential_id: intent.credentialId,
    body_sha256: intent.bodySha256,
    base_metadata_location: intent.baseMetadataLocation,
    base_held: baseHeld(intent),
    received_at_ms: intent.receivedAtMs,
    request_id: intent.requestId,
    ...originColumns(intent.origin),
    policies,
    outcomes,
    ...shadowDenialsKey(decision, outcomes),
    catalog: intent.catalog,
    ...(intent.storageUnread && { storage_unread: true }),
    ...(intent.snapshotIds.length > 0 && { snapshot_ids: intent.snapshotIds.map(String) }),
    ...(renamedTo && {
      renamed_to: {
        table_id: nodeId(tableKey(renamedTo)),
        namespace: renamedTo.namespace,
        name: renamedTo.name,
      },
    }),
    ...(committed !== undefined && {
      metadata_location: committed.metadataLocation,
      ...('previousLocation' in committed && { previous_metadata_location: committed.previousLocation }),
      snapshot_id: nodeId(committed.metadataLocation),
      base_snapshot_id: nodeId(intent.baseMetadataLocation),
      ...('snapshot' in committed && snapshotKeys(tableId, committed.snapshot)),
    }),
  }
  const event = storableJson({
    id: commitId,
    tenant_id: tenant,
    commit_id: commitId,
    committer: principal.sub,
    decision,
    reason,
  })
  if (committed === undefined || !('columns' in committed))
    return [storableJson(verdict), event, null, null, null, intent.body]
  const { described, digest } = describeTable(table, committed)
  const snapshot = snapshotJson(tenant, tableId, commitId, committed)
  return [storableJson(verdict), event, snapshot, described, digest, intent.body]
}

/** What an event tells of an accepted change that policies of mode `shadow` would have refused; nothing for all others. */
function shadowDenialsKey(decision: Decision, outcomes: readonly PolicyOutcome[]) {
  const denials = decision === 'APPROVED' ? shadowDenials(outcomes) : []
  if (denials.length === 0) return {}
  return {
    shadow_denials: denials.map(({ policyId: id, name, enforceFromMs }) => ({
      ...{ id, name },
      ...(enforceFromMs !== undefined && { enforced_from: new Date(enforceFromMs) }),
    })),
  }
}

/** The columns of an audit row that say through what a change came. */
function originColumns({ session, client, applicationId, branch }: ChangeOrigin = {}) {
  return {
    session_id: session?.id,
    session_name: session?.name,
    client,
    application_id: applicationId,
    branch,
  }
}

/** How a commit's table was held; undefined for a change that judges no table which was there. */
function baseHeld({ action = 'update-table', baseMetadataLocation, baseHeld: held }: CommitIntent) {
  return action === 'update-table' && baseMetadataLocation !== '' ? (held ?? 'loaded') : undefined
}

type CommittedSnapshot = CommittedTable['snapshot']

const snapshotKey = (tableId: string, snapshotId: bigint) => `${tableId}\u001f${snapshotId}`

/** The keys of a snapshot and its parent in the graph. */
function snapshotKeys(tableId: string, snapshot: CommittedSnapshot) {
  if (snapshot === undefined) return {}
  const { snapshotId, parentSnapshotId } = snapshot
  return {
    snapshot_key: snapshotKey(tableId, snapshotId),
    ...(parentSnapshotId !== undefined && { parent_key: snapshotKey(tableId, parentSnapshotId) }),
  }
}

function snapshotJson(
  tenant: TenantId,
  tableId: string,
  commitId: string,
  committed: CommittedTable,
): string {
  const { metadataLocation, snapshot } = committed
  return storableJson({
    id: nodeId(metadataLocation),
    tenant_id: tenant,
    metadata_location: metadataLocation,
    table_id: tableId,
    commit_id: commitId,
    ...(snapshot !== undefined && {
      snapshot_key: snapshotKey(tableId, snapshot.snapshotId),
      snapshot_id: String(snapshot.snapshotId),
      parent_snapshot_id: snapshot.parentSnapshotId?.toString(),
      sequence_number: snapshot.sequenceNumber?.toString(),
      timestamp_ms: String(snapshot.timestampMs),
      operation: snapshot.operation,
      manifest_list: snapshot.manifestList,
    }),
  })
}
