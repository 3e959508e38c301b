/** Writes and splits messages of the PostgreSQL wire as a client does. */

import { MessageWriter } from '../../src/wire/postgres/message-writer.ts'
import { backend, frontend } from '../../src/wire/postgres/protocol.ts'
import type { RelayedMessage } from '../../src/wire/postgres/relayed-messages.ts'

/** A Query. */
export function queryFrames(text: string): Uint8Array {
  const out = new MessageWriter()
  out.begin(frontend.query)
  out.cstring(text)
  out.end()
  return out.view()
}

/** Backend messages, cut apart; bytes that are no whole messages are an error. */
export function cutMessages(bytes: Uint8Array): readonly RelayedMessage[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const messages: RelayedMessage[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + view.getInt32(at + 1)
    if (end < at + 5 || end > bytes.length) throw new RangeError('backend messages are cut short')
    messages.push({ type: view.getUint8(at), bytes: bytes.subarray(at, end) })
    at = end
  }
  return messages
}

/** The SQLSTATE of an ErrorResponse. */
export function errorState({ type, bytes }: RelayedMessage): string | undefined {
  if (type !== backend.errorResponse) return undefined
  const fields = Buffer.from(bytes.subarray(5)).toString('utf8').split('\0')
  return fields.find((field) => field.startsWith('C'))?.slice(1)
}
