/** Reads and filters the protocol messages of catalog statements: those of the client and those of the database. */

/** Message types that a statement about the catalog may consist of. F is left out, because it calls any function. */
const frontendTypes: ReadonlySet<string> = new Set(['Q', 'P', 'B', 'D', 'E', 'C', 'H', 'S'])

const decoder = new TextDecoder('utf-8', { fatal: true })
const encoder = new TextEncoder()

interface Message {
  readonly type: string
  /** Offset of its type byte, and of the next message's. */
  readonly start: number
  readonly end: number
  readonly body: Uint8Array
}

/**
 * The messages of these types, or all. Others are skipped without an object, because there may be millions.
 * @throws RangeError where the bytes are not whole messages
 */
function* messagesOf(bytes: Uint8Array, types?: ReadonlySet<number>): Generator<Message> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 0; at < bytes.length; ) {
    if (at + 5 > bytes.length) throw new RangeError('a message is cut')
    const length = view.getUint32(at + 1)
    const end = at + 1 + length
    if (length < 4 || end > bytes.length) throw new RangeError('a message is cut')
    const type = view.getUint8(at)
    if (types === undefined || types.has(type))
      yield { type: String.fromCharCode(type), start: at, end, body: bytes.subarray(at + 5, end) }
    at = end
  }
}

interface Frontend {
  /** The texts of every Query and Parse, in order. */
  readonly texts: readonly string[]
  /** The messages unchanged, followed by a Sync where they end without one. */
  readonly messages: Uint8Array
}

/**
 * Reads a sequence of frontend messages.
 * @throws RangeError where a message is cut, not of a served type, or not in UTF-8
 */
export function readFrontend(bytes: Uint8Array): Frontend {
  const texts: string[] = []
  let last = ''
  for (const { type, body } of messagesOf(bytes)) {
    if (!frontendTypes.has(type)) throw new RangeError(`a message of type ${type}`)
    if (type === 'Q') texts.push(textAt(body, 0).text)
    if (type === 'P') texts.push(textAt(body, textAt(body, 0).end).text)
    last = type
  }
  if (last === 'Q' || last === 'S') return { texts, messages: bytes }
  const messages = new Uint8Array(bytes.length + 5)
  messages.set(bytes)
  messages.set([0x53, 0, 0, 0, 4], bytes.length)
  return { texts, messages }
}

/** Whether the messages only have a statement analysed: Parse and Sync. @throws RangeError where a message is cut */
export function isAnalysis(bytes: Uint8Array): boolean {
  return [...messagesOf(bytes)].map(({ type }) => type).join('') === 'PS'
}

function textAt(body: Uint8Array, start: number): { readonly text: string; readonly end: number } {
  const end = body.indexOf(0, start)
  if (end < 0) throw new RangeError('a text does not end')
  try {
    return { text: decoder.decode(body.subarray(start, end)), end: end + 1 }
  } catch {
    throw new RangeError('a text is not UTF-8')
  }
}

export interface Backend {
  /** Without ReadyForQuery and ParameterStatus; errors and notices shortened to `keptFields`. */
  readonly messages: Uint8Array
  /** Transaction status of the last ReadyForQuery. */
  readonly status: string
  readonly failed: boolean
}

/** ReadyForQuery, ParameterStatus and notifications, which are dropped; errors and notices, which are shortened. */
const changed: ReadonlySet<number> = new Set([...'ZSAEN'].map((type) => type.charCodeAt(0)))

/** Severity, code, message and position. Other fields may reveal objects that the statement did not name. */
const keptFields: ReadonlySet<number> = new Set([...'SVCMP'].map((field) => field.charCodeAt(0)))

/**
 * Reads the database's messages.
 * @throws RangeError where a message is cut
 */
export function readBackend(bytes: Uint8Array): Backend {
  const kept: Uint8Array[] = []
  let status = ''
  let failed = false
  // Unchanged messages are copied as one range, because there may be millions of rows.
  let from = 0
  for (const { type, start, end, body } of messagesOf(bytes, changed)) {
    kept.push(bytes.subarray(from, start))
    from = end
    if (type === 'Z') status = String.fromCharCode(body[0] ?? 0)
    if (type !== 'E' && type !== 'N') continue
    failed ||= type === 'E'
    kept.push(withFields(type, body))
  }
  kept.push(bytes.subarray(from))
  return { messages: Buffer.concat(kept), status, failed }
}

function withFields(type: string, body: Uint8Array): Uint8Array {
  const fields: Uint8Array[] = []
  for (let at = 0; at < body.length && body[at] !== 0; ) {
    const end = body.indexOf(0, at)
    if (end < 0) throw new RangeError('a field does not end')
    if (keptFields.has(body[at] ?? 0)) fields.push(body.subarray(at, end + 1))
    at = end + 1
  }
  return message(type, Buffer.concat([...fields, new Uint8Array(1)]))
}

function message(type: string, body: Uint8Array): Uint8Array {
  const whole = new Uint8Array(5 + body.length)
  whole[0] = type.charCodeAt(0)
  new DataView(whole.buffer).setUint32(1, 4 + body.length)
  whole.set(body, 5)
  return whole
}

/** A simple Query message. @throws RangeError for a text with NUL, which would truncate the message */
export function queryMessage(text: string): Uint8Array {
  if (text.includes('\0')) throw new RangeError('a text with NUL')
  return message('Q', encoder.encode(`${text}\0`))
}

/** An ErrorResponse. @param code an SQLSTATE */
export function errorMessage(code: string, text: string): Uint8Array {
  return message('E', encoder.encode(`SERROR\0VERROR\0C${code}\0M${text}\0\0`))
}
