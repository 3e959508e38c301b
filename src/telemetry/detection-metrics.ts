/** Declares the metrics of detection. */

import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { labelCounter } from './label-counter.ts'

const detectionBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]

export interface DetectionMetrics {
  readonly detectionHits: Counter<'source' | 'outcome'>
  readonly detectionRuns: Counter<'outcome'>
  readonly detectionFiles: Counter<'outcome'>
  readonly detectionFindings: Counter<'class' | 'confidence'>
  readonly detectionScanSeconds: Histogram
  readonly detectionQueued: Gauge
  /** How long the oldest snapshot that is due has waited. */
  readonly detectionOldestSeconds: Gauge
  readonly detectionWorkerRestarts: Counter
  readonly detectionAlerts: Counter<'outcome'>
  readonly detectionWithdrawals: Counter<'outcome'>
  readonly storageEvents: Counter<'outcome'>
}

/** The metrics of detection, in a registry. */
export function detectionMetrics(registry: Registry): DetectionMetrics {
  const registers = [registry]
  const byLabel = labelCounter(registry)
  const byOutcome = (name: string, help: string, outcomes: readonly string[]) =>
    byLabel(name, help, 'outcome', outcomes)
  return {
    detectionHits: new Counter({
      name: 'svc_detection_hits_total',
      help: 'Snapshots that a trigger reported, by trigger and outcome.',
      labelNames: ['source', 'outcome'],
      registers,
    }),
    detectionRuns: byOutcome('svc_detection_runs_total', 'Attempts to scan a snapshot, by outcome.', [
      'done',
      'partial',
      'failed',
      'retried',
    ]),
    detectionFiles: byOutcome('svc_detection_files_total', 'Data files that snapshots added, by outcome.', [
      'scanned',
      'unsupported',
      'failed',
      'left_out',
    ]),
    detectionFindings: new Counter({
      name: 'svc_detection_findings_total',
      help: 'Findings of the classifiers.',
      labelNames: ['class', 'confidence'],
      registers,
    }),
    detectionScanSeconds: new Histogram({
      name: 'svc_detection_scan_duration_seconds',
      help: 'Time from claim to result of one snapshot, in seconds.',
      buckets: detectionBuckets,
      registers,
    }),
    detectionQueued: new Gauge({
      name: 'svc_detection_queued',
      help: 'Snapshots that wait to be scanned.',
      registers,
    }),
    detectionOldestSeconds: new Gauge({
      name: 'svc_detection_oldest_seconds',
      help: 'How long the oldest snapshot that is due has waited, in seconds.',
      registers,
    }),
    detectionWorkerRestarts: new Counter({
      name: 'svc_detection_worker_restarts_total',
      help: 'Detection workers that crashed or hung and were replaced.',
      registers,
    }),
    detectionAlerts: byOutcome('svc_detection_alerts_total', 'Alerts to the chat webhook, by outcome.', [
      'sent',
      'retried',
      'given_up',
    ]),
    detectionWithdrawals: byOutcome(
      'svc_detection_withdrawals_total',
      'Tags for which nothing stood any more, by outcome.',
      ['refuted', 'gone', 'held', 'stands'],
    ),
    storageEvents: byOutcome('svc_storage_events_total', 'Messages of the storage event queue, by outcome.', [
      'queued',
      'ignored',
      'set_aside',
      'failed',
    ]),
  }
}
