/**
 * Gives tasks to one worker thread, one at a time, their owners in turn; it starts with the first task. A task that
 * crashes or hangs the worker fails alone; the next one starts another worker.
 */

import { Worker } from 'node:worker_threads'
import { FairQueue } from './fair-queue.ts'
import { Fault } from './fault.ts'

interface SingleWorkerOptions {
  /** Of the worker's file, which answers each {@link WorkerRequest} by a {@link WorkerResult}. */
  readonly url: URL
  /** Milliseconds that one task may take. */
  readonly taskMs: number
  /** Tasks that may wait. An owner of whom none waits may always. */
  readonly waitingMax: number
  /** Public messages: of `unavailable` where too many tasks wait, of `unprocessable` for a task that crashed or hung. */
  readonly busy: string
  readonly crashed: string
  readonly late: string
}

export interface WorkerRequest<Task> {
  readonly taskId: number
  readonly task: Task
}

export interface WorkerResult<Outcome> {
  readonly taskId: number
  readonly outcome: Outcome
}

interface Job<Task, Outcome> {
  readonly task: Task
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (fault: Fault) => void
}

/** Task and outcome are plain data, because they are copied between threads. */
export class SingleWorker<Task, Outcome> {
  #worker: Worker | undefined
  #taskId = 0
  #running: { readonly job: Job<Task, Outcome>; readonly timer: Timer } | undefined
  readonly #waiting = new FairQueue<string, Job<Task, Outcome>>()
  #closed = false

  constructor(private readonly options: SingleWorkerOptions) {}

  /**
   * @param owner such as a tenant
   * @throws Fault `unavailable` where too many tasks wait or it was closed, `unprocessable` as the options say
   */
  perform(owner: string, task: Task): Promise<Outcome> {
    if (this.#closed || !this.#waiting.hasRoom(owner, this.options.waitingMax))
      return Promise.reject(new Fault('unavailable', this.options.busy))
    return new Promise((resolve, reject) => {
      this.#waiting.push(owner, { task, resolve, reject })
      this.#dispatch()
    })
  }

  /** Ends the worker. Tasks that wait or run fail. */
  close(): void {
    this.#closed = true
    const stopping = new Fault('unavailable', 'The service is stopping.')
    for (const { reject } of this.#waiting.drain()) reject(stopping)
    this.#drop(stopping)
  }

  #dispatch(): void {
    if (this.#running !== undefined) return
    const job = this.#waiting.shift()
    if (job === undefined) return
    const worker = this.#worker ?? this.#start()
    const { taskMs, late } = this.options
    const timer = setTimeout(() => this.#drop(new Fault('unprocessable', late)), taskMs)
    this.#running = { job, timer }
    const request: WorkerRequest<Task> = { taskId: ++this.#taskId, task: job.task }
    worker.postMessage(request)
  }

  #start(): Worker {
    const worker = new Worker(this.options.url)
    worker.unref()
    this.#worker = worker
    // Ignores events of a worker that was replaced.
    const crashed = () => {
      if (worker === this.#worker) this.#drop(new Fault('unprocessable', this.options.crashed))
    }
    worker.on('error', crashed)
    worker.on('exit', crashed)
    worker.on('message', ({ taskId, outcome }: WorkerResult<Outcome>) => {
      if (worker !== this.#worker || taskId !== this.#taskId || this.#running === undefined) return
      const { job, timer } = this.#running
      clearTimeout(timer)
      this.#running = undefined
      job.resolve(outcome)
      this.#dispatch()
    })
    return worker
  }

  #drop(fault: Fault): void {
    const [worker, running] = [this.#worker, this.#running]
    this.#worker = undefined
    this.#running = undefined
    void worker?.terminate().catch(() => undefined)
    if (running === undefined) return
    clearTimeout(running.timer)
    running.job.reject(fault)
    this.#dispatch()
  }
}
