/**
 * Writes messages into one growing buffer that is reused. The length of a message or value is filled in once it is
 * known, so that nothing is allocated per message, row or value.
 */

const capacityInitial = 512
/** An idle writer releases a larger buffer. */
const capacityKept = 4096

export class MessageWriter {
  bytes: Buffer = Buffer.allocUnsafeSlow(capacityInitial)
  length = 0
  /** Index of the current message's length. */
  #messageAt = 0

  /** Makes room for `count` more bytes. */
  ensure(count: number): void {
    const needed = this.length + count
    if (needed <= this.bytes.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, needed))
    this.bytes.copy(grown, 0, 0, this.length)
    this.bytes = grown
  }

  /** Begins a message; `end` completes it. */
  begin(type: number): void {
    this.ensure(5)
    this.bytes[this.length++] = type
    this.#messageAt = this.length
    this.length += 4
  }

  end(): void {
    this.bytes.writeInt32BE(this.length - this.#messageAt, this.#messageAt)
  }

  /** Leaves room for a length that does not include itself. @returns its index, for `closeLength` */
  openLength(): number {
    this.ensure(4)
    const at = this.length
    this.length += 4
    return at
  }

  closeLength(at: number): void {
    this.bytes.writeInt32BE(this.length - at - 4, at)
  }

  byte(value: number): void {
    this.ensure(1)
    this.bytes[this.length++] = value
  }

  int16(value: number): void {
    this.ensure(2)
    this.length = this.bytes.writeInt16BE(value, this.length)
  }

  uint16(value: number): void {
    this.ensure(2)
    this.length = this.bytes.writeUInt16BE(value, this.length)
  }

  int32(value: number): void {
    this.ensure(4)
    this.length = this.bytes.writeInt32BE(value, this.length)
  }

  uint32(value: number): void {
    this.ensure(4)
    this.length = this.bytes.writeUInt32BE(value, this.length)
  }

  int64(value: bigint): void {
    this.ensure(8)
    this.length = this.bytes.writeBigInt64BE(value, this.length)
  }

  /** Characters that are known to be ASCII. */
  ascii(text: string): void {
    this.ensure(text.length)
    for (let index = 0; index < text.length; index++) this.bytes[this.length++] = text.charCodeAt(index)
  }

  utf8(text: string): void {
    this.ensure(text.length * 3)
    if (text.length > 24) {
      this.length += this.bytes.write(text, this.length, 'utf8')
      return
    }
    const { bytes } = this
    let at = this.length
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      if (code > 0x7f) {
        this.length += bytes.write(text, this.length, 'utf8')
        return
      }
      bytes[at++] = code
    }
    this.length = at
  }

  /** Writes a string and its terminating zero byte; text behind a zero byte inside it is cut off. */
  cstring(text: string): void {
    const zero = text.indexOf('\0')
    this.utf8(zero < 0 ? text : text.slice(0, zero))
    this.byte(0)
  }

  raw(bytes: Uint8Array): void {
    this.ensure(bytes.length)
    this.bytes.set(bytes, this.length)
    this.length += bytes.length
  }

  /** The bytes written so far; valid until the next change. */
  view(): Uint8Array {
    return this.bytes.subarray(0, this.length)
  }

  /** Removes what was written after `length`. */
  truncate(length: number): void {
    this.length = length
  }

  /** Removes everything. @param idle whether to release a large buffer */
  clear(idle = false): void {
    this.length = 0
    if (idle && this.bytes.length > capacityKept) this.bytes = Buffer.allocUnsafeSlow(capacityInitial)
  }
}
