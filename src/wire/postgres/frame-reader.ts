/**
 * Splits the bytes that arrive into whole messages. A message's length is checked before anything is buffered for it.
 * The buffer grows with the bytes that have arrived, never with the length that a client claims.
 */

import { ProtocolViolation } from './byte-reader.ts'
import { frontend } from './protocol.ts'

/** PostgreSQL's limits for a start-up packet, and for a password message without its type byte: tokens are long. */
const startupBytesMax = 10_000
export const passwordBytesMax = 65_535

const MiB = 1024 * 1024
/** The largest body of each message type; other types are refused. */
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

/** Shared by all connections, because most have no pending bytes. */
const empty = Buffer.alloc(0)

export class FrameReader {
  phase: ReaderPhase = 'startup'
  #buffer: Buffer = empty
  #start = 0
  #end = 0

  /** Bytes that have arrived and were not returned by `next`. */
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
   * @throws ProtocolViolation for an invalid type or length
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
   * The whole messages that have arrived, without consuming them.
   * @throws ProtocolViolation as `next`, when the iteration reaches the invalid message
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
    // A start-up packet has at least its version.
    if (length < (header === 0 ? 8 : 4) || length - 4 > this.#bodyMax(type))
      throw new ProtocolViolation('invalid message length')
    if (available < header + length) return undefined
    const end = start + header + length
    return { frame: { type, body: this.#buffer.subarray(start + header + 4, end) }, end }
  }

  #bodyMax(type: number): number {
    if (this.phase === 'startup') return startupBytesMax - 4
    const bytesMax = this.phase === 'authentication' ? authenticationBytesMax : sessionBytesMax
    const bodyMax = bytesMax.get(type)
    if (bodyMax === undefined) throw new ProtocolViolation('invalid frontend message type')
    return bodyMax
  }
}
