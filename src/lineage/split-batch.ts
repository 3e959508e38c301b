/**
 * Cuts a list of events into the bytes of each, so that an event of a batch is the same as one sent alone. It knows of JSON
 * only where an item ends; who reads the items finds what is wrong in them.
 */

import { Fault } from '../base/fault.ts'

const [quote, backslash, comma, open, close] = ['"', '\\', ',', '[', ']'].map((one) => one.charCodeAt(0))
const opening = new Set(['{', '['].map((one) => one.charCodeAt(0)))
const closing = new Set(['}', ']'].map((one) => one.charCodeAt(0)))
const blank = new Set([' ', '\t', '\n', '\r'].map((one) => one.charCodeAt(0)))

/**
 * The items of a JSON array, as they stand in it.
 * @throws Fault `bad_request` where the bytes are no array, an item is empty, or there are more than `itemsMax`
 */
export function splitBatch(bytes: Uint8Array, itemsMax: number): readonly Uint8Array[] {
  const list = trimmed(bytes)
  if (list[0] !== open || list.at(-1) !== close || list.length < 2) throw notAList()
  const inside = list.subarray(1, -1)
  if (trimmed(inside).length === 0) return []
  const items: Uint8Array[] = []
  let [from, depth, isText] = [0, 0, false]
  const take = (to: number) => {
    const item = trimmed(inside.subarray(from, to))
    if (item.length === 0) throw notAList()
    if (items.push(item) > itemsMax)
      throw new Fault('bad_request', `A batch holds at most ${itemsMax} events.`)
    from = to + 1
  }
  for (let at = 0; at < inside.length; at++) {
    const byte = inside[at] as number
    if (isText) {
      if (byte === backslash) at++
      else if (byte === quote) isText = false
    } else if (byte === quote) isText = true
    else if (opening.has(byte)) depth++
    else if (closing.has(byte)) {
      if (--depth < 0) throw notAList()
    } else if (byte === comma && depth === 0) take(at)
  }
  if (isText || depth !== 0) throw notAList()
  take(inside.length)
  return items
}

function trimmed(bytes: Uint8Array): Uint8Array {
  let [from, to] = [0, bytes.length]
  while (from < to && blank.has(bytes[from] as number)) from++
  while (to > from && blank.has(bytes[to - 1] as number)) to--
  return bytes.subarray(from, to)
}

const notAList = () => new Fault('bad_request', 'A batch must be a JSON array of lineage events.')
