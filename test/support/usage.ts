/** Builds usage records of queries that were never run. */

import type { UsageRecord } from '../../src/core/usage.ts'

/** A completed query of sales.orders by `ada`. */
export function usageRecord(change: Partial<UsageRecord> = {}): UsageRecord {
  return {
    queryId: crypto.randomUUID(),
    startedAtMs: Date.UTC(2026, 0, 1),
    principal: 'ada',
    principalSource: 'session',
    surface: 'pgwire',
    catalog: 'main',
    engine: 'duckdb',
    contracts: [{ id: 'orders', version: 1 }],
    reads: [{ namespace: ['sales'], name: 'orders', columns: ['id'], snapshot_id: '1' }],
    policies: [],
    rowsOut: 10,
    bytesOut: 80,
    bytesScanned: 1_000,
    queueMs: 1,
    planMs: 2,
    runMs: 3,
    outcome: 'completed',
    sqlState: undefined,
    fingerprint: '0123456789abcdef',
    ...change,
  }
}
