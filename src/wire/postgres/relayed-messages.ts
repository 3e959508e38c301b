/** Writes requests to the databases that answer catalog statements, and splits their responses into messages. */

import { MessageWriter } from './message-writer.ts'
import { type Format, frontend } from './protocol.ts'

function parseInto(out: MessageWriter, text: string, oids: readonly number[]): void {
  out.begin(frontend.parse)
  out.cstring('')
  out.cstring(text)
  out.uint16(oids.length)
  for (const oid of oids) out.uint32(oid)
  out.end()
}

function describeInto(out: MessageWriter, target: 'S' | 'P'): void {
  out.begin(frontend.describe)
  out.ascii(target)
  out.cstring('')
  out.end()
}

function syncInto(out: MessageWriter): void {
  out.begin(frontend.sync)
  out.end()
}

/** Parse, Describe of the statement, Sync. */
export function describeFrames(text: string, oids: readonly number[]): Uint8Array {
  const out = new MessageWriter()
  parseInto(out, text, oids)
  describeInto(out, 'S')
  syncInto(out)
  return out.view()
}

/** Parse, Sync: the statement is analysed, and neither described nor run. */
export function parseFrames(text: string, oids: readonly number[]): Uint8Array {
  const out = new MessageWriter()
  parseInto(out, text, oids)
  syncInto(out)
  return out.view()
}

export interface Binding {
  readonly parameterFormats: readonly Format[]
  readonly parameters: readonly (Uint8Array | null)[]
  readonly resultFormats: readonly Format[]
}

/** Parse, Bind, Describe of the portal, Execute of all rows, Sync. */
export function executeFrames(text: string, oids: readonly number[], binding: Binding): Uint8Array {
  const out = new MessageWriter()
  parseInto(out, text, oids)
  out.begin(frontend.bind)
  out.cstring('')
  out.cstring('')
  out.uint16(binding.parameterFormats.length)
  for (const format of binding.parameterFormats) out.int16(format)
  out.uint16(binding.parameters.length)
  for (const parameter of binding.parameters) {
    out.int32(parameter === null ? -1 : parameter.length)
    if (parameter !== null) out.raw(parameter)
  }
  out.uint16(binding.resultFormats.length)
  for (const format of binding.resultFormats) out.int16(format)
  out.end()
  describeInto(out, 'P')
  out.begin(frontend.execute)
  out.cstring('')
  out.int32(0)
  out.end()
  syncInto(out)
  return out.view()
}

export interface RelayedMessage {
  readonly type: number
  /** The whole message, with type and length. */
  readonly bytes: Uint8Array
}

/**
 * Finds the first message of a type. It allocates nothing for the messages before it, because there may be millions:
 * a row without columns has 7 bytes.
 * @param from the index at which a message begins
 * @returns undefined where there is none; `end` is the index behind the message
 * @throws RangeError where the bytes before it are not whole messages
 */
export function findMessage(
  bytes: Uint8Array,
  type: number,
  from = 0,
): (RelayedMessage & { readonly end: number }) | undefined {
  const view = viewOf(bytes)
  for (let at = from; at < bytes.length; ) {
    const end = endAt(view, at)
    if (view.getUint8(at) === type) return { type, bytes: bytes.subarray(at, end), end }
    at = end
  }
  return undefined
}

function viewOf({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length)
}

function endAt(view: DataView, at: number): number {
  const end = at + 5 <= view.byteLength ? at + 1 + view.getInt32(at + 1) : at
  if (end < at + 5 || end > view.byteLength) throw new RangeError('backend messages are cut short')
  return end
}
