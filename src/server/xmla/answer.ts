/**
 * Sends one answer: collected while it is small, so that it has a length; else in chunks, each as soon as the client
 * has taken the one before. Gzip works in a thread of the runtime.
 */

import { once } from 'node:events'
import { createGzip, type Gzip, gzipSync } from 'node:zlib'
import type { RequestHead } from '../../wire/soap/http-request.ts'
import { acceptsGzip, lastChunk, writeChunk, writeHead } from '../../wire/soap/http-response.ts'
import type { Connection } from './connection.ts'

/** Both families of the negotiation: neither binary XML nor compression of its own kind. */
export const negotiationHeaders = {
  'X-Transport-Caps-Negotiation-Flags': '0,0,0,0,0',
  'x-ms-xmlacaps-negotiation-flags': '0,0,0,0,0',
} as const

/** Answers below this many bytes are not worth compressing. */
const gzipBytesMin = 1_024

export class Answer {
  readonly keepAlive: boolean
  readonly #connection: Connection
  readonly #head: RequestHead
  #text: string[] = []
  #chars = 0
  #headers: Readonly<Record<string, string>> = {}
  #gzip: Gzip | undefined
  #compressed: Uint8Array[] = []
  #hasSent = false
  /** Counts characters written, for the meter. */
  chars = 0

  constructor(connection: Connection, head: RequestHead) {
    this.#connection = connection
    this.#head = head
    this.keepAlive = head.keepAlive
  }

  /** Whether bytes have been sent, so that the answer can no longer become a fault. */
  get hasSent(): boolean {
    return this.#hasSent
  }

  /** Sets the headers of the session that answers. */
  session(id: string): void {
    this.#headers = { 'X-AS-SessionID': id, 'x-ms-xmlasession-id': id }
  }

  /** Drops what was written and not sent. */
  clear(): void {
    this.#text = []
    this.#chars = 0
  }

  /** Writes a piece. It waits only when many have come together. @throws ConnectionClosed */
  async write(text: string): Promise<void> {
    this.#text.push(text)
    this.#chars += text.length
    this.chars += text.length
    if (this.#chars >= this.#connection.bounds.writeBytes) await this.#flush()
  }

  /** Sends the rest. @throws ConnectionClosed */
  async end(): Promise<void> {
    if (this.#hasSent) {
      await this.#flush()
      if (this.#gzip !== undefined) {
        this.#gzip.end()
        await once(this.#gzip, 'end')
        await this.#sendCompressed()
      }
      if (this.#isChunked) await this.#connection.send(lastChunk)
      return
    }
    const plain = this.#take()
    const isCompressed = plain.length >= gzipBytesMin && this.#takesGzip
    const body = isCompressed ? gzipSync(plain) : plain
    const head = this.#headBytes(200, { length: body.length }, isCompressed)
    this.#hasSent = true
    await this.#connection.send(Buffer.concat([head, body]))
  }

  /** Sends a plain answer of another status, without a body. @throws ConnectionClosed */
  async refuse(status: number, headers: Readonly<Record<string, string>>, keepAlive: boolean): Promise<void> {
    const head = writeHead({
      ...{ status, keepAlive: keepAlive && this.keepAlive, framing: { length: 0 } },
      headers: { ...negotiationHeaders, ...headers },
    })
    await this.#connection.send(head)
  }

  get #takesGzip(): boolean {
    return acceptsGzip(this.#head.headers.get('accept-encoding'))
  }

  get #isChunked(): boolean {
    return this.#head.minor === 1
  }

  #headBytes(status: number, length: { readonly length: number } | undefined, isCompressed: boolean) {
    return writeHead({
      status,
      keepAlive: this.keepAlive,
      framing: length ?? (this.#isChunked ? 'chunked' : 'until close'),
      headers: {
        'Content-Type': 'text/xml; charset=utf-8',
        'Cache-Control': 'no-store',
        'X-Content-Type-Options': 'nosniff',
        ...(isCompressed && { 'Content-Encoding': 'gzip' }),
        ...negotiationHeaders,
        ...this.#headers,
      },
    })
  }

  #take(): Buffer {
    const bytes = Buffer.from(this.#text.join(''))
    this.clear()
    return bytes
  }

  async #flush(): Promise<void> {
    const bytes = this.#take()
    if (!this.#hasSent) {
      this.#hasSent = true
      if (this.#takesGzip) this.#gzip = this.#openGzip()
      await this.#connection.send(this.#headBytes(200, undefined, this.#gzip !== undefined))
    }
    const { gzip } = { gzip: this.#gzip }
    if (gzip === undefined) return await this.#sendPart(bytes)
    await new Promise<void>((resolve, reject) => {
      gzip.write(bytes, (error) => (error ? reject(error) : resolve()))
    })
    await this.#sendCompressed()
  }

  #openGzip(): Gzip {
    const gzip = createGzip({ level: 4 })
    gzip.on('data', (part: Uint8Array) => this.#compressed.push(part))
    return gzip
  }

  async #sendCompressed(): Promise<void> {
    const parts = this.#compressed
    this.#compressed = []
    if (parts.length > 0) await this.#sendPart(Buffer.concat(parts))
  }

  async #sendPart(bytes: Uint8Array): Promise<void> {
    await this.#connection.send(this.#isChunked ? writeChunk(bytes) : bytes)
  }
}
