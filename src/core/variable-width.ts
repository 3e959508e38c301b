/**
 * Values of any length one after the other, as Arrow lays them out. Engines fill it without allocating a string a
 * value.
 */

export interface VariableWidth {
  readonly bytes: Uint8Array
  /** Row `r` holds the bytes from `offsets[r]` to before `offsets[r + 1]`, so there is one offset more than rows. */
  readonly offsets: Uint32Array
}

/** The greatest length that an offset can hold. */
export const variableBytesMax = 2 ** 32 - 1

/** Texts as UTF-8. */
export function utf8Values(texts: readonly string[]): VariableWidth {
  return byteValues(texts.map((text) => Buffer.from(text)))
}

/**
 * Byte strings, copied.
 * @throws RangeError for more bytes than an offset can hold
 */
export function byteValues(values: readonly Uint8Array[]): VariableWidth {
  const offsets = new Uint32Array(values.length + 1)
  let length = 0
  for (const [row, value] of values.entries()) {
    length += value.length
    if (length > variableBytesMax) throw new RangeError('values of a column are too long')
    offsets[row + 1] = length
  }
  const bytes = new Uint8Array(length)
  for (const [row, value] of values.entries()) bytes.set(value, offsets[row])
  return { bytes, offsets }
}

/** The bytes of one row's value, not copied. */
export function bytesAt({ bytes, offsets }: VariableWidth, row: number): Uint8Array {
  return bytes.subarray(offsets[row], offsets[row + 1])
}
