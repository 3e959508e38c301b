/**
 * A client of the PostgreSQL protocol that reads only the headers of messages, and counts rows and bytes. Its own cost
 * is about the same for every server.
 */

import type { Socket } from 'bun'
import { frames } from '../test/support/wire-client.ts'

export interface ServerAddress {
  readonly port: number
  readonly database: string
  readonly user: string
  readonly password: string
}

/** Counts what the server sent between a request and ReadyForQuery. */
export interface Counted {
  readonly rows: number
  readonly bytes: number
}

const headBytes = 5
/** Bytes that are stored of an error or similar message. */
const keptBytesMax = 500
const [authentication, dataRow, errorResponse, readyForQuery] = [...'RDEZ'].map((type) => type.charCodeAt(0))

export class RawClient {
  readonly #head = Buffer.alloc(headBytes)
  #headLength = 0
  /** Bytes of the current message that have not arrived. */
  #left = 0
  #kept: Buffer[] = []
  #rows = 0
  #bytes = 0
  #error: string | undefined
  #pending: PromiseWithResolvers<Counted> | undefined
  #socket: Socket<undefined> | undefined
  readonly #closed = Promise.withResolvers<void>()

  private constructor(readonly password: string) {}

  /** Connects and waits until the server is ready. Throws an Error with the server's message. */
  static async connect({ port, database, user, password }: ServerAddress): Promise<RawClient> {
    const client = new RawClient(password)
    client.#socket = await Bun.connect({
      hostname: '127.0.0.1',
      port,
      socket: {
        data: (_, chunk) => client.#feed(chunk),
        close() {
          client.#closed.resolve()
          client.#pending?.reject(new Error(client.#error ?? 'the server closed the connection'))
        },
      },
    })
    await client.ask(frames.startup({ user, database }))
    return client
  }

  /** Sends messages and waits for ReadyForQuery. Throws an Error with the server's message. */
  ask(...messages: readonly Uint8Array[]): Promise<Counted> {
    this.#pending = Promise.withResolvers()
    this.#rows = 0
    this.#bytes = 0
    this.#error = undefined
    this.#socket?.write(messages.length === 1 ? (messages[0] as Uint8Array) : Buffer.concat(messages))
    return this.#pending.promise
  }

  /** Sends Terminate. Resolves when the server has closed the connection. */
  close(): Promise<void> {
    this.#pending = undefined
    this.#socket?.write(frames.terminate())
    return this.#closed.promise
  }

  #feed(chunk: Buffer): void {
    this.#bytes += chunk.length
    let at = 0
    while (at < chunk.length) {
      if (this.#left === 0) {
        const taken = Math.min(headBytes - this.#headLength, chunk.length - at)
        this.#head.set(chunk.subarray(at, at + taken), this.#headLength)
        this.#headLength += taken
        at += taken
        if (this.#headLength < headBytes) return
        this.#left = this.#head.readInt32BE(1) - 4
      }
      const taken = Math.min(this.#left, chunk.length - at)
      const type = this.#head[0]
      if (type === errorResponse || type === authentication)
        this.#kept.push(Buffer.from(chunk.subarray(at, at + Math.min(taken, keptBytesMax))))
      at += taken
      this.#left -= taken
      if (this.#left > 0) return
      this.#headLength = 0
      this.#message(type)
    }
  }

  #message(type: number | undefined): void {
    if (type === dataRow) this.#rows++
    else if (type === errorResponse) this.#error = this.#takeKept().toString().replaceAll('\0', ' ')
    else if (type === authentication) {
      // AuthenticationOk is 0. For anything else, sends the password in plain text.
      if (this.#takeKept().readInt32BE() !== 0) this.#socket?.write(frames.password(this.password))
    } else if (type === readyForQuery) {
      if (this.#error === undefined) this.#pending?.resolve({ rows: this.#rows, bytes: this.#bytes })
      else this.#pending?.reject(new Error(this.#error))
    }
  }

  #takeKept(): Buffer {
    return Buffer.concat(this.#kept.splice(0))
  }
}
