/** One DuckDB vector before it is decoded: its bytes and its validity bits. */

export interface RawVector {
  /** DuckDB's own memory, which is freed with the chunk. */
  readonly bytes: Uint8Array
  /** One bit per row, set where there is a value; undefined where no row is NULL. */
  readonly validity: Uint8Array | undefined
  readonly count: number
}

/** Whether a row has a value. */
export function hasValue({ validity }: RawVector, row: number): boolean {
  return validity === undefined || ((validity[row >> 3] ?? 0) & (1 << (row & 7))) !== 0
}
