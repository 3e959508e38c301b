import { expect, test } from 'bun:test'
import type { TenantId } from '../../../src/core/tenant.ts'
import { decisionRecordView, decisionView } from '../../../src/gateway/oversight/views.ts'
import type { AuditRecord } from '../../../src/store/commit/audit.ts'

const record: AuditRecord = {
  commitId: 'c1',
  action: 'update-table',
  committer: 'spark',
  decision: 'REJECTED',
  reason: 'no',
  createdAt: new Date(0),
  tenantId: 't1' as TenantId,
  principalSource: 'session',
  table: { namespace: ['sales'], name: 'orders' },
  baseMetadataLocation: 'base',
  baseHeld: 'loaded',
  metadataLocation: undefined,
  session: undefined,
  client: undefined,
  applicationId: undefined,
  branch: undefined,
  requestId: 'r1',
  principal: { sub: 'spark', roles: [] },
  credentialId: 'k1',
  bodySha256: 'aa',
  body: new Uint8Array([1, 2, 3]),
  policies: [{ id: 'p', kind: 'schema', mode: 'enforce', definitionCel: 'false' }],
  outcomes: [{ policyId: 'p', name: 'p', mode: 'enforce', value: false }],
  receivedAtMs: 7,
}

test('a decision is printed in the names of the specification', () => {
  expect(decisionView(record)).toEqual({
    session: undefined,
    client: undefined,
    application_id: undefined,
    branch: undefined,
    commit_id: 'c1',
    action: 'update-table',
    committer: 'spark',
    decision: 'REJECTED',
    reason: 'no',
    created_at: new Date(0),
    tenant_id: 't1' as TenantId,
    principal_source: 'session',
    table: { namespace: ['sales'], name: 'orders' },
    base_metadata_location: 'base',
    base_held: 'loaded',
    metadata_location: undefined,
    request_id: 'r1',
  })
})

test('a decision on record names its policies as they stood and what each gave, without the body', () => {
  const { policies, outcomes, credential_id, body_sha256, received_at_ms, ...rest } = decisionRecordView(
    record,
    true,
  )
  expect(policies).toEqual([{ id: 'p', kind: 'schema', mode: 'enforce', definition_cel: 'false' }])
  expect(outcomes).toEqual([{ policy_id: 'p', name: 'p', mode: 'enforce', value: false }])
  expect([credential_id, body_sha256, received_at_ms]).toEqual(['k1', 'aa', 7])
  expect(rest).toEqual({ ...decisionView(record), principal: record.principal })
})
