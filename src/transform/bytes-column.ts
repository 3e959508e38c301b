/**
 * A column of byte strings as one buffer with offsets, the layout of Arrow. Keyed actions take and give this form, so
 * that a value needs no object of its own.
 */

export interface BytesColumn {
  readonly length: number
  readonly data: Uint8Array
  /** length + 1 positions in `data`. */
  readonly offsets: Int32Array | Float64Array
  /** One byte a value, 0 for NULL; absent where no value is NULL. */
  readonly valid?: Uint8Array
}

/** Whether the value at `index` is there. */
export function isValid(column: BytesColumn, index: number): boolean {
  return column.valid === undefined || column.valid[index] !== 0
}

/** The bytes at `index`, not copied. */
export function bytesAt({ data, offsets }: BytesColumn, index: number): Uint8Array {
  return data.subarray(offsets[index], offsets[index + 1])
}

/** A column of the values given; null becomes NULL. */
export function columnOfBytes(values: readonly (Uint8Array | null)[]): BytesColumn {
  const offsets = new Float64Array(values.length + 1)
  let end = 0
  for (const [index, value] of values.entries()) {
    end += value?.length ?? 0
    offsets[index + 1] = end
  }
  const data = new Uint8Array(end)
  for (const [index, value] of values.entries()) if (value !== null) data.set(value, offsets[index])
  const valid = values.includes(null)
    ? Uint8Array.from(values, (value) => (value === null ? 0 : 1))
    : undefined
  return { length: values.length, data, offsets, ...(valid && { valid }) }
}

/** A column with room for values whose sizes are known; NULLs have size 0. */
export function makeRoom(input: BytesColumn, sizeOf: (index: number) => number): BytesColumn {
  const offsets = new Float64Array(input.length + 1)
  for (let index = 0, end = 0; index < input.length; index += 1) {
    if (isValid(input, index)) end += sizeOf(index)
    offsets[index + 1] = end
  }
  const data = new Uint8Array(offsets[input.length] ?? 0)
  return { length: input.length, data, offsets, ...(input.valid && { valid: input.valid }) }
}
