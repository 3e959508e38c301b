/**
 * The pool of detection workers. Workers start when they are needed and run one task at a time. One that dies or hangs
 * fails its own task only, and is replaced.
 */

import { Worker } from 'node:worker_threads'
import type { ScanTask } from './scan/scan-snapshot.ts'
import type { DetectionWorkerMessage, DetectionWorkerRequest, ScanOutcome } from './worker-protocol.ts'

interface WorkerPoolOptions {
  readonly workerUrl: URL
  readonly size: number
  /** Milliseconds that one task may take. */
  readonly taskMs: number
  /** Called for each worker that died, or that was ended because it hung. */
  readonly onRestart: () => void
}

/** A worker that dies before it is ready is restarted after a delay, so that a broken one cannot spin. */
const restartDelayMs = 1_000

export class WorkerPool {
  readonly #slots: Slot[]
  #waiting: { task: ScanTask; resolve: (outcome: ScanOutcome) => void }[] = []
  #closed = false

  constructor(options: WorkerPoolOptions) {
    this.#slots = Array.from({ length: options.size }, () => new Slot(options, () => this.#dispatch()))
    this.#slots[0]?.start()
  }

  /** Whether a worker is up: part of readiness (docs/reference/operations.md 1.2). */
  get ready(): boolean {
    return this.#slots.some((slot) => slot.ready)
  }

  /** Tasks that run at once. */
  get size(): number {
    return this.#slots.length
  }

  /** Scans one snapshot; never rejects. */
  run(task: ScanTask): Promise<ScanOutcome> {
    if (this.#closed) return Promise.resolve(lost('the service is stopping'))
    return new Promise((resolve) => {
      this.#waiting.push({ task, resolve })
      this.#dispatch()
    })
  }

  /** Ends all workers. Tasks that wait or run fail. */
  close(): void {
    this.#closed = true
    for (const slot of this.#slots) slot.close()
    for (const { resolve } of this.#waiting.splice(0)) resolve(lost('the service is stopping'))
  }

  #dispatch(): void {
    while (this.#waiting.length > 0) {
      const slot = this.#slots.find((one) => one.ready && !one.busy)
      if (slot === undefined) {
        this.#slots.find((one) => !one.started)?.start()
        return
      }
      const next = this.#waiting.shift()
      if (next !== undefined) slot.run(next.task, next.resolve)
    }
  }
}

/** One worker and its replacements. */
class Slot {
  #worker: Worker | undefined
  #ready = false
  #closed = false
  #restart: Timer | undefined
  #taskId = 0
  #running: { resolve: (outcome: ScanOutcome) => void; timer: Timer } | undefined

  constructor(
    private readonly options: WorkerPoolOptions,
    private readonly onFree: () => void,
  ) {}

  get started(): boolean {
    return this.#worker !== undefined || this.#restart !== undefined || this.#closed
  }

  get ready(): boolean {
    return this.#ready
  }

  get busy(): boolean {
    return this.#running !== undefined
  }

  start(): void {
    this.#restart = undefined
    const worker = new Worker(this.options.workerUrl)
    worker.unref()
    this.#worker = worker
    // Ignores events of a worker that was replaced meanwhile.
    const current = (act: () => void) => () => {
      if (worker === this.#worker) act()
    }
    worker.on('message', (message: DetectionWorkerMessage) => current(() => this.#receive(message))())
    worker.on(
      'error',
      current(() => this.#replace('the worker crashed')),
    )
    worker.on(
      'exit',
      current(() => this.#replace('the worker crashed')),
    )
  }

  run(task: ScanTask, resolve: (outcome: ScanOutcome) => void): void {
    const { taskMs } = this.options
    const timer = setTimeout(() => this.#replace(`the scan took longer than ${taskMs / 1000} s`), taskMs)
    this.#running = { resolve, timer }
    const request: DetectionWorkerRequest = { taskId: ++this.#taskId, task }
    this.#worker?.postMessage(request)
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#restart)
    this.#drop('the service is stopping')
  }

  #receive(message: DetectionWorkerMessage): void {
    if (message.kind === 'ready') this.#ready = true
    else if (message.taskId === this.#taskId) this.#finish(message.outcome)
    this.onFree()
  }

  #finish(outcome: ScanOutcome): void {
    const running = this.#running
    this.#running = undefined
    clearTimeout(running?.timer)
    running?.resolve(outcome)
  }

  #replace(reason: string): void {
    const wasReady = this.#ready
    this.#drop(reason)
    if (this.#closed) return
    this.options.onRestart()
    if (wasReady) this.start()
    else {
      this.#restart = setTimeout(() => this.start(), restartDelayMs)
      this.#restart.unref()
    }
    this.onFree()
  }

  #drop(reason: string): void {
    const worker = this.#worker
    this.#worker = undefined
    this.#ready = false
    void worker?.terminate().catch(() => undefined)
    this.#finish(lost(reason))
  }
}

function lost(reason: string): ScanOutcome {
  return { kind: 'failed', reason, passing: true }
}
