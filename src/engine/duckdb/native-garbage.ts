/**
 * DuckDB frees the memory of chunks and results with the handles that JavaScript has of them. To the garbage
 * collector these are small and few, so it is in no hurry; here it is told when much hangs on them.
 */

import { limits } from '../../limits.ts'

/** Rows that DuckDB's vectors have room for, and bytes of a value in one, texts' heap left out. */
const vectorRows = 2_048
const valueBytes = 16
/** What a result that was left holds: DuckDB's `streaming_buffer_size`, as it is by default. */
const leftResultBytes = 1_000_000

export class NativeGarbage {
  #bytes = 0

  /** A chunk that nobody needs any more. Its rows are garbage, too, so a collection is near: a hint will do. */
  chunk(columnCount: number): void {
    this.#add(vectorRows * valueBytes * columnCount, false)
  }

  /** A result that was not fetched to its end. Nothing else brings about a collection in time. */
  leftResult(): void {
    this.#add(leftResultBytes, true)
  }

  #add(bytes: number, now: boolean): void {
    this.#bytes += bytes
    if (this.#bytes < limits.engineGarbageBytes) return
    this.#bytes = 0
    Bun.gc(now)
  }
}
