/** Parses the first packet of a connection: start-up, request for encryption, or cancel request. */

import { ByteReader, ProtocolViolation } from './byte-reader.ts'
import { protocolMajor, startupCodes } from './protocol.ts'

export type StartupPacket =
  | { readonly kind: 'ssl' }
  | { readonly kind: 'gss_encryption' }
  | { readonly kind: 'cancel'; readonly processId: number; readonly key: Uint8Array }
  | { readonly kind: 'unsupported'; readonly major: number; readonly minor: number }
  | {
      readonly kind: 'startup'
      readonly minor: number
      /** Protocol options (`_pq_.`…), none of which is supported. */
      readonly protocolOptions: readonly string[]
      readonly parameters: ReadonlyMap<string, string>
    }

/** A cancel key has 4 bytes in version 3.0, and up to 256 since 3.2. */
const cancelKeyBytesMax = 256

/** @throws ProtocolViolation for a packet that is none of these */
export function readStartupPacket(body: Uint8Array): StartupPacket {
  const reader = new ByteReader(body)
  const version = reader.int32()
  if (version === startupCodes.ssl || version === startupCodes.gssEncryption) {
    reader.end()
    return { kind: version === startupCodes.ssl ? 'ssl' : 'gss_encryption' }
  }
  if (version === startupCodes.cancel) {
    const processId = reader.int32()
    const key = new Uint8Array(reader.rest())
    if (key.length < 4 || key.length > cancelKeyBytesMax)
      throw new ProtocolViolation('invalid length of query cancel packet')
    return { kind: 'cancel', processId, key }
  }
  const major = version >>> 16
  const minor = version & 0xffff
  if (major !== protocolMajor) return { kind: 'unsupported', major, minor }
  return { kind: 'startup', minor, ...readParameters(reader) }
}

function readParameters(reader: ByteReader) {
  const parameters = new Map<string, string>()
  const protocolOptions: string[] = []
  for (let name = reader.cstring(); name !== ''; name = reader.cstring()) {
    const value = reader.cstring()
    if (name.startsWith('_pq_.')) protocolOptions.push(name)
    else parameters.set(name, value)
  }
  reader.end()
  return { parameters, protocolOptions }
}

/**
 * The settings in the start-up parameter `options`: `-c name=value` and `--name=value`. A backslash escapes a space.
 * @throws ProtocolViolation for any other switch
 */
export function readOptions(options: string): readonly (readonly [name: string, value: string])[] {
  const words = (options.match(/(?:\\.|[^\s\\])+/gs) ?? []).map((word) => word.replace(/\\(.)/gs, '$1'))
  const settings: [string, string][] = []
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ''
    const assignment = word === '-c' ? words[++index] : /^(?:-c|--)(.+)$/s.exec(word)?.[1]
    const match = assignment === undefined ? null : /^([^=]+)=(.*)$/s.exec(assignment)
    if (match === null) throw new ProtocolViolation('invalid command-line argument for server process')
    settings.push([(match[1] ?? '').replaceAll('-', '_'), match[2] ?? ''])
  }
  return settings
}
