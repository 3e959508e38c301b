/**
 * Owns one worker thread: keeps it running, gives it one task at a time, and replaces it when it dies or hangs. Tenants
 * take turns. A task that is lost with its worker fails, and is never retried.
 */

import { Worker } from 'node:worker_threads'
import { FairQueue } from '../base/fair-queue.ts'
import type { PolicyErrorCode } from '../core/decision.ts'
import type { TenantId } from '../core/tenant.ts'
import type {
  PolicyWorkerMessage,
  PolicyWorkerRequest,
  PolicyWorkerResult,
  WorkerTask,
} from './worker-protocol.ts'

interface WorkerHostOptions {
  readonly workerUrl: URL
  /** Milliseconds after which a worker without a result is treated as hung. */
  readonly hangMs: number
  /** Milliseconds that a task may wait for its turn. */
  readonly waitMs: number
  /** Urgent tasks that may wait, and as many others. A tenant of whom none waits may always. */
  readonly waitingCountMax: number
}

type TaskOutcome = PolicyWorkerResult | { readonly kind: 'failed'; readonly error: PolicyErrorCode }

interface Job {
  readonly tenant: TenantId
  readonly task: WorkerTask
  readonly resolve: (outcome: TaskOutcome) => void
  timer: Timer
}

/** Delays the restart of a worker that died before it was ready, so that a broken one does not restart in a loop. */
const restartDelayMs = 1_000

export class WorkerHost {
  #worker: Worker | undefined
  #ready = false
  #closed = false
  #jobId = 0
  #running: Job | undefined
  readonly #urgent = new FairQueue<TenantId, Job>()
  readonly #background = new FairQueue<TenantId, Job>()
  #restart: Timer | undefined

  constructor(private readonly options: WorkerHostOptions) {
    this.#start()
  }

  /** Whether a worker is running and has reported that it is ready. */
  get ready(): boolean {
    return this.#ready
  }

  /**
   * Lets the worker perform `task`. Never rejects.
   *
   * @param urgent whether a verdict waits for the task: it runs before tasks that are only recorded
   */
  run(tenant: TenantId, task: WorkerTask, urgent: boolean): Promise<TaskOutcome> {
    const queue = urgent ? this.#urgent : this.#background
    if (this.#closed || !queue.hasRoom(tenant, this.options.waitingCountMax))
      return Promise.resolve({ kind: 'failed', error: 'ErrPolicyTimeout' })
    return new Promise((resolve) => {
      const job: Job = {
        tenant,
        task,
        resolve,
        timer: setTimeout(() => this.#giveUp(job), this.options.waitMs),
      }
      queue.push(tenant, job)
      this.#dispatch()
    })
  }

  /** Ends the worker. Tasks that wait or run fail. */
  close(): void {
    this.#closed = true
    clearTimeout(this.#restart)
    this.#drop('ErrEvalPanic')
    for (const job of [...this.#urgent.drain(), ...this.#background.drain()])
      this.#finish(job, failed('ErrEvalPanic'))
  }

  #start(): void {
    const worker = new Worker(this.options.workerUrl)
    worker.unref()
    this.#worker = worker
    // Events of a worker that was replaced are ignored.
    worker.on('message', (message: PolicyWorkerMessage) => {
      if (worker === this.#worker) this.#receive(message)
    })
    worker.on('error', () => {
      if (worker === this.#worker) this.#replace('ErrEvalPanic')
    })
    worker.on('exit', () => {
      if (worker === this.#worker) this.#replace('ErrEvalPanic')
    })
  }

  #receive(message: PolicyWorkerMessage): void {
    if (message.kind === 'ready') this.#ready = true
    else if (message.jobId === this.#jobId && this.#running !== undefined) {
      const job = this.#running
      this.#running = undefined
      this.#finish(job, message.result)
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
      const request: PolicyWorkerRequest = { jobId: ++this.#jobId, task: job.task }
      this.#worker?.postMessage(request)
    } catch {
      this.#running = undefined
      this.#finish(job, failed('ErrEvalPanic'))
      this.#dispatch()
    }
  }

  /** Replaces a worker that died or hangs. Its task fails with `error`. */
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
    if (job !== undefined) this.#finish(job, failed(error))
  }

  #giveUp(job: Job): void {
    this.#urgent.remove(job.tenant, job)
    this.#background.remove(job.tenant, job)
    this.#finish(job, failed('ErrPolicyTimeout'))
  }

  #finish(job: Job, outcome: TaskOutcome): void {
    clearTimeout(job.timer)
    job.resolve(outcome)
  }
}

function failed(error: PolicyErrorCode): TaskOutcome {
  return { kind: 'failed', error }
}
