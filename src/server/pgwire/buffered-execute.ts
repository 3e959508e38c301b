/**
 * Detects a Parse that arrived with its Execute: drivers send Parse, Bind, Describe, Execute and Sync at once. The
 * load for such a Parse also serves the run, because the client has already asked to run the statement.
 */

import { ByteReader, ProtocolViolation } from '../../wire/postgres/byte-reader.ts'
import type { Frame } from '../../wire/postgres/frame-reader.ts'
import { frontend } from '../../wire/postgres/protocol.ts'
import { ValueError } from '../../wire/postgres/value-error.ts'

/**
 * Whether a Bind of this statement and the Execute of its portal have arrived in full, with only Describe messages
 * between them and the Parse.
 * @param statement the name in the Parse
 * @param waiting the messages that follow the Parse
 */
export function isExecuteBuffered(statement: string, waiting: Iterable<Frame>): boolean {
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
    // The session refuses the malformed message when it reads it.
    if (!(thrown instanceof ProtocolViolation || thrown instanceof ValueError)) throw thrown
  }
  return false
}
