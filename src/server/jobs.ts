/**
 * Runs jobs on schedules. A job runs on one replica at a time, but for those that each has use for, and never twice at once
 * in a process.
 */

import { Cron } from 'croner'
import type { Logger } from 'pino'
import type { Gauge } from 'prom-client'
import { outsideOfRequests } from '../base/outside.ts'
import type { RightOfWay } from '../base/right-of-way.ts'
import type { Job } from '../http/feature.ts'

/** The gauge values of the latest runs, shared by all replicas, by job name. */
export interface JobGauges {
  keep(job: string, value: number): Promise<void>
  find(job: string): Promise<number | undefined>
}

/** Runs `work` on at most one replica; its signal aborts when the lock is lost. */
export type WithReplicaLock = (name: string, work: (signal: AbortSignal) => Promise<void>) => Promise<boolean>

export interface Jobs {
  /** Runs the job of that name now and waits for it. A failure is logged, not thrown. */
  run(name: string): Promise<void>
  /** Stops the schedules, aborts running jobs and waits for them to end. */
  stop(): Promise<void>
}

/**
 * Starts the schedules of `jobs`.
 * @param gauges shares gauge values between replicas
 * @param requests a job waits for these before it starts
 * @param byTime whether the schedules start jobs; else only `run` does
 */
export function startJobs(
  jobs: readonly Job[],
  withReplicaLock: WithReplicaLock,
  gauges: JobGauges,
  requests: RightOfWay,
  log: Logger,
  byTime = true,
): Jobs {
  const running = new Map<string, Promise<void>>()
  const stopping = new AbortController()
  const runHere = async (job: Job, signal: AbortSignal): Promise<void> => {
    await job.run(signal)
    for (const [name, gauge] of gaugesOf(job)) {
      const [left] = (await gauge.get()).values
      if (left !== undefined) await gauges.keep(name, left.value)
    }
  }
  const runOnce = async (job: Job): Promise<void> => {
    await requests.standBack().clear()
    if (job.everyReplica) return await runHere(job, stopping.signal)
    const ran = await withReplicaLock(job.name, (lost) =>
      runHere(job, AbortSignal.any([lost, stopping.signal])),
    )
    if (!ran) for (const [name, gauge] of gaugesOf(job)) gauge.set((await gauges.find(name)) ?? 0)
  }
  const run = (job: Job): Promise<void> => {
    const current = running.get(job.name)
    if (current !== undefined) return current
    const next = outsideOfRequests(() => runOnce(job))
      .catch((err: unknown) => {
        if (!stopping.signal.aborted) log.error({ err, job: job.name }, 'a job failed')
      })
      .finally(() => running.delete(job.name))
    running.set(job.name, next)
    return next
  }
  const timed = byTime ? jobs : []
  const schedules = timed.map((job) => new Cron(job.schedule, { unref: true }, () => run(job)))
  return {
    async run(name) {
      const job = jobs.find((one) => one.name === name)
      if (job === undefined) throw new Error(`there is no job named ${name}`)
      await run(job)
    },
    async stop() {
      for (const schedule of schedules) schedule.stop()
      stopping.abort(new Error('the service is stopping'))
      await Promise.all(running.values())
    },
  }
}

/** The gauges of a job with the names under which they are stored; the first has that of the job. */
function gaugesOf({ name, gauge }: Job): readonly (readonly [string, Gauge])[] {
  if (gauge === undefined) return []
  return [gauge].flat().map((one, at) => [at === 0 ? name : `${name} ${at}`, one] as const)
}
