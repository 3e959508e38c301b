/** The names, labels and initial values of the metrics. */

import { expect, test } from 'bun:test'
import { createMetrics } from '../../src/telemetry/metrics.ts'

const scrape = () => createMetrics().registry.metrics()

test('both rejection reasons are at 0 before the first commit', async () => {
  const lines = (await scrape()).split('\n')
  expect(lines.filter((line) => line.startsWith('commit_rejected_total'))).toEqual([
    'commit_rejected_total{reason="policy_denied"} 0',
    'commit_rejected_total{reason="policy_engine_unavailable"} 0',
  ])
})

test.each([
  ['commit_rejected_total', 'counter'],
  ['svc_gateway_commit_duration_ms', 'histogram'],
  ['svc_gateway_commit_stage_duration_seconds', 'histogram'],
  ['svc_cypher_query_duration_seconds', 'histogram'],
  ['svc_commit_intents', 'gauge'],
  ['svc_audit_failures_total', 'counter'],
  ['svc_snapshot_ingest_failures_total', 'counter'],
  ['svc_reconciliation_breaches_total', 'counter'],
  ['process_resident_memory_bytes', 'gauge'],
])('%s is a %s', async (name, type) => {
  expect((await scrape()).split('\n')).toContain(`# TYPE ${name} ${type}`)
})

test('unlabelled series are at 0 from the start', async () => {
  const text = await scrape()
  for (const name of [
    'svc_commit_intents',
    'svc_audit_failures_total',
    'svc_snapshot_ingest_failures_total',
    'svc_reconciliation_breaches_total',
    'svc_cypher_query_duration_seconds_count',
  ])
    expect(text.split('\n')).toContain(`${name} 0`)
})

test('observations land in their bucket under their label', async () => {
  const metrics = createMetrics()
  metrics.commitDurationMs.observe({ outcome: 'approved' }, 42)
  metrics.commitStageSeconds.observe({ stage: 'forward' }, 0.0002)
  metrics.commitRejected.inc({ reason: 'policy_denied' })
  const lines = (await metrics.registry.metrics()).split('\n')
  expect(lines).toContain('svc_gateway_commit_duration_ms_bucket{le="25",outcome="approved"} 0')
  expect(lines).toContain('svc_gateway_commit_duration_ms_bucket{le="50",outcome="approved"} 1')
  expect(lines).toContain('svc_gateway_commit_stage_duration_seconds_bucket{le="0.00025",stage="forward"} 1')
  expect(lines).toContain('commit_rejected_total{reason="policy_denied"} 1')
})

test('two registries do not share counts', async () => {
  const [first, second] = [createMetrics(), createMetrics()]
  first.auditFailures.inc()
  expect(await second.registry.metrics()).toContain('svc_audit_failures_total 0')
})

test('the content type is the text format of Prometheus', () => {
  expect(createMetrics().registry.contentType).toStartWith('text/plain; version=0.0.4')
})
