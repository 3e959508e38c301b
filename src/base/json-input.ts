/** Checks and decodes the bytes of a JSON text before it is parsed, and makes the Fault for invalid JSON. */

import { Fault } from './fault.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Decodes UTF-8.
 * @throws Fault `bad_request` where the bytes are not UTF-8, with the offset of the first invalid one
 */
export function decodeJson(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    // The decoder does not say where. It is the first byte that a lossy round trip changes.
    const lossy = Buffer.from(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
    let at = 0
    while (at < bytes.length && bytes[at] === lossy[at]) at++
    throw invalidJson('not UTF-8', at)
  }
}

/**
 * Returns the text if it is well formed.
 * @throws Fault `bad_request` where the text holds a lone surrogate
 */
export function wellFormedJson(text: string): string {
  if (!text.isWellFormed()) throw new Fault('bad_request', 'Invalid JSON: the text holds a lone surrogate.')
  return text
}

const QUOTE = 0x22
const COLON = 0x3a
const BACKSLASH = 0x5c

/**
 * Counts the members of all objects in a text that another parser reads. It allocates nothing, and stops at the bound.
 * In an invalid text it counts the colons outside of strings.
 * @throws Fault `bad_request` where there are more
 */
export function assertMembers(bytes: Uint8Array, membersMax: number): void {
  let members = 0
  let isInString = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) isInString = !isInString
    else if (isInString) at += byte === BACKSLASH ? 1 : 0
    else if (byte === COLON && ++members > membersMax)
      throw invalidJson(`more than ${membersMax} members`, at)
  }
}

/** The Fault for an invalid JSON text: what is wrong, and where. */
export function invalidJson(what: string, byte: number): Fault {
  return new Fault('bad_request', `Invalid JSON: ${what} at byte ${byte}.`)
}
