/** Relays the rows of a complete result of the catalog service, already in the formats that were bound. */

import { nextTurn } from '../../base/turn.ts'
import { writeBare } from '../../wire/postgres/backend-messages.ts'
import { backend } from '../../wire/postgres/protocol.ts'
import { findMessage, type RelayedMessage } from '../../wire/postgres/relayed-messages.ts'
import type { Outbox } from './outbox.ts'
import { type Progress, type RowSource, turnAfter } from './row-source.ts'

/** Rows between two whose offsets are kept: a short way for going back, and little memory for millions of rows. */
const markEvery = 16

/** Writes the message unchanged; NoData where it is absent. */
export function writeRelayed({ writer }: Outbox, message: RelayedMessage | undefined): void {
  if (message === undefined) writeBare(writer, 'noData')
  else writer.raw(message.bytes)
}

export class RelayedRows implements RowSource {
  readonly columns: RelayedMessage | undefined
  #answer: Uint8Array
  /** Offset at which the search for the next row starts. */
  #at = 0
  #position = 0
  #ended = false
  /** The offset of each {@link markEvery}th row that was passed, from the first on. */
  readonly #marks: number[] = []

  constructor(answer: Uint8Array) {
    this.#answer = answer
    this.columns = findMessage(answer, backend.rowDescription)
  }

  describe(outbox: Outbox): void {
    writeRelayed(outbox, this.columns)
  }

  async send(outbox: Outbox, _: unknown, rowsMax: number, signal: AbortSignal): Promise<Progress> {
    return await this.#advance(rowsMax, signal, async (row) => {
      outbox.writer.raw(row.bytes)
      if (!outbox.isFull) return
      await outbox.flush()
      // Lets cancel requests and disconnects be processed between two chunks.
      await nextTurn()
      signal.throwIfAborted()
    })
  }

  get position(): number {
    return this.#position
  }

  get ended(): boolean {
    return this.#ended
  }

  /** The whole answer is held by its portal. */
  hold(): void {}

  get heldBytes(): number {
    return 0
  }

  rewind(position: number): void {
    const mark = Math.max(Math.min(Math.floor(position / markEvery), this.#marks.length - 1), 0)
    this.#at = this.#marks[mark] ?? 0
    this.#position = mark * markEvery
    this.#ended = false
    while (this.#position < position && this.#next() !== undefined);
  }

  skip(rowsMax: number, signal: AbortSignal): Promise<Progress> {
    return this.#advance(rowsMax, signal, async () => {})
  }

  close(): void {
    this.#answer = new Uint8Array()
  }

  async #advance(
    rowsMax: number,
    signal: AbortSignal,
    pass: (row: RelayedMessage) => Promise<void>,
  ): Promise<Progress> {
    for (let rows = 0; rowsMax === 0 || rows < rowsMax; rows++) {
      const row = this.#next()
      if (row === undefined) {
        this.#ended = true
        return { rows, ended: true }
      }
      await pass(row)
      await turnAfter(rows + 1, signal)
    }
    return { rows: rowsMax, ended: false }
  }

  #next(): RelayedMessage | undefined {
    const row = findMessage(this.#answer, backend.dataRow, this.#at)
    if (row === undefined) return undefined
    if (this.#position === this.#marks.length * markEvery) this.#marks.push(this.#at)
    this.#at = row.end
    this.#position += 1
    return row
  }
}
