/**
 * Bytes as they arrive, at any split, to whole messages. A length is judged before anything is kept for it,
 * and what is kept grows with what has arrived, never with what a client claims.
 */

import { ProtocolViolation } from './byte-reader.ts'
import { frontend } from './protocol.ts'

/** Bytes of a start-up packet, and of a password message but for its type, as PostgreSQL limits them: tokens are long. */
export const startupBytesMax = 10_000
export const passwordBytesMax = 65_535

const MiB = 1024 * 1024
/** Greatest body by message; a type that is not here is refused. */
const authenticationBytesMax: ReadonlyMap<number, number> = new Map([
  [frontend.password, passwordBytesMax - 4],
])
const sessionBytesMax: ReadonlyMap<number, number> = new Map([
  [frontend.query, MiB],
  [frontend.parse, MiB],
  [frontend.bind, 8 * MiB],
  [frontend.describe, 1024],
  [frontend.execute, 1024],
  [frontend.close, 1024],
  [frontend.sync, 0],
  [frontend.flush, 0],
  [frontend.terminate, 0],
  [frontend.functionCall, MiB],
  [frontend.copyData, MiB],
  [frontend.copyDone, 0],
  [frontend.copyFail, 64 * 1024],
])

export interface Frame {
  /** 0 for a start-up packet, which has no type byte. */
  readonly type: number
  /** Valid until the next `push`. */
  readonly body: Uint8Array
}

export type ReaderPhase = 'startup' | 'authentication' | 'session'

/** One for all connections: most have nothing waiting. */
const empty = Buffer.alloc(0)

export class FrameReader {
  phase: ReaderPhase = 'startup'
  #buffer: Buffer = empty
  #start = 0
  #end = 0

  /** Bytes that have arrived and make no message yet, or were not asked for. */
  get pendingBytes(): number {
    return this.#end - this.#start
  }

  push(chunk: Uint8Array): void {
    const pending = this.#end - this.#start
    if (pending === 0 && chunk.length > 0) {
      this.#buffer = Buffer.from(chunk)
      this.#start = 0
      this.#end = chunk.length
      return
    }
    if (this.#end + chunk.length > this.#buffer.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(pending + chunk.length, Math.min(pending * 2, 16 * MiB)))
      this.#buffer.copy(grown, 0, this.#start, this.#end)
      this.#buffer = grown
      this.#start = 0
      this.#end = pending
    }
    this.#buffer.set(chunk, this.#end)
    this.#end += chunk.length
  }

  /**
   * The next whole message; undefined until more bytes have arrived.
   * @throws ProtocolViolation for a type or a length that cannot be
   */
  next(): Frame | undefined {
    const found = this.#frameAt(this.#start)
    if (found === undefined) return undefined
    this.#start = found.end
    if (this.#start === this.#end) {
      this.#buffer = empty
      this.#start = 0
      this.#end = 0
    }
    return found.frame
  }

  /**
   * The whole messages that `next` will give of what has arrived, without taking them.
   * @throws ProtocolViolation as `next`, on its turn
   */
  *waiting(): Generator<Frame, void, undefined> {
    let start = this.#start
    for (;;) {
      const found = this.#frameAt(start)
      if (found === undefined) return
      start = found.end
      yield found.frame
    }
  }

  #frameAt(start: number): { readonly frame: Frame; readonly end: number } | undefined {
    const header = this.phase === 'startup' ? 0 : 1
    const available = this.#end - start
    if (header === 1 && available > 0) this.#bodyMax(this.#buffer.readUInt8(start))
    if (available < header + 4) return undefined
    const type = header === 0 ? 0 : this.#buffer.readUInt8(start)
    const length = this.#buffer.readInt32BE(start + header)
    // A start-up packet holds its version at least.
    if (length < (header === 0 ? 8 : 4) || length - 4 > this.#bodyMax(type))
      throw new ProtocolViolation('invalid message length')
    if (available < header + length) return undefined
    const end = start + header + length
    return { frame: { type, body: this.#buffer.subarray(start + header + 4, end) }, end }
  }

  #bodyMax(type: number): number {
    if (this.phase === 'startup') return startupBytesMax - 4
    const bytesMax = this.phase === 'authentication' ? authenticationBytesMax : sessionBytesMax
    const known = bytesMax.get(type)
    if (known === undefined) throw new ProtocolViolation('invalid frontend message type')
    return known
  }
}
