/** JSON texts before they are scanned: bytes as text, and what a text that is no JSON is answered with. */

import { Fault } from './fault.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @throws Fault bad_request where the bytes are not UTF-8, with the first that is not */
export function decodeJson(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    // The decoder does not say where: the first byte that a lossy round trip changes.
    const lossy = Buffer.from(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
    let at = 0
    while (at < bytes.length && bytes[at] === lossy[at]) at++
    throw invalidJson('not UTF-8', at)
  }
}

/** @throws Fault bad_request where the text holds a lone surrogate */
export function wellFormedJson(text: string): string {
  if (!text.isWellFormed()) throw new Fault('bad_request', 'Invalid JSON: the text holds a lone surrogate.')
  return text
}

/** What is wrong with a JSON text, and where. */
export function invalidJson(what: string, byte: number): Fault {
  return new Fault('bad_request', `Invalid JSON: ${what} at byte ${byte}.`)
}
