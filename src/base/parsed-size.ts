/**
 * Estimates what a JSON text takes in memory once it is parsed. A text of empty arrays takes eighty times its bytes, so
 * that its length alone says too little. It parses nothing.
 */

import { threadTurn } from './thread-turns.ts'

/** Memory of one array or object, measured. */
const containerBytes = 256
/** Bytes that are looked at in one turn: about half a millisecond. */
const turnBytes = 512 * 1024

const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b

/**
 * Bytes that the parsed value takes beyond `expected`, by its arrays and objects; 0 where it takes no more. Brackets in
 * strings are counted, too.
 * @param text JSON in UTF-8, which may be malformed
 * @param expected bytes that are already counted for it
 */
export async function parsedBeyond(text: Uint8Array, expected: number): Promise<number> {
  let containers = 0
  for (let from = 0; from < text.length; from += turnBytes) {
    if (from > 0) await threadTurn()
    containers += containersIn(text, from, Math.min(from + turnBytes, text.length))
  }
  return Math.max(containers * containerBytes - expected, 0)
}

/** A function of its own, because the loop is ten times slower in one that awaits. */
function containersIn(text: Uint8Array, from: number, to: number): number {
  let containers = 0
  for (let at = from; at < to; at++) {
    const code = text[at]
    if (code === OPEN_ARRAY || code === OPEN_OBJECT) containers++
  }
  return containers
}
