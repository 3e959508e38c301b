/**
 * Owns one worker thread: keeps it warm, gives it one task at a time, and replaces it when it dies or hangs.
 * A task that is lost with its worker is answered with an error, never run again.
 */

import { Worker } from 'node:worker_threads'
import type { PolicyErrorCode } from '../core/decision.ts'
import type { WorkerAnswer, WorkerMessage, WorkerRequest, WorkerTask } from './worker-protocol.ts'

export interface WorkerHostOptions {
  readonly workerUrl: URL
  /** Milliseconds after which a worker that has not answered counts as hung. */
  readonly hangMs: number
  /** Milliseconds that a task may wait for its turn. */
  readonly waitMs: number
  /** Tasks that may wait. */
  readonly waitingCountMax: number
}

export type TaskOutcome = WorkerAnswer | { readonly kind: 'failed'; readonly error: PolicyErrorCode }

interface Job {
  readonly task: WorkerTask
  readonly settle: (outcome: TaskOutcome) => void
  timer: Timer
}

/** A worker that dies before it is ready is not started again at once, so that a broken one cannot spin. */
const restartDelayMs = 1_000

export class WorkerHost {
  #worker: Worker | undefined
  #ready = false
  #closed = false
  #jobId = 0
  #running: Job | undefined
  #urgent: Job[] = []
  #background: Job[] = []
  #restart: Timer | undefined

  constructor(private readonly options: WorkerHostOptions) {
    this.#start()
  }

  /** Whether a worker is up and has answered. */
  get ready(): boolean {
    return this.#ready
  }

  /**
   * Has the worker perform `task`; never rejects.
   *
   * @param urgent tasks that a verdict waits for go before those that are only recorded
   */
  run(task: WorkerTask, urgent: boolean): Promise<TaskOutcome> {
    const waiting = this.#urgent.length + this.#background.length
    if (this.#closed || waiting >= this.options.waitingCountMax)
      return Promise.resolve({ kind: 'failed', error: 'ErrPolicyTimeout' })
    return new Promise((settle) => {
      const job: Job = {
        task,
        settle,
        timer: setTimeout(() => this.#giveUp(job), this.options.waitMs),
      }
      ;(urgent ? this.#urgent : this.#background).push(job)
      this.#dispatch()
    })
  }

  /** Ends the worker; tasks that wait or run fail. */
  close(): void {
    this.#closed = true
    clearTimeout(this.#restart)
    this.#drop('ErrEvalPanic')
    for (const job of [...this.#urgent, ...this.#background]) this.#settle(job, failed('ErrEvalPanic'))
    this.#urgent = []
    this.#background = []
  }

  #start(): void {
    const worker = new Worker(this.options.workerUrl)
    worker.unref()
    this.#worker = worker
    // Events of a worker that was replaced meanwhile are not about this one.
    worker.on('message', (message: WorkerMessage) => {
      if (worker === this.#worker) this.#receive(message)
    })
    worker.on('error', () => {
      if (worker === this.#worker) this.#replace('ErrEvalPanic')
    })
    worker.on('exit', () => {
      if (worker === this.#worker) this.#replace('ErrEvalPanic')
    })
  }

  #receive(message: WorkerMessage): void {
    if (message.kind === 'ready') this.#ready = true
    else if (message.jobId === this.#jobId && this.#running !== undefined) {
      const job = this.#running
      this.#running = undefined
      this.#settle(job, message.answer)
    }
    this.#dispatch()
  }

  #dispatch(): void {
    if (!this.#ready || this.#running !== undefined) return
    const job = this.#urgent.shift() ?? this.#background.shift()
    if (job === undefined) return
    clearTimeout(job.timer)
    this.#running = job
    job.timer = setTimeout(() => this.#replace('ErrPolicyTimeout'), this.options.hangMs)
    try {
      const request: WorkerRequest = { jobId: ++this.#jobId, task: job.task }
      this.#worker?.postMessage(request)
    } catch {
      this.#running = undefined
      this.#settle(job, failed('ErrEvalPanic'))
      this.#dispatch()
    }
  }

  /** The worker died or hangs: what it ran fails with `error`, and another takes its place. */
  #replace(error: PolicyErrorCode): void {
    const wasReady = this.#ready
    this.#drop(error)
    if (this.#closed) return
    if (wasReady) this.#start()
    else {
      this.#restart = setTimeout(() => this.#start(), restartDelayMs)
      this.#restart.unref()
    }
  }

  #drop(error: PolicyErrorCode): void {
    const worker = this.#worker
    this.#worker = undefined
    this.#ready = false
    void worker?.terminate().catch(() => undefined)
    const job = this.#running
    this.#running = undefined
    if (job !== undefined) this.#settle(job, failed(error))
  }

  #giveUp(job: Job): void {
    this.#urgent = this.#urgent.filter((waiting) => waiting !== job)
    this.#background = this.#background.filter((waiting) => waiting !== job)
    this.#settle(job, failed('ErrPolicyTimeout'))
  }

  #settle(job: Job, outcome: TaskOutcome): void {
    clearTimeout(job.timer)
    job.settle(outcome)
  }
}

function failed(error: PolicyErrorCode): TaskOutcome {
  return { kind: 'failed', error }
}
