/** Holds rows that a cursor has passed, so that it can go back to them, as far as its connection has memory for them. */

import type { ResultBatch } from '../../core/result-batch.ts'
import { batchBytes } from '../../query/run/attempt/batch-bytes.ts'

interface Held {
  readonly batch: ResultBatch
  /** Rows before its first. */
  readonly start: number
}

/** Says whether so many bytes may be held beside those that are. Asked for each batch. */
export type MayHold = (bytes: number) => boolean

/** Estimated memory of a batch, and of each value in it, beside the bytes of the value. */
const overheadBytes = { batch: 512, value: 4 } as const

export class HeldBatches {
  /** From the first batch on; the last one alone where none are to be held, or they take too many bytes. */
  #batches: Held[] = []
  #at = -1
  #bytes = 0
  #mayHold: MayHold | undefined
  #end = 0
  #isOver = false

  /** Rows before the current batch. */
  get start(): number {
    return this.#batches[this.#at]?.start ?? this.#end
  }

  /** Rows of all batches that came. */
  get end(): number {
    return this.#end
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Whether rows were let go because they took too many bytes. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Called before the first batch comes. */
  hold(mayHold: MayHold): void {
    if (this.#end === 0) this.#mayHold = mayHold
  }

  /** Makes the next batch current, where it is held. */
  next(): ResultBatch | undefined {
    if (this.#at + 1 >= this.#batches.length) return undefined
    this.#at += 1
    return this.#batches[this.#at]?.batch
  }

  /** Makes a batch current that the engine gave last. */
  add(batch: ResultBatch): void {
    const bytes = memoryOf(batch)
    if (this.#mayHold?.(bytes) === false) this.#isOver = true
    if (this.#mayHold === undefined || this.#isOver) this.release()
    else this.#bytes += bytes
    this.#batches.push({ batch, start: this.#end })
    this.#at = this.#batches.length - 1
    this.#end += batch.rowCount
  }

  /**
   * Makes the batch current that has the row which so many are before.
   * @returns whether that row is held, or there is none at all
   */
  rewind(position: number): boolean {
    let [low, high] = [0, this.#batches.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#batches[middle]?.start ?? 0) <= position) low = middle + 1
      else high = middle
    }
    this.#at = low - 1
    return this.#at >= 0 || this.#end === 0
  }

  /** The current batch; undefined before the first. */
  get current(): ResultBatch | undefined {
    return this.#batches[this.#at]?.batch
  }

  /** At the end: nothing is held where not all is. */
  settle(): void {
    if (this.#mayHold === undefined) this.release()
  }

  release(): void {
    this.#batches = []
    this.#at = -1
    this.#bytes = 0
    this.#mayHold = undefined
  }
}

function memoryOf(batch: ResultBatch): number {
  const values = batch.rowCount * batch.columns.length
  return batchBytes(batch) + overheadBytes.batch + overheadBytes.value * values
}
