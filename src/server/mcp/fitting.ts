/** Cuts lists of an answer at a number of bytes, so that an answer that nobody asked to be long stays short. */

import { mcpBounds } from './bounds.ts'

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value)) + 1

/** The bytes of a list: fewer where the caller named no number of items. */
export function listBytes(limit: number | undefined): number {
  return limit === undefined ? mcpBounds.listBytes : mcpBounds.listBytesMax
}

/** The first items whose JSON has so many bytes, and one at least, so that a reader who goes on comes to an end. */
export function fitting<T>(items: readonly T[], bytesMax: number): readonly T[] {
  let bytes = 0
  const end = items.findIndex((item, index) => {
    bytes += bytesOf(item)
    return index > 0 && bytes > bytesMax
  })
  return end === -1 ? items : items.slice(0, end)
}

/** A part of an answer: the first items that fit, and where that is not all, how many there are. */
export function partOf<T>(items: readonly T[], bytesMax: number): { items: T[]; total?: number } {
  const shown = fitting(items, bytesMax)
  return { items: [...shown], ...(shown.length < items.length && { total: items.length }) }
}
