/** Drives one Worker with a database: one message at a time, each with a time limit. Any failure ends the Worker. */

import type { ByteReservation } from '../../../base/byte-work.ts'
import { Fault } from '../../../base/fault.ts'
import type { CatalogWorkerRequest, CatalogWorkerResult } from './worker-protocol.ts'

/** Milliseconds for starting a catalog database. */
const catalogStartMs = 60_000

/** Milliseconds for loading its tables. */
const catalogLoadMs = 60_000

/** A failure that the client's own statement caused, so the client learns the reason. */
export class StatementFailure extends Error {
  constructor(
    readonly reason: 'timeout' | 'too-large',
    cause?: unknown,
  ) {
    super(reason, { cause })
  }
}

interface Waiting {
  resolve(message: CatalogWorkerResult): void
  reject(error: unknown): void
}

export class CatalogWorker {
  readonly #worker = new Worker(new URL('./worker.ts', import.meta.url))
  #waiting: Waiting | undefined
  #ended = false

  /** @param held what the thread takes of the memory budget; released when it ends */
  private constructor(private readonly held: ByteReservation | undefined) {
    this.#worker.addEventListener('message', ({ data }: MessageEvent<CatalogWorkerResult>) => {
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

  /** Builds the snapshot of a new database, from which others start. @throws Fault `unavailable` */
  static async buildSnapshot(held?: ByteReservation): Promise<ArrayBuffer> {
    const builder = new CatalogWorker(held)
    try {
      const answer = await builder.#ask({ kind: 'build' }, catalogStartMs, lateStart)
      if (answer.kind !== 'built') throw unusable(answer.kind)
      return answer.snapshot
    } finally {
      builder.end()
    }
  }

  /** @throws Fault `unavailable` where the database does not start */
  static async open(snapshot: ArrayBuffer, held?: ByteReservation): Promise<CatalogWorker> {
    const worker = new CatalogWorker(held)
    await worker.#ask({ kind: 'open', snapshot }, catalogStartMs, lateStart)
    return worker
  }

  /** Whether it takes no more messages. */
  get ended(): boolean {
    return this.#ended
  }

  /** Runs statements of ours. @throws Fault `unavailable`; the Worker has ended then */
  async perform(texts: readonly string[]): Promise<void> {
    await this.#ask({ kind: 'perform', texts }, catalogLoadMs, () => unusable('loading took too long'))
  }

  /**
   * Runs a client's messages between `begin` and a rollback.
   * @returns the database's messages, which may hold an error
   * @throws StatementFailure, or Fault `unavailable`; the Worker has ended then
   */
  async statement(begin: string, frontend: Uint8Array, ms: number): Promise<Uint8Array> {
    const late = () => new StatementFailure('timeout')
    const answer = await this.#ask({ kind: 'statement', begin, frontend }, ms, late)
    if (answer.kind === 'answered') return answer.messages
    this.end()
    throw unusable(answer.kind)
  }

  /** Stops the thread at any point, because the database enforces no time limits itself. */
  end(): void {
    this.#end(unusable('it was closed'))
  }

  async #ask(message: CatalogWorkerRequest, ms: number, late: () => Error): Promise<CatalogWorkerResult> {
    if (this.#ended || this.#waiting !== undefined) throw unusable('it is not free')
    const { promise, resolve, reject } = Promise.withResolvers<CatalogWorkerResult>()
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
    this.held?.release()
    waiting?.reject(error)
  }
}

const lateStart = () => unusable('the start took too long')

function unusable(detail: string): Fault {
  return new Fault('unavailable', 'The catalog could not be read. Retry.', { detail: `catalog: ${detail}` })
}
