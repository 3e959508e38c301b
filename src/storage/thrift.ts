/**
 * Checks Thrift's compact protocol, in which Parquet writes its footers and page headers, before the library reads it.
 * The library allocates as many items as a list claims before it looks for them, also in nested lists.
 */

import { ReadFailure } from './read-failure.ts'

const depthMax = 32
/** Fields and list items of one structure, each of which the library turns into a value or an object. */
const valuesMax = 4_000_000

/**
 * Walks one structure, so that no claim in it goes beyond the bytes that are there.
 * @param onField is told each field of the structure itself: its id, and where it begins and ends
 * @throws RangeError when it is malformed or ends early, ReadFailure when it holds too many values
 */
export function checkThrift(
  bytes: Uint8Array,
  start: number,
  onField?: (id: number, from: number, to: number) => void,
): void {
  let at = start
  let values = 0
  const skip = (count: number) => {
    at += count
    if (at > bytes.length) throw new RangeError('a structure ends early')
  }
  const byte = (): number => {
    skip(1)
    return bytes[at - 1] ?? 0
  }
  const varint = (): number => {
    let value = 0
    for (let scale = 1; scale <= 2 ** 63; scale *= 128) {
      const part = byte()
      value += (part & 0x7f) * scale
      if (part < 0x80) return value
    }
    throw new RangeError('a number without an end')
  }
  const struct = (depth: number) => {
    if (depth > depthMax) throw new RangeError('a structure is nested too deeply')
    let id = 0
    for (;;) {
      const from = at
      const head = byte()
      const type = head & 0x0f
      if (type === 0) return
      if (head >> 4 === 0) {
        // Zigzag: a field's id is signed.
        const coded = varint()
        id = coded % 2 === 0 ? coded / 2 : -(coded + 1) / 2
      } else id += head >> 4
      element(type, depth)
      if (depth === 0) onField?.(id, from, at)
    }
  }
  const list = (depth: number) => {
    if (depth > depthMax) throw new RangeError('a list is nested too deeply')
    const head = byte()
    const type = head & 0x0f
    const count = head >> 4 === 15 ? varint() : head >> 4
    // A boolean's value is in the header of its field, but takes a byte of its own in a list.
    for (let index = 0; index < count; index++) element(type === 1 || type === 2 ? 3 : type, depth)
  }
  const element = (type: number, depth: number): void => {
    if (++values > valuesMax)
      throw new ReadFailure(`a structure of a data file holds more than ${valuesMax} values`)
    switch (type) {
      case 1:
      case 2:
        break
      case 3:
        skip(1)
        break
      case 4:
      case 5:
      case 6:
        varint()
        break
      case 7:
        skip(8)
        break
      case 8:
        skip(varint())
        break
      case 9:
        list(depth + 1)
        break
      case 12:
        struct(depth + 1)
        break
      default:
        throw new RangeError('a type that Parquet does not use')
    }
  }
  struct(0)
}
