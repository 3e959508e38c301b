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
  #waiting: (() => void) | undefined

  /** @param onOverflow ends the connection of a client that is too far ahead */
  constructor(readonly onOverflow: () => void) {}

  set phase(phase: ReaderPhase) {
    this.#reader.phase = phase
  }

  /** Bytes that nobody has asked for. */
  get pendingBytes(): number {
    return this.#reader.pendingBytes
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
    this.#wake()
  }

  /**
   * The next message.
   * @param timeoutMs how long to wait for it; 0: as long as it takes
   * @returns undefined once the client is gone, `late` where the time is over
   * @throws ProtocolViolation; the reason of `interrupt`
   */
  async receive(timeoutMs: number): Promise<Frame | 'late' | undefined> {
    const deadlineMs = timeoutMs === 0 ? Number.POSITIVE_INFINITY : performance.now() + timeoutMs
    for (;;) {
      if (this.#interruption !== undefined) throw this.#interruption
      const frame = this.#reader.next()
      if (frame !== undefined) return frame
      if (this.#closed) return undefined
      const leftMs = deadlineMs - performance.now()
      if (leftMs <= 0) return 'late'
      await this.#arrival(leftMs)
    }
  }

  #arrival(leftMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = Number.isFinite(leftMs) ? setTimeout(resolve, Math.ceil(leftMs)) : undefined
      this.#waiting = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.()
  }
}
