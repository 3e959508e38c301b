/**
 * Reads HTTP/1.1 requests from raw bytes, however they are split. It is strict where two readers could disagree about
 * where a request ends: one length, CRLF line ends, no folded headers. It does no I/O.
 */

export interface RequestHead {
  readonly method: string
  readonly target: string
  /** Of HTTP/1. */
  readonly minor: 0 | 1
  /** By name in lower case. A header that was sent several times is joined by commas. */
  readonly headers: ReadonlyMap<string, string>
  readonly keepAlive: boolean
  /** Whether the client waits for `100 Continue` before it sends the body. */
  readonly expectsContinue: boolean
}

export interface HttpRequest extends RequestHead {
  readonly body: Uint8Array
}

interface HttpBounds {
  readonly headBytesMax: number
  readonly headersMax: number
  readonly bodyBytesMax: number
}

/** A request that cannot be read. What follows it on the connection cannot be read either. */
export class HttpViolation extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
  }
}

type Framing = { readonly kind: 'length'; rest: number } | { readonly kind: 'chunked'; rest: ChunkRest }
/** Bytes of the chunk that are still to come, or what else comes next. */
type ChunkRest = number | 'size' | 'chunk end' | 'trailers'

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** Printable characters and tabs; bytes above 127 are opaque. */
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/
const chunkLineBytesMax = 256
const trailerBytesMax = 8_192
const bodyBytesMin = 4_096

export class HttpRequestReader {
  readonly #bounds: HttpBounds
  #pending: Buffer = Buffer.alloc(0)
  #searched = 0
  #head: RequestHead | undefined
  #framing: Framing | undefined
  #trailerBytes = 0
  /** Grows by doubling, because a client may send single bytes. */
  #body: Buffer = Buffer.alloc(0)
  #bodyBytes = 0

  constructor(bounds: HttpBounds) {
    this.#bounds = bounds
  }

  /** Bytes that were pushed and belong to no complete request yet. */
  get heldBytes(): number {
    return this.#pending.length + this.#bodyBytes
  }

  /** The head of the request whose body is still arriving. */
  get head(): RequestHead | undefined {
    return this.#head
  }

  /** Whether no request has begun to arrive. */
  get isIdle(): boolean {
    return this.#head === undefined && this.#pending.length === 0
  }

  push(chunk: Uint8Array): void {
    this.#pending = this.#pending.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#pending, chunk])
  }

  /** The next complete request; undefined where more bytes are needed. @throws HttpViolation */
  next(): HttpRequest | undefined {
    if (this.#head === undefined) {
      const text = this.#headText()
      if (text === undefined) return undefined
      const { framing, ...head } = parseHead(text, this.#bounds)
      this.#head = head
      this.#framing = framing
    }
    if (!this.#readBody()) return undefined
    const request = { ...this.#head, body: this.#body.subarray(0, this.#bodyBytes) }
    this.#head = undefined
    this.#framing = undefined
    this.#body = Buffer.alloc(0)
    this.#bodyBytes = 0
    this.#trailerBytes = 0
    return request
  }

  #headText(): string | undefined {
    // An empty line before a request is left over from the one before it.
    while (this.#pending[0] === 0x0d && this.#pending[1] === 0x0a) this.#skip(2)
    const end = this.#pending.indexOf('\r\n\r\n', Math.max(this.#searched - 3, 0))
    if ((end < 0 ? this.#pending.length : end) > this.#bounds.headBytesMax)
      throw new HttpViolation(431, 'The head of the request is too large.')
    this.#searched = this.#pending.length
    if (end < 0) return undefined
    const text = this.#pending.toString('latin1', 0, end)
    this.#skip(end + 4)
    return text
  }

  /** @returns whether the body is complete */
  #readBody(): boolean {
    const framing = this.#framing
    if (framing === undefined) return true
    if (framing.kind === 'length') {
      framing.rest -= this.#takeBody(framing.rest)
      return framing.rest === 0
    }
    for (;;) {
      if (typeof framing.rest === 'number') {
        framing.rest -= this.#takeBody(framing.rest)
        if (framing.rest > 0) return false
        framing.rest = 'chunk end'
      }
      const line = this.#line(framing.rest === 'trailers' ? trailerBytesMax : chunkLineBytesMax)
      if (line === undefined) return false
      switch (framing.rest) {
        case 'size':
          framing.rest = this.#chunkSize(line) || 'trailers'
          break
        case 'chunk end':
          if (line !== '') throw new HttpViolation(400, 'A chunk does not end where its size says.')
          framing.rest = 'size'
          break
        case 'trailers':
          this.#trailerBytes += line.length
          if (this.#trailerBytes > trailerBytesMax)
            throw new HttpViolation(431, 'The trailers are too large.')
          if (line === '') return true
      }
    }
  }

  #chunkSize(line: string): number {
    const digits = /^([0-9a-f]{1,8})[\t ]*(?:;.*)?$/i.exec(line)?.[1]
    if (digits === undefined) throw new HttpViolation(400, 'The size of a chunk cannot be read.')
    const size = Number.parseInt(digits, 16)
    if (this.#bodyBytes + size > this.#bounds.bodyBytesMax) throw tooLarge()
    return size
  }

  /** Takes up to this many bytes of the body. @returns how many there were */
  #takeBody(bytesMax: number): number {
    const count = Math.min(bytesMax, this.#pending.length)
    if (count === 0) return 0
    if (this.#bodyBytes + count > this.#body.length) {
      const larger = Buffer.alloc(Math.max(this.#bodyBytes + count, 2 * this.#body.length, bodyBytesMin))
      this.#body.copy(larger, 0, 0, this.#bodyBytes)
      this.#body = larger
    }
    this.#pending.copy(this.#body, this.#bodyBytes, 0, count)
    this.#bodyBytes += count
    this.#skip(count)
    return count
  }

  #line(bytesMax: number): string | undefined {
    const end = this.#pending.indexOf('\r\n')
    if ((end < 0 ? this.#pending.length : end) > bytesMax)
      throw new HttpViolation(400, 'A line between chunks is too long.')
    if (end < 0) return undefined
    const line = this.#pending.toString('latin1', 0, end)
    this.#skip(end + 2)
    return line
  }

  #skip(count: number): void {
    this.#pending = this.#pending.subarray(count)
    this.#searched = 0
  }
}

function tooLarge(): HttpViolation {
  return new HttpViolation(413, 'The body of the request is too large.')
}

function parseHead(
  text: string,
  bounds: HttpBounds,
): RequestHead & { readonly framing: Framing | undefined } {
  const [line = '', ...fields] = text.split('\r\n')
  const [, method = '', target = '', minorText] =
    /^([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,32}) ([\x21-\x7e]+) HTTP\/1\.([01])$/.exec(line) ?? []
  if (method === '')
    throw / HTTP\/[02-9]/.test(line)
      ? new HttpViolation(505, 'Only HTTP/1.0 and HTTP/1.1 are served here.')
      : new HttpViolation(400, 'The first line of the request cannot be read.')
  if (fields.length > bounds.headersMax) throw new HttpViolation(431, 'The request has too many headers.')
  const minor = minorText === '1' ? 1 : 0
  const headers = headersOf(fields)
  if (minor === 1 && !headers.has('host')) throw new HttpViolation(400, 'The header `Host` is missing.')
  const connection = new Set((headers.get('connection') ?? '').toLowerCase().split(/[\t ,]+/))
  const expectation = headers.get('expect')?.toLowerCase()
  if (expectation !== undefined && expectation !== '100-continue')
    throw new HttpViolation(417, 'Only `Expect: 100-continue` is served.')
  const framing = framingOf(headers, bounds)
  return {
    ...{ method, target, minor, headers, framing },
    keepAlive: minor === 1 ? !connection.has('close') : connection.has('keep-alive'),
    expectsContinue: expectation !== undefined && minor === 1 && framing !== undefined,
  }
}

/** Sent twice, these would be read in two ways. */
const single = new Set(['content-length', 'host', 'authorization', 'content-encoding', 'transfer-encoding'])

function headersOf(fields: readonly string[]): ReadonlyMap<string, string> {
  const headers = new Map<string, string>()
  for (const field of fields) {
    const colon = field.indexOf(':')
    const name = field.slice(0, colon).toLowerCase()
    const value = field.slice(colon + 1).replace(/^[\t ]+|[\t ]+$/g, '')
    if (colon <= 0 || !token.test(name) || !fieldValue.test(value))
      throw new HttpViolation(400, 'A header of the request cannot be read.')
    const before = headers.get(name)
    if (before !== undefined && single.has(name))
      throw new HttpViolation(400, `The header \`${name}\` was sent twice.`)
    headers.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  return headers
}

function framingOf(headers: ReadonlyMap<string, string>, { bodyBytesMax }: HttpBounds): Framing | undefined {
  const length = headers.get('content-length')
  const coding = headers.get('transfer-encoding')?.toLowerCase()
  if (coding !== undefined) {
    if (length !== undefined) throw new HttpViolation(400, 'The request has two lengths.')
    if (coding !== 'chunked') throw new HttpViolation(501, 'Only the transfer encoding `chunked` is served.')
    return { kind: 'chunked', rest: 'size' }
  }
  if (length === undefined) return undefined
  if (!/^\d{1,15}$/.test(length)) throw new HttpViolation(400, 'The length of the body cannot be read.')
  if (Number(length) > bodyBytesMax) throw tooLarge()
  return { kind: 'length', rest: Number(length) }
}
