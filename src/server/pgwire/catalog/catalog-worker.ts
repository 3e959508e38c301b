/** One Worker with a database, from the outside: one message at a time, a time limit for each, and its end. */

import { Fault } from '../../../base/fault.ts'
import { limits } from '../../../limits.ts'
import type { FromWorker, ToWorker } from './worker-protocol.ts'

/** Why a statement has no answer that is its client's business. */
export class StatementFailure extends Error {
  constructor(
    readonly reason: 'timeout' | 'too-large',
    cause?: unknown,
  ) {
    super(reason, { cause })
  }
}

interface Waiting {
  resolve(message: FromWorker): void
  reject(error: unknown): void
}

export class CatalogWorker {
  readonly #worker = new Worker(new URL('./worker.ts', import.meta.url))
  #waiting: Waiting | undefined
  #ended = false

  private constructor() {
    this.#worker.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => {
      const waiting = this.#waiting
      this.#waiting = undefined
      if (data.kind !== 'failed') waiting?.resolve(data)
      else {
        const failure = data.tooLarge ? new StatementFailure('too-large') : unusable(data.reason)
        this.#end(failure, waiting)
      }
    })
    this.#worker.addEventListener('error', (event) => this.#end(unusable(event.message)))
    this.#worker.addEventListener('close', () => this.#end(unusable('it stopped')))
  }

  /** A new database's snapshot, from which others start. @throws Fault `unavailable` */
  static async buildSnapshot(): Promise<ArrayBuffer> {
    const builder = new CatalogWorker()
    try {
      const answer = await builder.#ask({ kind: 'build' }, limits.catalogStartMs, lateStart)
      if (answer.kind !== 'built') throw unusable(answer.kind)
      return answer.snapshot
    } finally {
      builder.end()
    }
  }

  /** @throws Fault `unavailable` where the database does not start */
  static async open(snapshot: ArrayBuffer): Promise<CatalogWorker> {
    const worker = new CatalogWorker()
    await worker.#ask({ kind: 'open', snapshot }, limits.catalogStartMs, lateStart)
    return worker
  }

  /** Whether it takes no more messages. */
  get ended(): boolean {
    return this.#ended
  }

  /** Runs statements of ours. @throws Fault `unavailable`; then it has ended */
  async perform(texts: readonly string[]): Promise<void> {
    await this.#ask({ kind: 'perform', texts }, limits.catalogLoadMs, () => unusable('loading took too long'))
  }

  /**
   * Runs a client's messages between `begin` and a rollback.
   * @returns what the database answered, an error among it
   * @throws StatementFailure, Fault `unavailable`; then it has ended
   */
  async statement(begin: string, frontend: Uint8Array, ms: number): Promise<Uint8Array> {
    const late = () => new StatementFailure('timeout')
    const answer = await this.#ask({ kind: 'statement', begin, frontend }, ms, late)
    if (answer.kind === 'answered') return answer.messages
    this.end()
    throw unusable(answer.kind)
  }

  /** Stops the thread, whatever it is doing; the database does not hear of time limits itself. */
  end(): void {
    this.#end(unusable('it was closed'))
  }

  async #ask(message: ToWorker, ms: number, late: () => Error): Promise<FromWorker> {
    if (this.#ended || this.#waiting !== undefined) throw unusable('it is not free')
    const { promise, resolve, reject } = Promise.withResolvers<FromWorker>()
    this.#waiting = { resolve, reject }
    const timer = setTimeout(() => this.#end(late()), ms)
    try {
      this.#worker.postMessage(message)
      return await promise
    } finally {
      clearTimeout(timer)
    }
  }

  #end(error: unknown, waiting = this.#waiting): void {
    this.#ended = true
    this.#waiting = undefined
    this.#worker.terminate()
    waiting?.reject(error)
  }
}

const lateStart = () => unusable('the start took too long')

function unusable(detail: string): Fault {
  return new Fault('unavailable', 'The catalog could not be read. Retry.', { detail: `catalog: ${detail}` })
}
