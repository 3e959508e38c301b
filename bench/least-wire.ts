/**
 * The least listener that answers one statement over the PostgreSQL wire and makes its calls for every query. It knows
 * one statement, lets everybody log in, parses nothing, and checks no credential or policy. Its overhead is what the
 * socket, the sharing of the machine and these calls cost any read path.
 */

import type { Socket, TCPSocketListener } from 'bun'
import type { ResultBatch } from '../src/core/result-batch.ts'
import type { ResultColumn } from '../src/query/compile/compile.ts'
import {
  writeAuthentication,
  writeBare,
  writeCommandComplete,
  writeReadyForQuery,
  writeRowDescription,
} from '../src/wire/postgres/backend-messages.ts'
import { FrameReader } from '../src/wire/postgres/frame-reader.ts'
import { MessageWriter } from '../src/wire/postgres/message-writer.ts'
import { frontend } from '../src/wire/postgres/protocol.ts'
import { dataRowWriter } from '../src/wire/postgres/rows.ts'
import { defaultTextOptions } from '../src/wire/postgres/text-values.ts'

/** The one statement that a listener answers, whatever text it receives. */
export interface LeastStatement {
  readonly columns: readonly ResultColumn[]
  /** Runs it. Each batch goes to `take` while it is valid. */
  run(take: (batch: ResultBatch) => void): Promise<void>
  /** Calls that are made concurrently with the run, and awaited. */
  readonly besides: readonly (() => Promise<unknown>)[]
}

/** Listens on a free port of this machine. */
export function listenLeast(statement: LeastStatement): TCPSocketListener<LeastConnection> {
  return Bun.listen<LeastConnection>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        socket.data = new LeastConnection(socket, statement)
      },
      data: (socket, chunk) => void socket.data.receive(chunk),
    },
  })
}

/** One client that waits for each response before it sends the next query. */
class LeastConnection {
  readonly #reader = new FrameReader()
  readonly #writer = new MessageWriter()

  constructor(
    readonly socket: Socket<LeastConnection>,
    readonly statement: LeastStatement,
  ) {}

  async receive(chunk: Uint8Array): Promise<void> {
    this.#reader.push(chunk)
    try {
      for (let frame = this.#reader.next(); frame !== undefined; frame = this.#reader.next())
        await this.#answer(frame.type)
      this.socket.write(this.#writer.view())
      this.#writer.clear()
    } catch (thrown) {
      console.error(thrown)
      this.socket.terminate()
    }
  }

  async #answer(type: number): Promise<void> {
    const writer = this.#writer
    if (this.#reader.phase === 'startup') {
      this.#reader.phase = 'session'
      writeAuthentication(writer, { kind: 'ok' })
      writeReadyForQuery(writer, 'I')
    } else if (type === frontend.query) {
      writeRowDescription(writer, this.statement.columns, () => 0)
      await this.#run()
      writeReadyForQuery(writer, 'I')
    } else if (type === frontend.execute) await this.#run()
    else if (type === frontend.parse) writeBare(writer, 'parseComplete')
    else if (type === frontend.bind) writeBare(writer, 'bindComplete')
    else if (type === frontend.sync) writeReadyForQuery(writer, 'I')
    else if (type === frontend.terminate) this.socket.end()
    else throw new Error(`the least listener knows no message ${type}`)
  }

  async #run(): Promise<void> {
    const { besides, run } = this.statement
    let rows = 0
    const running = run((batch) => {
      const write = dataRowWriter(batch, () => 0, defaultTextOptions)
      for (let row = 0; row < batch.rowCount; ) row = write(this.#writer, row, batch.rowCount)
      rows += batch.rowCount
    })
    await Promise.all([running, ...besides.map((ask) => ask())])
    writeCommandComplete(this.#writer, `SELECT ${rows}`)
  }
}
