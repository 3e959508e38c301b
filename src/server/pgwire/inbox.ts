/** What has arrived from the client: messages one at a time, in order, and a brake on a client that runs ahead. */

import { limits } from '../../limits.ts'
import { type Frame, FrameReader, type ReaderPhase } from '../../wire/postgres/frame-reader.ts'

export interface Brake {
  pause(): void
  resume(): void
}

export class Inbox {
  readonly #reader = new FrameReader()
  #brake: Brake
  #paused = false
  #closed = false
  #interruption: Error | undefined
  #waiting: (() => void) | undefined

  constructor(brake: Brake) {
    this.#brake = brake
  }

  set phase(phase: ReaderPhase) {
    this.#reader.phase = phase
  }

  /** Bytes that nobody has asked for. */
  get pendingBytes(): number {
    return this.#reader.pendingBytes
  }

  redirect(brake: Brake): void {
    this.#brake = brake
  }

  push(chunk: Uint8Array): void {
    this.#reader.push(chunk)
    if (!this.#paused && this.#waiting === undefined && this.pendingBytes > limits.pgwireAheadBytesMax) {
      this.#paused = true
      this.#brake.pause()
    }
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
      if (this.#paused) {
        this.#paused = false
        this.#brake.resume()
      }
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
