/**
 * Defines the encoders of columns. Values are encoded a column at a time, so that each loop has one type, and then
 * copied into rows. Values of variable length go through a scratch buffer; one is enough, because nothing is awaited.
 */

import type { VariableWidth } from '../../core/variable-width.ts'

/** A larger scratch buffer is released between slices. */
const scratchBytesKept = 1024 * 1024

/** Encodes a column's values for rows from `from` until before `to`, without NULLs. Both kinds throw ValueError. */
export type ColumnEncoder = FixedEncoder | VariableEncoder

/** Values of one width. */
export interface FixedEncoder {
  readonly width: number
  /** Writes each row's value at its place; `places[0]` is the place of row `from`. NULL rows may write anything. */
  readonly fill: (view: DataView, places: Uint32Array, from: number, to: number) => void
}

/** Values of any length. */
export interface VariableEncoder {
  readonly width: undefined
  /** The result holds the values of these rows, and is valid until the scratch is cleared. */
  readonly encode: (from: number, to: number) => EncodedValues
}

/** Values in wire form: the value of row `r` is from `offsets[r]` until before `offsets[r + 1]` of the bytes. */
export interface EncodedValues {
  /** Undefined for the bytes of the scratch, which may still move when it grows. */
  readonly bytes: Uint8Array | undefined
  readonly offsets: Uint32Array
}

/** The encoder of values that are already in wire form. */
export function encodedAlready({ bytes, offsets }: VariableWidth): VariableEncoder {
  const encoded = { bytes, offsets }
  return { width: undefined, encode: () => encoded }
}

/** The bytes that hold encoded values. */
export function bytesOf({ bytes }: EncodedValues): Uint8Array {
  return bytes ?? new Uint8Array(scratch.view.buffer)
}

/** As `bytesOf`, as a DataView. */
export function viewOf({ bytes }: EncodedValues): DataView {
  return bytes === undefined ? scratch.view : new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** Shorter values are copied word by word. */
const longBytes = 256

/** Copies a value. @returns the index behind the copy */
export function copyValue(view: DataView, at: number, source: DataView, start: number, end: number): number {
  if (end - start >= longBytes) {
    const value = new Uint8Array(source.buffer, source.byteOffset + start, end - start)
    new Uint8Array(view.buffer, view.byteOffset + at).set(value)
    return at + end - start
  }
  let from = start
  for (; end - from >= 4; from += 4, at += 4) view.setInt32(at, source.getInt32(from))
  for (; from < end; from++, at++) view.setUint8(at, source.getUint8(from))
  return at
}

class Scratch {
  view = new DataView(new ArrayBuffer(0))
  length = 0
  readonly #offsets: Uint32Array[] = []
  #offsetsTaken = 0

  /** Makes room for `count` more bytes; indexes stay valid. */
  ensure(count: number): void {
    const needed = this.length + count
    if (needed <= this.view.byteLength) return
    const grown = new Uint8Array(Math.max(this.view.byteLength * 2, needed))
    grown.set(new Uint8Array(this.view.buffer, 0, this.length))
    this.view = new DataView(grown.buffer)
  }

  /** An array for the offsets of rows up to and including `to`, to be filled. */
  takeOffsets(to: number): Uint32Array {
    const index = this.#offsetsTaken++
    const reusable = this.#offsets[index]
    if (reusable !== undefined && reusable.length > to) return reusable
    const made = new Uint32Array(Math.max(to + 1, 2 * (reusable?.length ?? 0)))
    this.#offsets[index] = made
    return made
  }

  /** Invalidates everything that was encoded. */
  clear(): void {
    this.length = 0
    this.#offsetsTaken = 0
    if (this.view.byteLength > scratchBytesKept) this.view = new DataView(new ArrayBuffer(0))
    if (this.#offsets.some(({ byteLength }) => byteLength > scratchBytesKept)) this.#offsets.length = 0
  }
}

/** The process's only scratch. */
export const scratch = new Scratch()
