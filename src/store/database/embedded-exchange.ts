/**
 * Protocol messages to the embedded database, and the bytes that it answers. Not by `execProtocolRawSync`: that
 * reads every answer as well, and keeps what it has read, row by row, for as long as the database is open.
 */

import type { PGlite } from '@electric-sql/pglite'

/**
 * Has the database run whole messages.
 * @returns its answer, which is the caller's own
 */
export async function exchange(db: PGlite, messages: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = []
  await db.execProtocolRawStream(messages, {
    syncToFs: false,
    // A view of the database's memory.
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
