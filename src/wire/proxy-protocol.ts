/**
 * Reads the header of the PROXY protocol, version 1 or 2, in which a proxy names the client of a connection. It keeps
 * the client's address and skips extensions.
 */

import { isIPv4, isIPv6 } from 'node:net'

/** A header that no proxy sends: malformed, too long, or not there at all. */
export class ProxyHeaderError extends Error {
  override readonly name = 'ProxyHeaderError'
}

export interface ProxyHeader {
  /** The client's address. Undefined: the proxy speaks for itself, as in a health check, or names no client. */
  readonly address: string | undefined
  /** What arrived behind the header. */
  readonly rest: Uint8Array
}

const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
const textPrefix = Buffer.from('PROXY ', 'latin1')
/** Of version 1, with its line end. */
const textBytesMax = 107
/** Of version 2 before its addresses. */
const fixedBytes = 16
const portMax = 65_535

/** Takes a connection's first bytes in any pieces until the header is whole. */
export class ProxyHeaderReader {
  #held: Buffer<ArrayBuffer> = Buffer.alloc(0)
  #address: string | undefined
  /** Bytes of version 2 left to skip; undefined before its addresses were read. */
  #toSkip: number | undefined

  /**
   * Takes the next bytes.
   * @returns undefined until the header is whole
   * @throws ProxyHeaderError; the reader must not be used afterwards
   */
  push(chunk: Uint8Array): ProxyHeader | undefined {
    if (this.#toSkip !== undefined) return this.#skip(chunk)
    this.#held = Buffer.concat([this.#held, chunk])
    if (startsLike(this.#held, textPrefix)) return this.#readText()
    if (startsLike(this.#held, signature)) return this.#readBinary()
    throw new ProxyHeaderError('the connection does not begin with a PROXY protocol header')
  }

  #readText(): ProxyHeader | undefined {
    const end = this.#held.subarray(0, textBytesMax).indexOf('\r\n')
    if (end >= 0)
      return {
        address: textAddress(this.#held.toString('latin1', 0, end)),
        rest: this.#held.subarray(end + 2),
      }
    if (this.#held.length >= textBytesMax) throw new ProxyHeaderError('the header of version 1 is too long')
    return undefined
  }

  #readBinary(): ProxyHeader | undefined {
    const head = this.#held
    if (head.length < fixedBytes) return undefined
    const [versionAndCommand = 0, family = 0] = head.subarray(signature.length)
    const length = head.readUInt16BE(14)
    const addressBytes = addressBytesOf(versionAndCommand, family)
    if (length < addressBytes) throw new ProxyHeaderError('the header of version 2 is too short')
    if (head.length < fixedBytes + addressBytes) return undefined
    if (addressBytes > 0) this.#address = binaryAddress(head.subarray(fixedBytes), addressBytes)
    this.#toSkip = length
    this.#held = Buffer.alloc(0)
    return this.#skip(head.subarray(fixedBytes))
  }

  /** Drops the extensions as they arrive, because they may take 64 KiB. */
  #skip(chunk: Uint8Array): ProxyHeader | undefined {
    const toSkip = this.#toSkip ?? 0
    this.#toSkip = Math.max(toSkip - chunk.length, 0)
    return chunk.length < toSkip ? undefined : { address: this.#address, rest: chunk.subarray(toSkip) }
  }
}

/** Whether the bytes begin with the prefix, as far as they go. */
function startsLike(bytes: Buffer, prefix: Buffer): boolean {
  const length = Math.min(bytes.length, prefix.length)
  return bytes.subarray(0, length).equals(prefix.subarray(0, length))
}

/** The client's address in a line of version 1. */
function textAddress(line: string): string | undefined {
  // The rest of such a line is to be ignored.
  if (/^PROXY UNKNOWN( |$)/.test(line)) return undefined
  const [, family, source = '', target = '', ...ports] =
    /^PROXY (TCP4|TCP6) (\S+) (\S+) (\d{1,5}) (\d{1,5})$/.exec(line) ?? []
  const isAddress = family === 'TCP4' ? isIPv4 : isPlainIPv6
  const valid =
    family !== undefined &&
    isAddress(source) &&
    isAddress(target) &&
    ports.every((port) => Number(port) <= portMax)
  if (!valid) throw new ProxyHeaderError('the header of version 1 is malformed')
  return canonical(source)
}

/** Without a zone, which has a meaning on the proxy's machine only. */
const isPlainIPv6 = (text: string) => isIPv6(text) && !text.includes('%')

/** How many bytes the addresses take that are to be read. */
function addressBytesOf(versionAndCommand: number, family: number): number {
  if (versionAndCommand === 0x20) return 0
  if (versionAndCommand !== 0x21) throw new ProxyHeaderError('the header has an unknown version or command')
  switch (family) {
    case 0x11:
      return 12
    case 0x21:
      return 36
    case 0x00:
    case 0x31:
      return 0
    default:
      throw new ProxyHeaderError('the header names no TCP connection')
  }
}

/** The source, which comes first. */
function binaryAddress(addresses: Buffer, addressBytes: number): string {
  if (addressBytes === 12) return addresses.subarray(0, 4).join('.')
  const groups = Array.from({ length: 8 }, (_, index) => addresses.readUInt16BE(index * 2).toString(16))
  return canonical(groups.join(':'))
}

/** The one way to write an address, so that a client cannot pass for several. An IPv4 address is not mapped to IPv6. */
function canonical(address: string): string {
  if (isIPv4(address)) return address
  const short = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(short) ?? []
  if (high === undefined || low === undefined) return short
  return [high, low].flatMap((group) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 0xff]).join('.')
}
