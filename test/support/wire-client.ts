/** A client of the PostgreSQL wire that sends frames unchanged and names the messages that it receives. */

import type { Socket, TLSOptions } from 'bun'
import { MessageWriter } from '../../src/wire/postgres/message-writer.ts'
import { frontend } from '../../src/wire/postgres/protocol.ts'

export interface Answer {
  /** The message's type byte as a letter. */
  readonly type: string
  readonly body: Buffer
}

export interface WireClientOptions {
  readonly port: number
  readonly tls?: TLSOptions
}

/** Frames by name. */
export const frames = {
  startup(parameters: Readonly<Record<string, string>>, version = 0x3_0000): Uint8Array {
    const text = Object.entries(parameters).map(([name, value]) => `${name}\0${value}\0`)
    const body = Buffer.from(`${text.join('')}\0`)
    const head = Buffer.alloc(8)
    head.writeInt32BE(8 + body.length)
    head.writeInt32BE(version, 4)
    return Buffer.concat([head, body])
  },
  /** A packet of a code and what follows it: a request for TLS, a cancel request. */
  packet(code: number, body: Uint8Array = new Uint8Array()): Uint8Array {
    const head = Buffer.alloc(8)
    head.writeInt32BE(8 + body.length)
    head.writeInt32BE(code, 4)
    return Buffer.concat([head, body])
  },
  password: (text: string) => frame(frontend.password, (out) => out.cstring(text)),
  query: (text: string) => frame(frontend.query, (out) => out.cstring(text)),
  parse: (text: string, statement = '', oids: readonly number[] = []) =>
    frame(frontend.parse, (out) => {
      out.cstring(statement)
      out.cstring(text)
      out.uint16(oids.length)
      for (const oid of oids) out.uint32(oid)
    }),
  bind: (
    options: {
      portal?: string
      statement?: string
      parameters?: readonly (string | Uint8Array | null)[]
      parameterFormats?: readonly number[]
      resultFormats?: readonly number[]
    } = {},
  ) =>
    frame(frontend.bind, (out) => {
      out.cstring(options.portal ?? '')
      out.cstring(options.statement ?? '')
      const list = (formats: readonly number[] = []) => {
        out.uint16(formats.length)
        for (const format of formats) out.int16(format)
      }
      list(options.parameterFormats)
      out.uint16(options.parameters?.length ?? 0)
      for (const parameter of options.parameters ?? []) {
        const bytes = parameter === null ? null : Buffer.from(parameter as string)
        out.int32(bytes?.length ?? -1)
        if (bytes !== null) out.raw(bytes)
      }
      list(options.resultFormats)
    }),
  describe: (target: 'S' | 'P', name = '') =>
    frame(frontend.describe, (out) => {
      out.ascii(target)
      out.cstring(name)
    }),
  close: (target: 'S' | 'P', name = '') =>
    frame(frontend.close, (out) => {
      out.ascii(target)
      out.cstring(name)
    }),
  execute: (portal = '', rowsMax = 0) =>
    frame(frontend.execute, (out) => {
      out.cstring(portal)
      out.int32(rowsMax)
    }),
  sync: () => frame(frontend.sync, () => {}),
  flush: () => frame(frontend.flush, () => {}),
  terminate: () => frame(frontend.terminate, () => {}),
}

function frame(type: number, write: (out: MessageWriter) => void): Uint8Array {
  const out = new MessageWriter()
  out.begin(type)
  write(out)
  out.end()
  return new Uint8Array(out.view())
}

export class WireClient {
  #received = Buffer.alloc(0)
  #waiting: (() => void) | undefined
  #socket: Socket<undefined> | undefined
  closed = false
  /** Of BackendKeyData. */
  processId = 0
  key: Uint8Array = new Uint8Array()

  static async connect({ port, tls }: WireClientOptions): Promise<WireClient> {
    const client = new WireClient()
    const wake = () => client.#waiting?.()
    client.#socket = await Bun.connect({
      hostname: '127.0.0.1',
      port,
      ...(tls && { tls }),
      socket: {
        data(_, chunk) {
          client.#received = Buffer.concat([client.#received, chunk])
          wake()
        },
        close() {
          client.closed = true
          wake()
        },
        end() {
          client.closed = true
          wake()
        },
      },
    })
    return client
  }

  /** Connects, proves itself by a password and waits until the server is ready. */
  static async logIn(
    options: WireClientOptions,
    { password, version, ...parameters }: Readonly<Record<string, string>> & { version?: never },
    protocol = 0x3_0000,
  ): Promise<WireClient> {
    void version
    const client = await WireClient.connect(options)
    client.send(frames.startup(parameters, protocol))
    await client.until('R')
    client.send(frames.password(password ?? ''))
    const answers = await client.until('Z')
    const key = answers.find(({ type }) => type === 'K')
    if (key !== undefined) {
      client.processId = key.body.readInt32BE()
      client.key = key.body.subarray(4)
    }
    return client
  }

  send(...all: readonly Uint8Array[]): void {
    this.#socket?.write(Buffer.concat(all))
  }

  /** Whatever has arrived, as it is. */
  async bytes(count: number): Promise<Buffer> {
    while (this.#received.length < count && !this.closed) await this.#arrival()
    const taken = this.#received.subarray(0, count)
    this.#received = this.#received.subarray(count)
    return taken
  }

  /** Answers up to one of this type, or to the end of the connection. */
  async until(type: string): Promise<Answer[]> {
    const answers: Answer[] = []
    for (;;) {
      while (this.#received.length >= 5) {
        const length = 1 + this.#received.readInt32BE(1)
        if (this.#received.length < length) break
        const answer = {
          type: String.fromCharCode(this.#received[0] ?? 0),
          body: Buffer.from(this.#received.subarray(5, length)),
        }
        this.#received = this.#received.subarray(length)
        answers.push(answer)
        if (answer.type === type) return answers
      }
      if (this.closed) return answers
      await this.#arrival()
    }
  }

  /** Sends frames and waits for the server to be ready. @returns the answers in a short form */
  async ask(...all: readonly Uint8Array[]): Promise<string[]> {
    this.send(...all)
    return (await this.until('Z')).map(spoken)
  }

  pause(): void {
    this.#socket?.pause()
  }

  resume(): void {
    this.#socket?.resume()
  }

  /** Leaves without a word. */
  vanish(): void {
    this.#socket?.terminate()
  }

  close(): void {
    this.#socket?.end()
  }

  #arrival(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting = resolve
    })
  }
}

/** Fields of an error or a notice. */
export function reportFields({ body }: Answer): Readonly<Record<string, string>> {
  return Object.fromEntries(
    body
      .toString()
      .split('\0')
      .filter((field) => field !== '')
      .map((field) => [field[0] ?? '', field.slice(1)]),
  )
}

/** The values of a DataRow; text as it is, NULL as null. */
export function rowValues({ body }: Answer): (Buffer | null)[] {
  let at = 2
  return Array.from({ length: body.readUInt16BE(0) }, () => {
    const length = body.readInt32BE(at)
    at += 4
    if (length === -1) return null
    at += length
    return body.subarray(at - length, at)
  })
}

/** An answer as a short text: `D 1|x`, `C SELECT 1`, `E 42601 …`, `Z I`. */
export function spoken(answer: Answer): string {
  const { type, body } = answer
  if (type === 'D')
    return `D ${rowValues(answer)
      .map((value) => value ?? 'NULL')
      .join('|')}`
  if (type === 'E' || type === 'N') {
    const { C, M } = reportFields(answer)
    return `${type} ${C} ${M}`
  }
  if (type === 'C' || type === 'S') return `${type} ${body.toString().slice(0, -1).replace('\0', '=')}`
  if (type === 'Z') return `Z ${body}`
  if (type === 'T') return `T ${columnNames(answer).join('|')}`
  if (type === 't')
    return `t ${Array.from({ length: body.readUInt16BE(0) }, (_, i) => body.readUInt32BE(2 + 4 * i))}`
  return type
}

/** The names of a RowDescription. */
function columnNames({ body }: Answer): string[] {
  let at = 2
  return Array.from({ length: body.readUInt16BE(0) }, () => {
    const end = body.indexOf(0, at)
    const name = body.toString('utf8', at, end)
    at = end + 19
    return name
  })
}

/** Where and as whom {@link readOverWire} logs in. */
export interface WireLogin {
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
}

/** Rows (`D …`), the error (`E …`) and the end (`C …`) of a statement, on a connection of its own. */
export async function readOverWire({ port, ...login }: WireLogin, text: string): Promise<readonly string[]> {
  const client = await WireClient.logIn({ port }, login)
  const answers = await client.ask(frames.query(text))
  client.close()
  return answers.filter((answer) => /^[DEC] /.test(answer))
}
