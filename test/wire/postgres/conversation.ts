/** A conversation with every message, and how the codecs read one. */

import { FrameReader, type ReaderPhase } from '../../../src/wire/postgres/frame-reader.ts'
import { type FrontendMessage, readMessage } from '../../../src/wire/postgres/frontend-messages.ts'
import { MessageWriter } from '../../../src/wire/postgres/message-writer.ts'
import { frontend } from '../../../src/wire/postgres/protocol.ts'
import { describeFrames, executeFrames } from '../../../src/wire/postgres/relayed-messages.ts'
import { readStartupPacket } from '../../../src/wire/postgres/startup-packet.ts'
import { queryFrames } from '../../support/wire-messages.ts'

function message(type: number, write: (out: MessageWriter) => void): Uint8Array {
  const out = new MessageWriter()
  out.begin(type)
  write(out)
  out.end()
  return out.view()
}

/** Thirteen messages. */
export const conversation = Buffer.concat([
  queryFrames('select 1'),
  describeFrames('select $1', [23, 0]),
  executeFrames('select $1, $2', [23], {
    parameterFormats: [1, 0],
    parameters: [Uint8Array.of(0, 0, 0, 7), null],
    resultFormats: [1],
  }),
  message(frontend.close, (out) => {
    out.ascii('S')
    out.cstring('s1')
  }),
  message(frontend.flush, () => {}),
  message(frontend.copyFail, (out) => out.cstring('no')),
  message(frontend.terminate, () => {}),
])
/** Every message of some chunks. */
export function readAll(chunks: readonly Uint8Array[], phase: ReaderPhase = 'session'): FrontendMessage[] {
  const reader = new FrameReader()
  reader.phase = phase
  const messages: FrontendMessage[] = []
  for (const chunk of chunks) {
    reader.push(chunk)
    for (let frame = reader.next(); frame !== undefined; frame = reader.next())
      messages.push(readMessage(frame))
  }
  return messages
}

/** The start-up packet of some bytes. */
export function readStartup(bytes: Uint8Array) {
  const reader = new FrameReader()
  reader.push(bytes)
  const frame = reader.next()
  return frame && readStartupPacket(frame.body)
}
