/**
 * Runs TLS from the first byte on (PostgreSQL 17's `sslnegotiation=direct`). The first bytes must be read to detect
 * it, so the handshake goes over a stream that receives the bytes already read.
 */

import { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'

/** First byte of a TLS handshake record. In a start-up packet it would mean a length of 370 million. */
export const tlsHandshake = 0x16
const protocolName = 'postgresql'

/** The part of the plain socket that sends ciphertext. */
interface CipherSink {
  /** @returns how many of the bytes were taken; negative where the socket is closed */
  write(bytes: Uint8Array): number
  end(): void
}

interface DirectTlsHandlers {
  readonly data: (chunk: Uint8Array) => void
  readonly drained: () => void
  readonly closed: () => void
}

export class DirectTls {
  readonly #stream: CipherStream
  readonly #socket: TLSSocket
  #blocked = false

  constructor(
    tls: { readonly cert: string; readonly key: string },
    sink: CipherSink,
    { data, drained, closed }: DirectTlsHandlers,
  ) {
    this.#stream = new CipherStream(sink)
    this.#socket = new TLSSocket(this.#stream as never, {
      ...tls,
      isServer: true,
      ALPNProtocols: [protocolName],
    })
    this.#socket.on('secure', () => {
      // Without the name, an attacker could redirect bytes of another protocol here (ALPACA).
      if (this.#socket.alpnProtocol !== protocolName) this.#socket.destroy()
    })
    this.#socket.on('data', data)
    this.#socket.on('drain', () => {
      this.#blocked = false
      drained()
    })
    this.#socket.on('error', closed)
    this.#socket.on('close', closed)
    this.#socket.on('end', closed)
  }

  /** Ciphertext that has arrived. */
  feed(chunk: Uint8Array): void {
    this.#stream.push(Buffer.from(chunk))
  }

  /** The plain socket takes bytes again. */
  sinkDrained(): void {
    this.#stream.drained()
  }

  write(bytes: Uint8Array): number {
    if (this.#blocked) return 0
    // Copied, because the stream holds the bytes until they are sent and the caller reuses its buffer.
    this.#blocked = !this.#socket.write(Buffer.from(bytes))
    return bytes.length
  }

  end(): void {
    this.#socket.end()
  }

  terminate(): void {
    this.#socket.destroy()
  }
}

class CipherStream extends Duplex {
  #unsent: { rest: Uint8Array; readonly done: () => void } | undefined

  constructor(readonly sink: CipherSink) {
    super()
  }

  override _read(): void {
    // Bytes are pushed as they arrive.
  }

  override _write(chunk: Uint8Array, _: string, done: () => void): void {
    this.#unsent = { rest: chunk, done }
    this.drained()
  }

  override _final(done: () => void): void {
    this.sink.end()
    done()
  }

  drained(): void {
    const unsent = this.#unsent
    if (unsent === undefined) return
    const count = Math.max(this.sink.write(unsent.rest), 0)
    unsent.rest = unsent.rest.subarray(count)
    if (unsent.rest.length > 0) return
    this.#unsent = undefined
    unsent.done()
  }
}
