/**
 * Triggers garbage collection when DuckDB's unused chunks and results hold much memory. DuckDB frees it only with the
 * JavaScript handles, and these look small and few to the garbage collector.
 */

/** Memory of DuckDB that garbage holds before it is collected. */
const engineGarbageBytes = 16 * 1024 * 1024

/** Capacity of DuckDB's vectors in rows, and bytes of each value; the heap of texts is not counted. */
const vectorRows = 2_048
const valueBytes = 16
/** Bytes that an abandoned result holds: the default of DuckDB's `streaming_buffer_size`. */
const leftResultBytes = 1_000_000

export class NativeGarbage {
  #bytes = 0

  /** Counts an unused chunk. A hint to the collector is enough, because the rows made from it are garbage, too. */
  chunk(columnCount: number): void {
    this.#add(vectorRows * valueBytes * columnCount, false)
  }

  /** Counts a result that was not fetched to its end. It forces a collection, because a hint comes too late. */
  leftResult(): void {
    this.#add(leftResultBytes, true)
  }

  #add(bytes: number, now: boolean): void {
    this.#bytes += bytes
    if (this.#bytes < engineGarbageBytes) return
    this.#bytes = 0
    Bun.gc(now)
  }
}
