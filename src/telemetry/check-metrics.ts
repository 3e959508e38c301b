/** Declares the metrics of check runs. */

import { Counter, Histogram, type Registry } from 'prom-client'
import { checkKinds } from '../core/check-run.ts'

const runBucketsMs = [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000, 600_000]

/** How a run ends that this process performs. `retried`: the attempt failed, and another one follows. */
export const checkRunEnds = ['passed', 'failed', 'error', 'cancelled', 'retried'] as const
export type CheckRunEnd = (typeof checkRunEnds)[number]

export interface CheckMetrics {
  readonly checkRuns: Counter<'kind' | 'outcome'>
  readonly checkRunMs: Histogram<'kind'>
}

/** The metrics of check runs, in a registry. */
export function checkMetrics(registry: Registry): CheckMetrics {
  const registers = [registry]
  const checkRuns = new Counter({
    name: 'svc_check_runs_total',
    help: 'Attempts to perform a check run, by kind and outcome.',
    labelNames: ['kind', 'outcome'],
    registers,
  })
  for (const kind of checkKinds) for (const outcome of checkRunEnds) checkRuns.inc({ kind, outcome }, 0)
  return {
    checkRuns,
    checkRunMs: new Histogram({
      name: 'svc_check_run_duration_ms',
      help: 'Time of one attempt to perform a check run, in milliseconds, by kind.',
      labelNames: ['kind'],
      buckets: runBucketsMs,
      registers,
    }),
  }
}
