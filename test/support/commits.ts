/** Builds commits as the gateway would pass them to the store. */

import type { CommitIntent, CommittedTable, UnjudgedChange, VerdictRecord } from '../../src/core/commit.ts'
import type { TableRef } from '../../src/core/table-ref.ts'

const ordersTable: TableRef = { namespace: ['sales', 'eu'], name: 'orders' }

export function intentOf(change: Partial<CommitIntent> = {}): CommitIntent {
  return {
    commitId: crypto.randomUUID(),
    table: ordersTable,
    credentialId: '00000000-0000-4000-8000-000000000001',
    principal: { sub: 'writer', email: 'writer@example.com', roles: ['etl'] },
    principalSource: 'auth_header',
    bodySha256: 'ab'.repeat(32),
    body: Bun.zstdCompressSync('{"requirements":[],"updates":[]}'),
    baseMetadataLocation: '',
    snapshotIds: [],
    receivedAtMs: 1_700_000_000_000,
    ...change,
  }
}

export function committedOf(change: Partial<CommittedTable> = {}): CommittedTable {
  return {
    metadataLocation: `s3://lake/orders/${crypto.randomUUID()}.metadata.json`,
    tableUuid: '5f0c2f4e-0000-4000-8000-000000000000',
    snapshot: {
      snapshotId: 9_007_199_254_740_993n,
      parentSnapshotId: undefined,
      sequenceNumber: 1n,
      timestampMs: 1_700_000_000_000n,
      operation: 'append',
      manifestList: 's3://lake/orders/snap-1.avro',
    },
    schemaId: 0n,
    columns: [
      { fieldId: 1n, name: 'id', type: 'long', required: true },
      { fieldId: 2n, name: 'email', type: 'string', required: false },
    ],
    ...change,
  }
}

export function approvedOf(intent: CommitIntent, committed: CommittedTable = committedOf()): VerdictRecord {
  return { intent, decision: 'APPROVED', reason: '', policies: [], outcomes: [], committed }
}

export function rejectedOf(intent: CommitIntent, reason = 'No email: drop the column.'): VerdictRecord {
  return { intent, decision: 'REJECTED', reason, policies: [], outcomes: [] }
}

export function unjudgedOf(intent: CommitIntent): UnjudgedChange {
  return {
    intent,
    error: 'ErrPolicyEval',
    policy: { id: 'broken', name: 'has an owner' },
    explanation: 'table.properties.owner fails: no such key',
  }
}
