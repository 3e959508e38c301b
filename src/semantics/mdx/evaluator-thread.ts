/**
 * Owns one MDX thread and the statements in it. A thread that dies, or says nothing for too long while it has something
 * to do, is replaced; the statements in it fail, and are never repeated.
 */

import { Worker } from 'node:worker_threads'
import { Fault } from '../../base/fault.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { EvaluatorReply, EvaluatorRequest } from './evaluator-protocol.ts'

export interface ThreadJob {
  readonly tenant: TenantId
  /** Takes what the thread says of the job. */
  readonly receive: (reply: EvaluatorReply) => void
  readonly fail: (fault: Fault) => void
}

interface ThreadOptions {
  readonly url: URL
  /** Milliseconds after which a thread that says nothing is taken for hung. */
  readonly hangMs: number
  /** Called for each thread that died or was ended because it hung. */
  readonly onRestart: () => void
}

export class EvaluatorThread {
  readonly #options: ThreadOptions
  readonly #jobs = new Map<number, ThreadJob>()
  /** Jobs of which the thread must say something, those that have left included. */
  readonly #owed = new Set<number>()
  #worker: Worker | undefined
  #watch: Timer | undefined

  constructor(options: ThreadOptions) {
    this.#options = options
  }

  /** Statements in it, and those that it has yet to leave. */
  get size(): number {
    return new Set([...this.#jobs.keys(), ...this.#owed]).size
  }

  /** Whether a statement of the tenant is in it. */
  serves(tenant: TenantId): boolean {
    return [...this.#jobs.values()].some((job) => job.tenant === tenant)
  }

  add(jobId: number, job: ThreadJob): void {
    this.#jobs.set(jobId, job)
  }

  /** The thread gives a statement up, and says so. */
  remove(jobId: number): void {
    if (this.#jobs.delete(jobId) && this.#worker !== undefined) this.#post({ jobId, kind: 'end' }, true)
  }

  /** Sends to the thread, which starts with the first message. @param isAwaited whether the thread must answer it */
  send(request: EvaluatorRequest, isAwaited: boolean): void {
    if (this.#jobs.has(request.jobId)) this.#post(request, isAwaited)
  }

  close(): void {
    this.#drop(new Fault('unavailable', 'The service is stopping.'))
  }

  #post(request: EvaluatorRequest, isAwaited: boolean): void {
    const worker = this.#worker ?? this.#start()
    worker.postMessage(request)
    if (!isAwaited) return
    this.#owed.add(request.jobId)
    if (this.#watch === undefined) this.#watchAgain()
  }

  #start(): Worker {
    const worker = new Worker(this.#options.url)
    worker.unref()
    this.#worker = worker
    // Ignores events of a thread that was replaced.
    const crashed = () => {
      if (worker === this.#worker)
        this.#replace('MDX: the statement ended with the thread that evaluated it.')
    }
    worker.on('error', crashed)
    worker.on('exit', crashed)
    worker.on('message', (reply: EvaluatorReply) => {
      if (worker !== this.#worker) return
      this.#owed.delete(reply.jobId)
      this.#watchAgain()
      this.#jobs.get(reply.jobId)?.receive(reply)
    })
    return worker
  }

  #watchAgain(): void {
    clearTimeout(this.#watch)
    this.#watch = undefined
    if (this.#owed.size === 0) return
    this.#watch = setTimeout(
      () => this.#replace('MDX: the statement takes too long. Ask for less.'),
      this.#options.hangMs,
    )
    this.#watch.unref()
  }

  #replace(message: string): void {
    this.#options.onRestart()
    this.#drop(new Fault('unavailable', message))
  }

  #drop(fault: Fault): void {
    clearTimeout(this.#watch)
    this.#watch = undefined
    const worker = this.#worker
    this.#worker = undefined
    void worker?.terminate().catch(() => undefined)
    const jobs = [...this.#jobs.values()]
    this.#jobs.clear()
    this.#owed.clear()
    for (const { fail } of jobs) fail(fault)
  }
}
