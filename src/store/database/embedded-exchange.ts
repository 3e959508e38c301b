/**
 * Sends protocol messages to the embedded database and returns its bytes. It does not use `execProtocolRawSync`,
 * because that also parses every result and keeps the parsed rows in memory until the database is closed.
 */

import type { PGlite } from '@electric-sql/pglite'

/**
 * Runs whole messages on the database.
 * @returns the bytes of the result, in a buffer that only the caller holds
 */
export async function exchange(db: PGlite, messages: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = []
  await db.execProtocolRawStream(messages, {
    syncToFs: false,
    // Copied, because `part` is a view of the database's memory.
    onRawData: (part) => void parts.push(new Uint8Array(part)),
  })
  const [first] = parts
  return first !== undefined && parts.length === 1 ? first : joined(parts)
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((size, { length }) => size + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
