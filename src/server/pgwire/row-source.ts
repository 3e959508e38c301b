/**
 * Sends the rows of one open result to the client. Rows are pulled from the engine only as fast as the socket takes
 * them, in as many steps as the client requests.
 */

import { nextTurn } from '../../base/turn.ts'
import { unlessAborted } from '../../base/unless-aborted.ts'
import type { ResultBatch } from '../../core/result-batch.ts'
import type { QueryRun } from '../../query/query-service.ts'
import { type DescribedColumn, writeRowDescription } from '../../wire/postgres/backend-messages.ts'
import type { CopyWriter } from '../../wire/postgres/copy.ts'
import { dataRowWriter, type FormatOf, type RowWriter } from '../../wire/postgres/rows.ts'
import type { TextOptions } from '../../wire/postgres/text-values.ts'
import { HeldBatches, type MayHold } from './held-batches.ts'
import type { Outbox } from './outbox.ts'
import { WireError } from './wire-error.ts'

export interface Progress {
  readonly rows: number
  /** Whether the end was reached, because all rows were requested or more than exist. */
  readonly ended: boolean
}

/** Makes the writer of a batch's rows: as DataRow, as CopyData, or one that skips them. */
type RowWriterOf = (batch: ResultBatch) => RowWriter

/** An open result. `rowsMax` 0 means all rows. */
export interface RowSource {
  describe(outbox: Outbox, formatOf: FormatOf): void
  /**
   * Sends rows.
   * @throws the engine's errors, the signal's reason, or ConnectionClosed; WireError 55000 after any of them
   */
  send(outbox: Outbox, formatOf: FormatOf, rowsMax: number, signal: AbortSignal): Promise<Progress>
  /** Skips rows without sending them. */
  skip(rowsMax: number, signal: AbortSignal): Promise<Progress>
  /** Rows before the next one. */
  readonly position: number
  /** Whether a reader went beyond the last row. */
  readonly ended: boolean
  /** Holds rows that were passed, as long as there is memory for them. Called before the first is read. */
  hold(mayHold: MayHold): void
  /** Bytes of the rows that are held. */
  readonly heldBytes: number
  /**
   * Goes back, so that so many rows are before the next one.
   * @throws WireError 55000 where these rows are not held
   */
  rewind(position: number): void
  /** Stops the engine. */
  close(reason?: unknown): void
}

/** Rows after which one that passes them by single steps lets others run. */
const rowsPerTurn = 1_000

/** Lets cancel requests and other connections be processed after each thousandth row. @throws the signal's reason */
export async function turnAfter(rows: number, signal: AbortSignal): Promise<void> {
  if (rows % rowsPerTurn !== 0) return
  await nextTurn()
  signal.throwIfAborted()
}

/** For complete results, which need neither a usage record nor another check. */
const unguarded: Pick<QueryRun, 'putOnRecord' | 'confirm'> = {
  putOnRecord: async () => {},
  confirm: () => undefined,
}

/** A result that comes in batches. */
export class BatchRows implements RowSource {
  readonly #batches: AsyncIterator<ResultBatch>
  readonly #held = new HeldBatches()
  #batch: ResultBatch | undefined
  #row = 0
  /** Whether there are no more batches to come. */
  #done = false
  #ended = false
  /** Closed, so a later read must fail instead of reporting the end. */
  #broken = false

  /**
   * @param stop ends the query of these batches
   * @param spent receives the milliseconds spent waiting for the engine
   * @param guard records the run before a row leaves while more may follow, and checks again before rows are sent
   *   from a batch that arrived some time ago
   */
  constructor(
    readonly columns: readonly DescribedColumn[],
    batches: AsyncIterable<ResultBatch>,
    readonly options: () => TextOptions,
    readonly stop: AbortController,
    readonly spent: (ms: number) => void = () => {},
    readonly guard: Pick<QueryRun, 'putOnRecord' | 'confirm'> = unguarded,
  ) {
    this.#batches = batches[Symbol.asyncIterator]()
  }

  get position(): number {
    return this.#batch === undefined ? this.#held.end : this.#held.start + this.#row
  }

  get ended(): boolean {
    return this.#ended
  }

  get heldBytes(): number {
    return this.#held.bytes
  }

  hold(mayHold: MayHold): void {
    this.#held.hold(mayHold)
  }

  rewind(position: number): void {
    if (this.#broken) throw brokenPortal()
    if (!this.#held.rewind(position)) throw this.#held.isOver ? tooLarge() : forwardOnly()
    this.#batch = this.#held.current
    this.#row = position - this.#held.start
    this.#ended = false
  }

  describe(outbox: Outbox, formatOf: FormatOf): void {
    writeRowDescription(outbox.writer, this.columns, formatOf)
  }

  send(outbox: Outbox, formatOf: FormatOf, rowsMax: number, signal: AbortSignal): Promise<Progress> {
    const options = this.options()
    return this.#advance((batch) => dataRowWriter(batch, formatOf, options), outbox, rowsMax, signal)
  }

  copy(outbox: Outbox, copy: CopyWriter, signal: AbortSignal): Promise<Progress> {
    return this.#advance((batch) => copy.rowWriter(batch), outbox, 0, signal)
  }

  async skip(rowsMax: number, signal: AbortSignal): Promise<Progress> {
    return await this.#advance(() => (_out, _from, to) => to, undefined, rowsMax, signal)
  }

  close(reason?: unknown): void {
    this.#held.release()
    this.#batch = undefined
    this.#ended = true
    this.#broken = true
    if (this.#done) return
    this.#done = true
    this.stop.abort(reason ?? new WireError('57014', 'The portal was closed.'))
    // The engine's error about being stopped is ignored.
    void Promise.resolve(this.#batches.return?.()).catch(() => {})
  }

  async #advance(
    writerOf: RowWriterOf,
    outbox: Outbox | undefined,
    rowsMax: number,
    signal: AbortSignal,
  ): Promise<Progress> {
    if (this.#broken) throw brokenPortal()
    const stop = () => this.close(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    try {
      signal.throwIfAborted()
      // Without an await before it, the run starts in this turn, and its load can also check the message's session.
      const confirmed = this.#confirm(signal)
      if (confirmed !== undefined) await confirmed
      return await this.#run(writerOf, outbox, rowsMax === 0 ? Number.POSITIVE_INFINITY : rowsMax, signal)
    } catch (thrown) {
      this.close(thrown)
      throw signal.aborted ? signal.reason : thrown
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  async #run(
    writerOf: RowWriterOf,
    outbox: Outbox | undefined,
    rowsMax: number,
    signal: AbortSignal,
  ): Promise<Progress> {
    const start = outbox?.writer.length ?? 0
    let rows = 0
    let left = false
    const leave = async () => {
      await this.guard.putOnRecord()
      signal.throwIfAborted()
      left = true
    }
    try {
      while (rows < rowsMax) {
        const batch = await this.#current(signal)
        if (batch === undefined) return { rows, ended: true }
        const write = writerOf(batch)
        const end = Math.min(batch.rowCount, this.#row + rowsMax - rows)
        while (this.#row < end) {
          const next = outbox === undefined ? end : write(outbox.writer, this.#row, end)
          rows += next - this.#row
          this.#row = next
          if (outbox?.isFull) {
            await leave()
            await outbox.flush()
            // Lets cancel requests and disconnects be processed between two chunks.
            await nextTurn()
            signal.throwIfAborted()
            await this.#confirm(signal)
          }
        }
      }
      if (outbox !== undefined && rows > 0) await leave()
      return { rows, ended: false }
    } catch (thrown) {
      // Without a completed record of the run, none of its rows may be sent.
      if (!left) outbox?.writer.truncate(start)
      throw thrown
    }
  }

  #confirm(signal: AbortSignal): Promise<void> | undefined {
    const confirmed = this.guard.confirm()
    return confirmed && unlessAborted(confirmed, signal)
  }

  /** The current batch, or the next one that holds a row. */
  async #current(signal: AbortSignal): Promise<ResultBatch | undefined> {
    while (!this.#ended && (this.#batch === undefined || this.#row >= this.#batch.rowCount)) {
      const held = this.#held.next()
      if (held === undefined && this.#done) {
        this.#ended = true
        this.#batch = undefined
        this.#held.settle()
        break
      }
      this.#row = 0
      if (held !== undefined) {
        this.#batch = held
        continue
      }
      this.#batch = undefined
      const startedMs = performance.now()
      const next = await unlessAborted(this.#batches.next(), signal).finally(() => {
        this.spent(performance.now() - startedMs)
      })
      signal.throwIfAborted()
      if (next.done) this.#done = true
      else {
        this.#held.add(next.value)
        this.#batch = next.value
      }
    }
    return this.#ended ? undefined : this.#batch
  }
}

function brokenPortal(): WireError {
  return new WireError('55000', 'the portal cannot be run: it has failed before its end')
}

function tooLarge(): WireError {
  return new WireError(
    '54000',
    'The cursor cannot go back: the rows that it has passed take more memory than it may hold.',
    'ERROR',
    'Declare it with SCROLL, which holds more, or run the query again.',
  )
}

/** What PostgreSQL says of a cursor that cannot go back. */
export function forwardOnly(): WireError {
  return new WireError(
    '55000',
    'cursor can only scan forward',
    'ERROR',
    'Declare it with SCROLL option to enable backward scan.',
  )
}
