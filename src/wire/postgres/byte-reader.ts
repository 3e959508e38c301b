/**
 * Reads the fields of one message. A malformed field is a protocol violation; text that is not UTF-8 is a ValueError.
 */

import { ValueError } from './value-error.ts'

/** The client broke the protocol. The connection ends (08P01), because later bytes cannot be interpreted. */
export class ProtocolViolation extends Error {
  override readonly name = 'ProtocolViolation'
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @throws ValueError 22021 for bytes that are not UTF-8 */
function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new ValueError('22021', 'invalid byte sequence for encoding "UTF8"')
  }
}

export class ByteReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  get remaining(): number {
    return this.#bytes.length - this.#at
  }

  byte(): number {
    return this.#bytes.readUInt8(this.#advance(1))
  }

  int16(): number {
    return this.#bytes.readInt16BE(this.#advance(2))
  }

  /** Reads a count, which PostgreSQL treats as unsigned. */
  uint16(): number {
    return this.#bytes.readUInt16BE(this.#advance(2))
  }

  int32(): number {
    return this.#bytes.readInt32BE(this.#advance(4))
  }

  uint32(): number {
    return this.#bytes.readUInt32BE(this.#advance(4))
  }

  bytes(count: number): Uint8Array {
    const start = this.#advance(count)
    return this.#bytes.subarray(start, start + count)
  }

  rest(): Uint8Array {
    return this.bytes(this.remaining)
  }

  /** @throws ValueError 22021 for text that is not UTF-8 */
  cstring(): string {
    const end = this.#bytes.indexOf(0, this.#at)
    if (end < 0) throw new ProtocolViolation('invalid string in message')
    const text = decodeUtf8(this.#bytes.subarray(this.#at, end))
    this.#at = end + 1
    return text
  }

  /** @throws ProtocolViolation where anything is left over */
  end(): void {
    if (this.remaining !== 0) throw new ProtocolViolation('invalid message format')
  }

  #advance(count: number): number {
    if (count < 0 || count > this.remaining) throw new ProtocolViolation('insufficient data left in message')
    const start = this.#at
    this.#at += count
    return start
  }
}
