/**
 * Receives the client's messages, one at a time and in order. Reading never pauses, because a client that sent much
 * and disconnected would go unnoticed. Instead, a client that sends too much before it is answered is disconnected.
 */

import { type Frame, FrameReader, type ReaderPhase } from '../../wire/postgres/frame-reader.ts'

/** Bytes that a client may pipeline; one message may have 8 MiB. */
const pgwireAheadBytesMax = 16 * 1024 * 1024

/** Bytes that may wait before the client is authenticated. */
const strangerBytesMax = 64 * 1024

export class Inbox {
  readonly #reader = new FrameReader()
  #closed = false
  #interruption: Error | undefined
  #waiting: PromiseWithResolvers<Frame | 'late' | undefined> | undefined
  /** When the wait times out, on performance.now()'s clock. */
  #deadlineMs = Number.POSITIVE_INFINITY
  /** Shared by all waits of the connection, because most end long before a timer would fire. */
  #timer: Timer | undefined
  #timerMs = Number.POSITIVE_INFINITY

  /** @param onOverflow ends the connection of a client that sent too much */
  constructor(readonly onOverflow: () => void) {}

  set phase(phase: ReaderPhase) {
    this.#reader.phase = phase
  }

  /** Bytes that arrived and were not received by the session yet. */
  get pendingBytes(): number {
    return this.#reader.pendingBytes
  }

  /** The complete messages not received by the session yet, in order. Each is valid until more bytes arrive. */
  waiting(): Iterable<Frame> {
    return this.#reader.waiting()
  }

  push(chunk: Uint8Array): void {
    if (this.#closed) return
    const max = this.#reader.phase === 'session' ? pgwireAheadBytesMax : strangerBytesMax
    if (this.pendingBytes + chunk.length > max) {
      this.onOverflow()
      return
    }
    this.#reader.push(chunk)
    this.#wake()
  }

  /** Makes the current or the next `receive` reject with this reason. */
  interrupt(reason: Error): void {
    this.#interruption = reason
    this.#wake()
  }

  closed(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#wake()
  }

  /**
   * Waits for the next message.
   * @param timeoutMs 0: no timeout
   * @returns undefined once the client has disconnected, `late` after the timeout
   * @throws ProtocolViolation; the reason of `interrupt`
   */
  receive(timeoutMs: number): Promise<Frame | 'late' | undefined> {
    // A single promise, because an idle connection spends most of its life in this wait.
    const waiting = Promise.withResolvers<Frame | 'late' | undefined>()
    this.#waiting = waiting
    this.#deadlineMs = timeoutMs === 0 ? Number.POSITIVE_INFINITY : performance.now() + timeoutMs
    this.#wake()
    if (this.#waiting !== undefined) this.#watch()
    return waiting.promise
  }

  /** Sets the timer to fire at the wait's deadline, or before. */
  #watch(): void {
    if (this.#deadlineMs >= this.#timerMs || this.#deadlineMs === Number.POSITIVE_INFINITY) return
    clearTimeout(this.#timer)
    this.#timerMs = this.#deadlineMs
    this.#timer = setTimeout(
      () => {
        this.#timerMs = Number.POSITIVE_INFINITY
        if (this.#waiting === undefined) return
        if (performance.now() < this.#deadlineMs) this.#watch()
        else this.#resolve('late')
      },
      Math.ceil(this.#deadlineMs - performance.now()),
    )
  }

  /** Ends the wait, where a message, an interruption or the end has arrived. */
  #wake(): void {
    const waiting = this.#waiting
    if (waiting === undefined) return
    try {
      if (this.#interruption !== undefined) throw this.#interruption
      const frame = this.#reader.next()
      if (frame !== undefined || this.#closed) this.#resolve(frame)
    } catch (thrown) {
      this.#waiting = undefined
      waiting.reject(thrown)
    }
  }

  #resolve(received: Frame | 'late' | undefined): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.resolve(received)
  }
}
