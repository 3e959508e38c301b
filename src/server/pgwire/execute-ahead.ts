/**
 * Whether a Parse came with its Execute: drivers send Parse, Bind, Describe, Execute and Sync as one. What is loaded
 * then is loaded for that run, too, since the client had asked for it before.
 */

import { ByteReader, ProtocolViolation } from '../../wire/postgres/byte-reader.ts'
import type { Frame } from '../../wire/postgres/frame-reader.ts'
import { frontend } from '../../wire/postgres/protocol.ts'
import { ValueError } from '../../wire/postgres/value-error.ts'

/**
 * Whether a Bind of this statement and the Execute of its portal have arrived whole, with nothing between them and
 * the Parse but Describe. Anything else is no.
 * @param statement the name that Parse gives
 * @param waiting the messages that follow the Parse
 */
export function isExecuteAhead(statement: string, waiting: Iterable<Frame>): boolean {
  let portal: string | undefined
  try {
    for (const { type, body } of waiting) {
      if (type === frontend.describe) continue
      const reader = new ByteReader(body)
      if (portal !== undefined) return type === frontend.execute && reader.cstring() === portal
      if (type !== frontend.bind) return false
      portal = reader.cstring()
      if (reader.cstring() !== statement) return false
    }
  } catch (thrown) {
    // Whoever takes the message refuses it.
    if (!(thrown instanceof ProtocolViolation || thrown instanceof ValueError)) throw thrown
  }
  return false
}
