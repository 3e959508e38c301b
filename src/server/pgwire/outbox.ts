/**
 * Sends messages to the client. They are written into one buffer, which is reused only when the socket has taken
 * all of it. So a client that does not read occupies one buffer and no more.
 */

import { limits } from '../../limits.ts'
import { MessageWriter } from '../../wire/postgres/message-writer.ts'
import { ConnectionClosed } from './wire-error.ts'

/** The part of the socket that sends. */
interface Sink {
  /** @returns how many of the bytes were taken; negative where the socket is closed */
  write(bytes: Uint8Array): number
}

export class Outbox {
  readonly writer = new MessageWriter()
  /** Bytes that the socket has taken. */
  sentBytes = 0
  /** Milliseconds spent waiting for the client to read. */
  waitedMs = 0
  #sink: Sink
  #closed = false
  /** Must resolve before anything is sent. */
  #gate: Promise<void> | undefined
  #unsent: { rest: Uint8Array; readonly done: PromiseWithResolvers<void> } | undefined

  constructor(sink: Sink) {
    this.#sink = sink
  }

  /** Sends through another socket from now on, as after the change to TLS. The outbox must be flushed before. */
  redirect(sink: Sink): void {
    this.#sink = sink
  }

  /** Holds back messages until `condition` resolves. Where it rejects, they are dropped. */
  sendOnlyIf(condition: Promise<void>): void {
    // The next flush handles the rejection, and that may be later.
    condition.catch(() => {})
    const before = this.#gate
    this.#gate = before === undefined ? condition : before.then(() => condition)
    this.#gate.catch(() => {})
  }

  get isFull(): boolean {
    return this.writer.length >= limits.pgwireWriteBytes
  }

  /** Bytes encoded and not taken yet. */
  get heldBytes(): number {
    return this.#unsent?.rest.length ?? this.writer.length
  }

  /**
   * Sends everything written and resolves when the socket has taken it.
   * @param idle whether nothing more is expected soon, so that a large buffer is freed
   * @throws ConnectionClosed; the rejection of a `sendOnlyIf` condition
   */
  async flush(idle = false): Promise<void> {
    await this.#passGate()
    if (this.#unsent !== undefined) await this.#unsent.done.promise
    if (this.#closed) throw new ConnectionClosed()
    if (this.writer.length > 0) {
      const done = Promise.withResolvers<void>()
      this.#unsent = { rest: this.writer.view(), done }
      this.#push()
      if (this.#unsent !== undefined) {
        const startedMs = performance.now()
        await done.promise.finally(() => {
          this.waitedMs += performance.now() - startedMs
        })
      }
    }
    this.writer.clear(idle)
  }

  async #passGate(): Promise<void> {
    const gate = this.#gate
    if (gate === undefined) return
    try {
      await gate
    } catch (thrown) {
      this.#gate = undefined
      this.writer.clear()
      throw thrown
    }
    if (this.#gate === gate) this.#gate = undefined
  }

  /** The socket takes bytes again. */
  drained(): void {
    this.#push()
  }

  closed(): void {
    this.#closed = true
    const unsent = this.#unsent
    this.#unsent = undefined
    // The caller may have stopped waiting, and then the rejection has no other handler.
    unsent?.done.promise.catch(() => {})
    unsent?.done.reject(new ConnectionClosed())
  }

  #push(): void {
    const unsent = this.#unsent
    if (unsent === undefined || this.#closed) return
    const count = this.#sink.write(unsent.rest)
    if (count < 0) return
    this.sentBytes += count
    unsent.rest = unsent.rest.subarray(count)
    if (unsent.rest.length > 0) return
    this.#unsent = undefined
    unsent.done.resolve()
  }
}
