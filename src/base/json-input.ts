/** Decodes the bytes of a JSON text before it is scanned, and makes the Fault for invalid JSON. */

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

/** The Fault for an invalid JSON text: what is wrong, and where. */
export function invalidJson(what: string, byte: number): Fault {
  return new Fault('bad_request', `Invalid JSON: ${what} at byte ${byte}.`)
}
