/**
 * Declares the metrics that the metrics listener serves (docs/reference/operations.md 1.3). Durations are in
 * seconds, but for the one that docs/reference/operations.md names in milliseconds.
 */

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { byteKinds } from '../base/byte-work.ts'
import { policyErrorCodes } from '../core/decision.ts'
import { attemptOutcomes } from '../core/webhook.ts'
import { type CheckMetrics, checkMetrics } from './check-metrics.ts'
import { type DetectionMetrics, detectionMetrics } from './detection-metrics.ts'
import { type IdentityMetrics, identityMetrics } from './identity-metrics.ts'
import { labelCounter } from './label-counter.ts'
import { type ServiceMetrics, serviceMetrics } from './service-metrics.ts'
import { type XmlaMetrics, xmlaMetrics } from './xmla-metrics.ts'

export const commitRejectedReasons = ['policy_denied', 'policy_engine_unavailable'] as const

const commitBucketsMs = [
  1, 2.5, 5, 10, 25, 50, 75, 100, 150, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 90_000,
]
const stageBuckets = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 60,
]
const cypherBuckets = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

export interface Metrics
  extends CheckMetrics,
    DetectionMetrics,
    IdentityMetrics,
    ServiceMetrics,
    XmlaMetrics {
  /** `registry.metrics()` is the scrape; its content type is `registry.contentType`. */
  readonly registry: Registry
  readonly commitRejected: Counter<'reason'>
  readonly shadowDenials: Counter<'enforced'>
  /** `reason`: the error code of a missing verdict. */
  readonly policyUnavailable: Counter<'reason'>
  /** `outcome`: read, or failed. */
  readonly manifestFactsSeconds: Histogram<'outcome'>
  /** `mode`: `enforce` before the forward, `audit` after the commit. `outcome`: `inside`, `outside` or `failed`. */
  readonly manifestCheckSeconds: Histogram<'mode' | 'outcome'>
  /** Commits whose manifests are still to be checked. */
  readonly manifestChecksPending: Gauge
  readonly snapshotsQuarantined: Counter
  /** `outcome`: `approved`, `rejected` or the kind of the Fault. */
  readonly commitDurationMs: Histogram<'outcome'>
  readonly commitStageSeconds: Histogram<'stage'>
  readonly cypherQuerySeconds: Histogram
  /** Intents without a written verdict whose lease has expired. */
  readonly commitIntents: Gauge
  readonly auditFailures: Counter
  /** Accepted changes of this process whose audit failed and is repeated. */
  readonly unauditedChanges: Gauge
  readonly snapshotIngestFailures: Counter
  /** `outcome`: the verdict on the result of a commit that an unseen concurrent commit preceded. */
  readonly racedCommits: Counter<'outcome'>
  readonly reconciliationBreaches: Counter
  readonly reconciliationCoverage: Gauge
  /** `kind`: of the history that was removed because it is past its retention. */
  readonly historyRemoved: Counter<'kind'>
  /** `outcome`: merged, repeated, refused (a cycle) or pending (stored, to be merged later). */
  readonly lineageEvents: Counter<'outcome'>
  /** Merges that were retried because of a concurrent one on another replica. */
  readonly lineageRetries: Counter
  /** Events stored but not merged, counted by the last run of the retry job. */
  readonly lineagePending: Gauge
  /** Cycles in lineage graphs, counted by the last sweep. */
  readonly lineageCycles: Gauge
  /** Authenticated connections to the PostgreSQL wire. */
  readonly pgwireConnections: Gauge<'tenant'>
  readonly pgwireRefused: Counter<'sqlstate'>
  readonly pgwireCatalogDatabases: Gauge
  /** `outcome`: done, failed or cancelled. */
  readonly pgwireQueries: Counter<'tenant' | 'outcome'>
  readonly pgwireRows: Counter<'tenant'>
  readonly pgwireBytes: Counter<'tenant'>
  /** `stage`: queue (behind earlier statements), plan, run (waiting for the engine), send (for the client). */
  readonly pgwireStageSeconds: Histogram<'tenant' | 'stage'>
  /** `outcome`: same, different or unsteady (a rerun of the same statement ends differently). */
  readonly tripwireRuns: Counter<'outcome'>
  readonly tripwireSkipped: Counter<'reason'>
  /** Storage credentials that the service issued. `access`: read or write. */
  readonly credentialsVended: Counter<'access'>
  /** Storage credentials that were asked for and not issued. */
  readonly credentialsWithheld: Counter<'reason'>
  /** Requests to storage that clients wanted signed. */
  readonly requestsSigned: Counter<'outcome'>
  /** Attempts to send an event to a webhook. */
  readonly webhookAttempts: Counter<'outcome'>
  /** Sessions that were revoked while they held storage credentials. */
  readonly sessionsQuarantined: Counter
  /** Times that this machine's clock was set back. */
  readonly clockBackwardSteps: Counter
  /** How far this machine's clock is ahead of the database's. */
  readonly clockOffsetSeconds: Gauge
  /** Bytes of the budget that are held. `kind`: what for. */
  readonly memoryHeld: Gauge<'kind'>
  readonly memoryBound: Gauge
  readonly memoryRefused: Counter<'kind'>
  readonly memoryWaiting: Gauge
  readonly slicesWaiting: Gauge
}

/** Why an error was not checked; `late`: not within its time limit, the wait for a place included. */
const tripwireSkips = ['queue_full', 'too_large', 'late', 'failed', 'stopped'] as const
export type TripwireSkip = (typeof tripwireSkips)[number]

const lineageOutcomes = ['merged', 'repeated', 'refused', 'pending'] as const

/** How often the event loop is woken to be measured. More often, this would be most of an idle process's work. */
const eventLoopSampleMs = 1_000

/** Gauges of the library that are named like counters. */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

/**
 * Makes a separate registry, so that tests and processes do not share counts. Every series with known labels starts at
 * 0, because a rate over a series that first appears at 1 would miss the first event.
 */
export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopSampleMs })
  // The library's gauges of the same without `_total` stay.
  for (const name of misnamed) registry.removeSingleMetric(name)
  const commitRejected = new Counter({
    name: 'commit_rejected_total',
    help: 'Commits that the gateway refused, by reason.',
    labelNames: ['reason'],
    registers,
  })
  for (const reason of commitRejectedReasons) commitRejected.inc({ reason }, 0)
  const shadowDenials = new Counter({
    name: 'svc_policy_shadow_denials_total',
    help: 'Accepted changes that a policy of mode shadow would have refused, by whether it is enforced later or never.',
    labelNames: ['enforced'],
    registers,
  })
  for (const enforced of ['later', 'never']) shadowDenials.inc({ enforced }, 0)
  const policyUnavailable = new Counter({
    name: 'svc_policy_unavailable_total',
    help: 'Commits that got no verdict of policies, by error code.',
    labelNames: ['reason'],
    registers,
  })
  for (const reason of policyErrorCodes) policyUnavailable.inc({ reason }, 0)
  const lineageEvents = new Counter({
    name: 'svc_lineage_events_total',
    help: 'Lineage events received, by outcome.',
    labelNames: ['outcome'],
    registers,
  })
  for (const outcome of lineageOutcomes) lineageEvents.inc({ outcome }, 0)
  const byLabel = labelCounter(registry)
  const byOutcome = (name: string, help: string, outcomes: readonly string[]) =>
    byLabel(name, help, 'outcome', outcomes)
  const tripwireSkipped = new Counter({
    name: 'svc_tripwire_skipped_total',
    help: 'Errors of the embedded engine that were not checked, by reason.',
    labelNames: ['reason'],
    registers,
  })
  for (const reason of tripwireSkips) tripwireSkipped.inc({ reason }, 0)
  const memoryRefused = new Counter({
    name: 'svc_memory_refused_total',
    help: 'Requests, loads and parses that were refused because the memory budget was full, by what they were for.',
    labelNames: ['kind'],
    registers,
  })
  const memoryHeld = new Gauge({
    name: 'svc_memory_held_bytes',
    help: 'Bytes of the memory budget that are held, by what for.',
    labelNames: ['kind'],
    registers,
  })
  for (const kind of byteKinds) {
    memoryRefused.inc({ kind }, 0)
    memoryHeld.set({ kind }, 0)
  }
  return {
    registry,
    memoryRefused,
    memoryHeld,
    memoryWaiting: new Gauge({
      name: 'svc_memory_waiting',
      help: 'Requests, loads and parses that wait for room in the memory budget.',
      registers,
    }),
    slicesWaiting: new Gauge({
      name: 'svc_thread_slices_waiting',
      help: 'Pieces of long work, such as large documents, that wait for their next slice of the thread.',
      registers,
    }),
    memoryBound: new Gauge({
      name: 'svc_memory_bound_bytes',
      help: 'The memory budget of this process in bytes.',
      registers,
    }),
    commitRejected,
    shadowDenials,
    policyUnavailable,
    commitDurationMs: new Histogram({
      name: 'svc_gateway_commit_duration_ms',
      help: 'Time from request to response of a commit, in milliseconds, by outcome.',
      labelNames: ['outcome'],
      buckets: commitBucketsMs,
      registers,
    }),
    manifestFactsSeconds: new Histogram({
      name: 'svc_manifest_facts_duration_seconds',
      help: 'Time to read what policies asked of the manifests of one commit, in seconds, by outcome.',
      labelNames: ['outcome'],
      buckets: stageBuckets,
      registers,
    }),
    manifestCheckSeconds: new Histogram({
      name: 'svc_manifest_check_duration_seconds',
      help: 'Time to check the manifests that one commit brings, in seconds, by mode and outcome.',
      labelNames: ['mode', 'outcome'],
      buckets: stageBuckets,
      registers,
    }),
    manifestChecksPending: new Gauge({
      name: 'svc_manifest_checks_pending',
      help: 'Commits whose manifests are still to be checked.',
      registers,
    }),
    snapshotsQuarantined: new Counter({
      name: 'svc_snapshots_quarantined_total',
      help: 'Snapshots that were quarantined for reads.',
      registers,
    }),
    commitStageSeconds: new Histogram({
      name: 'svc_gateway_commit_stage_duration_seconds',
      help: 'Time of one stage of a commit, in seconds.',
      labelNames: ['stage'],
      buckets: stageBuckets,
      registers,
    }),
    cypherQuerySeconds: new Histogram({
      name: 'svc_cypher_query_duration_seconds',
      help: 'Time of one Cypher query, in seconds.',
      buckets: cypherBuckets,
      registers,
    }),
    commitIntents: new Gauge({
      name: 'svc_commit_intents',
      help: 'Commit intents that await recovery.',
      registers,
    }),
    unauditedChanges: new Gauge({
      name: 'svc_unaudited_changes',
      help: 'Accepted changes of this process whose audit failed and is repeated.',
      registers,
    }),
    auditFailures: new Counter({
      name: 'svc_audit_failures_total',
      help: 'Audit transactions that failed after the upstream had accepted the commit.',
      registers,
    }),
    snapshotIngestFailures: new Counter({
      name: 'svc_snapshot_ingest_failures_total',
      help: 'Snapshots of accepted commits that could not be ingested into the graph.',
      registers,
    }),
    racedCommits: byOutcome(
      'svc_raced_commits_total',
      'Commits applied to another state than was judged, by the verdict on their result.',
      ['allow', 'deny', 'unavailable'],
    ),
    reconciliationBreaches: new Counter({
      name: 'svc_reconciliation_breaches_total',
      help: 'Drift between the graph and its relational projection.',
      registers,
    }),
    reconciliationCoverage: new Gauge({
      name: 'svc_reconciliation_coverage',
      help: 'Share of the history that was compared with the graph within seven days, the least of all tenants.',
      registers,
    }),
    historyRemoved: new Counter({
      name: 'svc_history_removed_total',
      help: 'Rows removed, or bodies emptied, because they are past their retention.',
      labelNames: ['kind'],
      registers,
    }),
    lineageEvents,
    lineageRetries: new Counter({
      name: 'svc_lineage_retries_total',
      help: 'Merges of lineage events that were retried because of a concurrent one.',
      registers,
    }),
    lineagePending: new Gauge({
      name: 'svc_lineage_pending',
      help: 'Lineage events that are stored but could not be merged yet.',
      registers,
    }),
    lineageCycles: new Gauge({
      name: 'svc_lineage_cycles',
      help: 'Cycles in lineage graphs that the sweep found.',
      registers,
    }),
    ...serviceMetrics(registry),
    ...checkMetrics(registry),
    ...detectionMetrics(registry),
    ...xmlaMetrics(registry),
    pgwireConnections: new Gauge({
      name: 'svc_pgwire_connections',
      help: 'Connections to the PostgreSQL wire, by tenant.',
      labelNames: ['tenant'],
      registers,
    }),
    pgwireRefused: new Counter({
      name: 'svc_pgwire_refused_total',
      help: 'Clients of the PostgreSQL wire that were refused, by SQLSTATE.',
      labelNames: ['sqlstate'],
      registers,
    }),
    pgwireCatalogDatabases: new Gauge({
      name: 'svc_pgwire_catalog_databases',
      help: 'Databases of this process that answer statements about pg_catalog; each takes 300 to 400 MiB.',
      registers,
    }),
    pgwireQueries: new Counter({
      name: 'svc_pgwire_queries_total',
      help: 'Statements on the PostgreSQL wire, by tenant and outcome.',
      labelNames: ['tenant', 'outcome'],
      registers,
    }),
    pgwireRows: new Counter({
      name: 'svc_pgwire_rows_total',
      help: 'Rows sent on the PostgreSQL wire, by tenant.',
      labelNames: ['tenant'],
      registers,
    }),
    pgwireBytes: new Counter({
      name: 'svc_pgwire_bytes_total',
      help: 'Bytes sent on the PostgreSQL wire, by tenant.',
      labelNames: ['tenant'],
      registers,
    }),
    pgwireStageSeconds: new Histogram({
      name: 'svc_pgwire_stage_duration_seconds',
      help: 'Time of one stage of a statement on the PostgreSQL wire, in seconds, by tenant.',
      labelNames: ['tenant', 'stage'],
      buckets: stageBuckets,
      registers,
    }),
    tripwireRuns: byOutcome(
      'svc_tripwire_runs_total',
      'Failed statements that were rerun over copies of the rows that their readers may see, by outcome.',
      ['same', 'different', 'unsteady'],
    ),
    tripwireSkipped,
    credentialsVended: byLabel(
      'svc_credentials_vended_total',
      'Storage credentials that the service issued, by what they allow.',
      'access',
      ['read', 'write'],
    ),
    credentialsWithheld: byLabel(
      'svc_credentials_withheld_total',
      'Storage credentials that the service was asked for and did not issue, by reason.',
      'reason',
      ['license', 'territory', 'failed'],
    ),
    webhookAttempts: byOutcome(
      'svc_webhook_attempts_total',
      'Attempts to send an event to a webhook, by outcome.',
      attemptOutcomes,
    ),
    requestsSigned: byOutcome(
      'svc_requests_signed_total',
      'Requests to storage that clients wanted signed, by outcome.',
      ['signed', 'refused'],
    ),
    sessionsQuarantined: new Counter({
      name: 'svc_sessions_quarantined_total',
      help: 'Sessions that were revoked while they held storage credentials.',
      registers,
    }),
    ...identityMetrics(registry),
    clockBackwardSteps: new Counter({
      name: 'svc_clock_backward_steps_total',
      help: 'Times that the clock of this machine was set back.',
      registers,
    }),
    clockOffsetSeconds: new Gauge({
      name: 'svc_clock_offset_seconds',
      help: 'Seconds by which the clock of this machine is ahead of the clock of the database.',
      registers,
    }),
  }
}
