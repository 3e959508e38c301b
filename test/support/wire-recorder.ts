/**
 * Records what clients send over the PostgreSQL wire: a proxy before the service, which adds a line of JSON for each
 * statement to a file. For the corpus of test/query/corpus/recorded; passwords and TLS are not read.
 */

import { appendFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'

/** A statement with the types that the client named, and the values of the first Bind. */
export interface RecordedStatement {
  /** The run of a program that sent it, as its log is named. */
  readonly program?: string
  readonly text: string
  readonly oids: readonly number[]
  /** Of the first Bind; in base64 where the format is binary. Undefined for a Query. */
  readonly values?: readonly (string | { readonly binary: string } | null)[]
}

let program = ''

/** Names the run whose statements follow. */
export function recordAs(name: string): void {
  program = name
}

/** Starts the proxy. @param path of the file, which is added to */
export async function startRecorder(
  port: number,
  path: string,
): Promise<AsyncDisposable & { readonly port: number }> {
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const service = connect(port, '127.0.0.1')
    const read = reader((statement) => appendFileSync(path, `${JSON.stringify({ program, ...statement })}\n`))
    client.on('data', (bytes) => read(Buffer.from(bytes)))
    client.pipe(service).pipe(client)
    for (const each of [client, service]) {
      open.add(each)
      each.on('error', () => each.destroy())
      each.on('close', () => {
        open.delete(each)
        client.destroy()
        service.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    async [Symbol.asyncDispose]() {
      for (const each of open) each.destroy()
      server.close()
    },
  }
}

/** Cuts a connection's bytes into messages, and tells of statements. */
function reader(tell: (statement: RecordedStatement) => void): (bytes: Buffer) => void {
  const prepared = new Map<string, { text: string; oids: readonly number[] }>()
  let waiting = Buffer.alloc(0)
  let isStarted = false
  return (bytes) => {
    waiting = Buffer.concat([waiting, bytes])
    for (;;) {
      const at = isStarted ? 1 : 0
      if (waiting.length < at + 4) return
      const end = at + waiting.readInt32BE(at)
      if (waiting.length < end) return
      const [type, body] = [String.fromCharCode(waiting[0] ?? 0), waiting.subarray(at + 4, end)]
      waiting = waiting.subarray(end)
      // Version 3; a request for encryption has another number and comes before.
      if (!isStarted) isStarted = body.readInt16BE(0) === 3
      else if (type === 'Q') tell({ text: textAt(body, 0).text, oids: [] })
      else if (type === 'P') {
        const { name, text, oids } = parseOf(body)
        prepared.set(name, { text, oids })
      } else if (type === 'B') {
        const { name, values } = bindOf(body)
        const statement = prepared.get(name)
        if (statement !== undefined) tell({ ...statement, values })
        prepared.delete(name)
      }
    }
  }
}

function textAt(body: Buffer, start: number): { readonly text: string; readonly end: number } {
  const end = body.indexOf(0, start)
  return { text: body.toString('utf8', start, end), end: end + 1 }
}

function parseOf(body: Buffer): { readonly name: string; readonly text: string; readonly oids: number[] } {
  const name = textAt(body, 0)
  const text = textAt(body, name.end)
  const count = body.readUInt16BE(text.end)
  const oids = Array.from({ length: count }, (_, index) => body.readUInt32BE(text.end + 2 + 4 * index))
  return { name: name.text, text: text.text, oids }
}

function bindOf(body: Buffer): {
  readonly name: string
  readonly values: NonNullable<RecordedStatement['values']>
} {
  const name = textAt(body, textAt(body, 0).end)
  let at = name.end
  const next16 = () => {
    at += 2
    return body.readUInt16BE(at - 2)
  }
  const formats = Array.from({ length: next16() }, next16)
  const values = Array.from({ length: next16() }, (_, index) => {
    const length = body.readInt32BE(at)
    at += 4
    if (length < 0) return null
    const value = body.subarray(at, at + length)
    at += length
    const format = formats.length === 1 ? formats[0] : (formats[index] ?? 0)
    return format === 1 ? { binary: value.toString('base64') } : value.toString('utf8')
  })
  return { name: name.text, values }
}
