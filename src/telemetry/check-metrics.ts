/** Declares the metrics of check runs. */

import { Counter, Histogram, type Registry } from 'prom-client'
import { checkKinds } from '../core/check-run.ts'

const runBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]

/** How a run ends that this process performs. `retried`: the attempt failed, and another one follows. */
export const checkRunEnds = ['passed', 'failed', 'error', 'cancelled', 'retried'] as const
export type CheckRunEnd = (typeof checkRunEnds)[number]

export interface CheckMetrics {
  readonly checkRuns: Counter<'kind' | 'outcome'>
  readonly checkRunSeconds: Histogram<'kind'>
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
    checkRunSeconds: new Histogram({
      name: 'svc_check_run_duration_seconds',
      help: 'Time of one attempt to perform a check run, in seconds, by kind.',
      labelNames: ['kind'],
      buckets: runBuckets,
      registers,
    }),
  }
}
