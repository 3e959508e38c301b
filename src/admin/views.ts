/** What the command line prints of catalogs, policies and decisions, in the names of the specification. */

import type { Policy } from '../core/policy.ts'
import type { ListedCatalogCredential } from '../store/catalog-credential/catalog-credentials.ts'
import type { AuditEntry, AuditRecord } from '../store/commit/audit.ts'

/** A catalog credential (docs/reference/catalogs.md 1.1). */
export function catalogView({ id, version, nickname, kind, endpoint, config }: ListedCatalogCredential) {
  return { id, version, nickname, catalog_kind: kind, endpoint, config_json: config }
}

/** A policy, as it stands or as it stood. */
export function policyView<P extends Pick<Policy, 'definitionCel'>>({ definitionCel, ...policy }: P) {
  return { ...policy, definition_cel: definitionCel }
}

/** One decision (docs/reference/gateway.md 7.1). */
export function decisionView(entry: AuditEntry) {
  return {
    commit_id: entry.commitId,
    action: entry.action,
    committer: entry.committer,
    decision: entry.decision,
    reason: entry.reason,
    created_at: entry.createdAt,
    tenant_id: entry.tenant,
    principal_source: entry.principalSource,
    table: entry.table,
    base_metadata_location: entry.baseMetadataLocation,
    metadata_location: entry.metadataLocation,
    request_id: entry.requestId,
  }
}

/** One decision with everything that is kept of it but the body. */
export function decisionRecordView(record: AuditRecord) {
  return {
    ...decisionView(record),
    principal: record.principal,
    credential_id: record.credentialId,
    body_sha256: record.bodySha256,
    policies: record.policies.map(policyView),
    outcomes: record.outcomes.map(({ policyId, ...outcome }) => ({ policy_id: policyId, ...outcome })),
    received_at_ms: record.receivedAtMs,
  }
}
