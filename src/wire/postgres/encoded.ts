/**
 * Columns in wire form: encoded a column at a time, so that each loop knows its type, and then laid into rows.
 * What varies in length is gathered in a scratch on the way; as nothing waits in between, the process has one.
 */

import type { VariableWidth } from '../../core/variable-width.ts'

/** What of the scratch is kept between two slices. */
const scratchBytesKept = 1024 * 1024

/** Encodes a column's values for rows from `from` to before `to`, NULLs left out. Both throw ValueError. */
export type ColumnEncoder = FixedEncoder | VariableEncoder

/** Values of one width. */
export interface FixedEncoder {
  readonly width: number
  /** Writes each row's value at its place, the first one's being `places[0]`. Whatever goes where a row is NULL. */
  readonly fill: (view: DataView, places: Uint32Array, from: number, to: number) => void
}

/** Values of any length. */
export interface VariableEncoder {
  readonly width: undefined
  /** What it returns holds the values of these rows, and is valid until the scratch is cleared. */
  readonly encode: (from: number, to: number) => EncodedValues
}

/** Values in wire form: row `r`'s are from `offsets[r]` to before `offsets[r + 1]` of the bytes. */
export interface EncodedValues {
  /** Undefined: the scratch's, which may yet move as it grows. */
  readonly bytes: Uint8Array | undefined
  readonly offsets: Uint32Array
}

/** The encoder of values that are in wire form already. */
export function encodedAlready({ bytes, offsets }: VariableWidth): VariableEncoder {
  const encoded = { bytes, offsets }
  return { width: undefined, encode: () => encoded }
}

/** The bytes that encoded values lie in. */
export function bytesOf({ bytes }: EncodedValues): Uint8Array {
  return bytes ?? new Uint8Array(scratch.view.buffer)
}

/** `bytesOf` as a view. */
export function viewOf({ bytes }: EncodedValues): DataView {
  return bytes === undefined ? scratch.view : new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** Shorter values are copied word by word. */
const longBytes = 256

/** Copies a value. @returns the place behind it */
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

  /** Makes room for `count` more bytes; places stay the same. */
  ensure(count: number): void {
    const needed = this.length + count
    if (needed <= this.view.byteLength) return
    const grown = new Uint8Array(Math.max(this.view.byteLength * 2, needed))
    grown.set(new Uint8Array(this.view.buffer, 0, this.length))
    this.view = new DataView(grown.buffer)
  }

  /** Numbers of rows up to `to` and the one behind, to be filled. */
  takeOffsets(to: number): Uint32Array {
    const index = this.#offsetsTaken++
    const kept = this.#offsets[index]
    if (kept !== undefined && kept.length > to) return kept
    const made = new Uint32Array(Math.max(to + 1, 2 * (kept?.length ?? 0)))
    this.#offsets[index] = made
    return made
  }

  /** Everything that was encoded is forgotten. */
  clear(): void {
    this.length = 0
    this.#offsetsTaken = 0
    if (this.view.byteLength > scratchBytesKept) this.view = new DataView(new ArrayBuffer(0))
    if (this.#offsets.some(({ byteLength }) => byteLength > scratchBytesKept)) this.#offsets.length = 0
  }
}

/** The process's. */
export const scratch = new Scratch()
