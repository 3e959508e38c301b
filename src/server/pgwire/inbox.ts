/**
 * What has arrived from the client: messages one at a time, in order. Reading never pauses, or the end of a
 * client that has sent much and left would go unheard; a client that runs too far ahead is cut off instead.
 */

import { limits } from '../../limits.ts'
import { type Frame, FrameReader, type ReaderPhase } from '../../wire/postgres/frame-reader.ts'

/** Bytes that may wait before the client is let in. */
const strangerBytesMax = 64 * 1024

export class Inbox {
  readonly #reader = new FrameReader()
  #closed = false
  #interruption: Error | undefined
  #waiting: PromiseWithResolvers<Frame | 'late' | undefined> | undefined
  /** When the wait is over; on performance.now()'s clock. */
  #deadlineMs = Number.POSITIVE_INFINITY
  /** Outlives its wait: one a connection, not one a message, since most waits end long before it. */
  #timer: Timer | undefined
  #timerMs = Number.POSITIVE_INFINITY

  /** @param onOverflow ends the connection of a client that is too far ahead */
  constructor(readonly onOverflow: () => void) {}

  set phase(phase: ReaderPhase) {
    this.#reader.phase = phase
  }

  /** Bytes that nobody has asked for. */
  get pendingBytes(): number {
    return this.#reader.pendingBytes
  }

  /** The whole messages that nobody has asked for, in order; each is valid until more arrives. */
  waiting(): Iterable<Frame> {
    return this.#reader.waiting()
  }

  push(chunk: Uint8Array): void {
    if (this.#closed) return
    const max = this.#reader.phase === 'session' ? limits.pgwireAheadBytesMax : strangerBytesMax
    if (this.pendingBytes + chunk.length > max) {
      this.onOverflow()
      return
    }
    this.#reader.push(chunk)
    this.#wake()
  }

  /** Whoever waits for a message hears this instead, now or the next time. */
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
   * The next message.
   * @param timeoutMs how long to wait for it; 0: as long as it takes
   * @returns undefined once the client is gone, `late` where the time is over
   * @throws ProtocolViolation; the reason of `interrupt`
   */
  receive(timeoutMs: number): Promise<Frame | 'late' | undefined> {
    // What waits for most of a connection's life is this one promise.
    const waiting = Promise.withResolvers<Frame | 'late' | undefined>()
    this.#waiting = waiting
    this.#deadlineMs = timeoutMs === 0 ? Number.POSITIVE_INFINITY : performance.now() + timeoutMs
    this.#wake()
    if (this.#waiting !== undefined) this.#watch()
    return waiting.promise
  }

  /** Has the timer go off when the wait is over, or before. */
  #watch(): void {
    if (this.#deadlineMs >= this.#timerMs || this.#deadlineMs === Number.POSITIVE_INFINITY) return
    clearTimeout(this.#timer)
    this.#timerMs = this.#deadlineMs
    this.#timer = setTimeout(
      () => {
        this.#timerMs = Number.POSITIVE_INFINITY
        if (this.#waiting === undefined) return
        if (performance.now() < this.#deadlineMs) this.#watch()
        else this.#settle('late')
      },
      Math.ceil(this.#deadlineMs - performance.now()),
    )
  }

  /** Answers whoever waits, where there is something to answer. */
  #wake(): void {
    const waiting = this.#waiting
    if (waiting === undefined) return
    try {
      if (this.#interruption !== undefined) throw this.#interruption
      const frame = this.#reader.next()
      if (frame !== undefined || this.#closed) this.#settle(frame)
    } catch (thrown) {
      this.#waiting = undefined
      waiting.reject(thrown)
    }
  }

  #settle(outcome: Frame | 'late' | undefined): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.resolve(outcome)
  }
}
