/**
 * Reads, edits and converts contract documents off the HTTP thread, in one worker that starts with the first task. A
 * task that crashes or hangs the worker fails alone; the next one starts another worker.
 */

import { Worker } from 'node:worker_threads'
import { Fault } from '../../base/fault.ts'
import { limits } from '../../limits.ts'
import type { DocumentOutcome, DocumentTask } from '../../wire/odcs/document-task.ts'
import type { DocumentRequest, DocumentResult } from './document-worker.ts'

interface Job {
  readonly task: DocumentTask
  readonly resolve: (outcome: DocumentOutcome) => void
  readonly reject: (fault: Fault) => void
}

/** Tasks that may wait. */
const waitingMax = 32

export class DocumentCodec {
  #worker: Worker | undefined
  #taskId = 0
  #running: { readonly job: Job; readonly timer: Timer } | undefined
  #waiting: Job[] = []
  #closed = false

  /**
   * Performs a task; a document that is refused is an outcome.
   * @throws Fault `unavailable` where too many tasks wait or the service is stopping, `unprocessable` for a document
   * on which the worker crashed or took too long
   */
  perform(task: DocumentTask): Promise<DocumentOutcome> {
    if (this.#closed || this.#waiting.length >= waitingMax)
      return Promise.reject(new Fault('unavailable', 'Too many contract documents wait. Retry.'))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ task, resolve, reject })
      this.#dispatch()
    })
  }

  /** Ends the worker. Tasks that wait or run fail. */
  close(): void {
    this.#closed = true
    const stopping = new Fault('unavailable', 'The service is stopping.')
    for (const { reject } of this.#waiting.splice(0)) reject(stopping)
    this.#drop(stopping)
  }

  #dispatch(): void {
    if (this.#running !== undefined) return
    const job = this.#waiting.shift()
    if (job === undefined) return
    const worker = this.#worker ?? this.#start()
    const timer = setTimeout(
      () => this.#drop(new Fault('unprocessable', 'The document takes too long to read.')),
      limits.contractDocumentMs,
    )
    this.#running = { job, timer }
    const request: DocumentRequest = { taskId: ++this.#taskId, task: job.task }
    worker.postMessage(request)
  }

  #start(): Worker {
    const worker = new Worker(new URL('./document-worker.ts', import.meta.url))
    worker.unref()
    this.#worker = worker
    // Ignores events of a worker that was replaced.
    const crashed = () => {
      if (worker === this.#worker) this.#drop(new Fault('unprocessable', 'The document cannot be read.'))
    }
    worker.on('error', crashed)
    worker.on('exit', crashed)
    worker.on('message', ({ taskId, outcome }: DocumentResult) => {
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
