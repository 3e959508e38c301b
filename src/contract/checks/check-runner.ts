/**
 * Takes check runs that are due and performs them, one at a time in each process. A lease keeps two replicas from one
 * run, and returns the run of a lost process to the queue; it goes on after its last finished step.
 */

import type { Logger } from 'pino'
import { Fault } from '../../base/fault.ts'
import { outsideOfRequests } from '../../base/outside.ts'
import type { CheckRunState, ClaimedCheckRun } from '../../core/check-run.ts'
import type { SystemReads } from '../../core/system-read.ts'
import {
  claimCheckRun,
  endCheckRun,
  finishStep,
  releaseCheckRun,
  renewCheckRun,
  saveStepCount,
} from '../../store/check/check-runs.ts'
import { isAcceptedBySteward } from '../../store/contract/life-cycle.ts'
import { type ContractVersion, findVersion, type RunQuery } from '../../store/contract/versions.ts'
import type { Store } from '../../store/store.ts'
import { type CheckMetrics, type CheckRunEnd, checkRunEnds } from '../../telemetry/check-metrics.ts'
import type { RunKind, RunStep } from './run-kind.ts'

export interface CheckRunnerParts {
  readonly store: Store
  readonly log: Logger
  readonly reads: SystemReads
  readonly kinds: readonly RunKind[]
  readonly metrics: CheckMetrics
  /** Called when a run has ended, also where it was cancelled. It is called again after a crash: it must be idempotent. */
  readonly onEnd: (run: ClaimedCheckRun) => Promise<void>
  /** Milliseconds between two looks at the queue; 0: only `runDue` looks. */
  readonly lookMs: number
  readonly leaseMs?: number
  /** Milliseconds that a run may take, all attempts together. */
  readonly runMs?: number
  readonly retryMs?: number
}

/** Milliseconds that a run may take, all attempts together, and bytes that it may read. */
export const checkRunMsMax = 600_000
const checkRunBytesMax = 1024 ** 4
const leaseMsDefault = 60_000
const retryMsDefault = 10_000
const triesMax = 5

export class CheckRunner {
  readonly #stopping = new AbortController()
  readonly #timer: Timer | undefined
  #running: Promise<void> | undefined

  constructor(private readonly parts: CheckRunnerParts) {
    if (parts.lookMs === 0) return
    this.#timer = setInterval(() => void this.runDue(), parts.lookMs)
    this.#timer.unref()
  }

  /** Performs what is due until nothing is. A failure is logged, not thrown. */
  runDue(): Promise<void> {
    // It performs the runs of all tenants, whosever request woke it.
    this.#running ??= outsideOfRequests(() => this.#runAll())
      .catch((err: unknown) => this.parts.log.error({ err }, 'the check runs that are due could not be run'))
      .finally(() => {
        this.#running = undefined
      })
    return this.#running
  }

  /** Stops after the statement in progress is cancelled; another process goes on with its run. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#stopping.abort(new Error('the service is stopping'))
    await this.#running
  }

  async #runAll(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const run = await claimCheckRun(this.parts.store, this.#leaseMs)
      if (run === undefined) return
      await this.#perform(run)
    }
  }

  get #leaseMs(): number {
    return this.parts.leaseMs ?? leaseMsDefault
  }

  async #perform(run: ClaimedCheckRun): Promise<void> {
    const { store, log, onEnd, metrics } = this.parts
    const { kind } = run
    const watch = this.#watch(run)
    const startedMs = performance.now()
    const count = (outcome: CheckRunEnd) => {
      metrics.checkRuns.inc({ kind, outcome })
      metrics.checkRunSeconds.observe({ kind }, (performance.now() - startedMs) / 1_000)
    }
    try {
      const ended = await this.#steps(run, watch.signal)
      if (ended === undefined) return
      count(ended)
      await onEnd(run)
    } catch (err) {
      const reason: unknown = watch.signal.aborted ? watch.signal.reason : undefined
      if (reason === 'lost') return
      if (reason === 'stopping') return await releaseCheckRun(store, run, 0)
      if (reason === undefined && mayPass(err) && run.tries < triesMax) {
        log.warn({ err, runId: run.runId, tries: run.tries }, 'a check run will be tried again')
        count('retried')
        return await releaseCheckRun(
          store,
          run,
          (this.parts.retryMs ?? retryMsDefault) * 2 ** (run.tries - 1),
        )
      }
      if (reason === undefined) log.error({ err, runId: run.runId }, 'a check run was given up')
      const as =
        reason === 'cancelled'
          ? ({ state: 'cancelled', reason: 'cancelled' } as const)
          : ({ state: 'error', reason: reason === 'late' ? 'time limit' : reasonOf(err) } as const)
      if ((await endCheckRun(store, run, as)) === undefined) return
      count(as.state)
      await onEnd(run)
    } finally {
      watch.end()
    }
  }

  /** @returns how this process ended the run; undefined where it did not @throws what a step throws; the signal's reason */
  async #steps(run: ClaimedCheckRun, signal: AbortSignal): Promise<CheckRunEnd | undefined> {
    const { store } = this.parts
    let { bytesRead } = run
    const steps = await this.#open(run, signal)
    await saveStepCount(store, run, steps.length)
    for (const step of steps) {
      if (run.done.has(step.key)) continue
      signal.throwIfAborted()
      if (bytesRead > checkRunBytesMax)
        return endOf(await endCheckRun(store, run, { state: 'error', reason: 'scan limit' }))
      const startedMs = performance.now()
      const result = await step.run(signal)
      signal.throwIfAborted()
      bytesRead += result.bytes ?? 0
      const ms = performance.now() - startedMs
      if (!(await finishStep(store, run, { key: step.key, ms, result }))) return undefined
    }
    return endOf(await endCheckRun(store, run))
  }

  async #open(run: ClaimedCheckRun, signal: AbortSignal): Promise<readonly RunStep[]> {
    const { kinds, reads } = this.parts
    const { tenant, catalog, table, snapshotId } = run
    const kind = kinds.find(({ name }) => name === run.kind)
    if (kind === undefined) throw new Fault('internal', `No kind of check run is named ${run.kind}.`)
    const version = await this.#version(run)
    const opened = await reads.open({ tenant, catalog, table, snapshotId }, signal)
    const steps = await kind.open(run, version, opened, signal)
    if (new Set(steps.map(({ key }) => key)).size < steps.length)
      throw new Fault('internal', 'Two steps of a check run have one key.')
    return steps
  }

  async #version({ tenant, contract, number }: ClaimedCheckRun): Promise<ContractVersion> {
    const { store } = this.parts
    const query: RunQuery = (text, params) => store.tenantQuery(tenant, text, params)
    const version = await findVersion(query, tenant, { contract, number })
    if (version === undefined) throw new Fault('not_found', 'The contract has no such version.')
    // Its rules read what filters and masks hide, so nothing of a version runs that a steward has not accepted.
    if (!(await isAcceptedBySteward(query, tenant, version)))
      throw new Fault('forbidden', 'No steward has accepted the version.')
    return version
  }

  /** A signal that fires when the run must stop; its reason is `lost`, `cancelled`, `late` or `stopping`. */
  #watch(run: ClaimedCheckRun): { readonly signal: AbortSignal; readonly end: () => void } {
    const { store } = this.parts
    const stop = new AbortController()
    const onStop = () => stop.abort('stopping')
    this.#stopping.signal.addEventListener('abort', onStop, { once: true })
    if (this.#stopping.signal.aborted) onStop()
    let renewedMs = performance.now()
    const renew = async () => {
      try {
        const found = await renewCheckRun(store, run, this.#leaseMs)
        renewedMs = performance.now()
        if (found !== 'go on') stop.abort(found)
      } catch {
        // The store may reply to the next renewal. Once the lease is over, another process may have the run.
        if (performance.now() - renewedMs > this.#leaseMs) stop.abort('lost')
      }
    }
    const beat = setInterval(() => void renew(), Math.min(this.#leaseMs / 3, 2_000))
    const leftMs = Math.max((this.parts.runMs ?? checkRunMsMax) - run.spentMs, 0)
    const clock = setTimeout(() => stop.abort('late'), leftMs)
    return {
      signal: stop.signal,
      end: () => {
        clearInterval(beat)
        clearTimeout(clock)
        this.#stopping.signal.removeEventListener('abort', onStop)
      },
    }
  }
}

/** The end of a run by its state. */
function endOf(state: CheckRunState | undefined): CheckRunEnd | undefined {
  return checkRunEnds.find((end) => end === state)
}

/** Whether a later attempt may succeed. */
function mayPass(thrown: unknown): boolean {
  if (!(thrown instanceof Fault)) return true
  return ['unavailable', 'overloaded', 'upstream_failed', 'internal'].includes(thrown.kind)
}

/** A SQLSTATE or the kind of the fault; no message, because a run's reason is shown to more people. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Fault)) return 'internal'
  const { sqlstate } = (thrown.members ?? {}) as { readonly sqlstate?: unknown }
  return typeof sqlstate === 'string' ? sqlstate : thrown.kind
}
