/** Parses replies of Trino's statement resource (Trino documentation, "Trino client REST API"). Does not send. */

import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../base/json.ts'
import { protocolError, type TrinoFailure } from './failure.ts'

export interface TrinoColumn {
  readonly name: string
  /** The type as Trino displays it: `decimal(12, 2)`, `timestamp(6) with time zone`. */
  readonly type: string
}

/** Rows, or the segments of the spooling protocol that hold them. */
export type TrinoData =
  | { readonly kind: 'rows'; readonly rows: readonly JsonValue[] }
  | { readonly kind: 'segments'; readonly encoding: string; readonly segments: readonly TrinoSegment[] }

export interface SegmentSize {
  readonly rowCount: number
  /** Bytes of the segment as sent. */
  readonly size: number
  /** Bytes after decompression, where it was compressed. */
  readonly uncompressedSize: number | undefined
}

export type TrinoSegment = SegmentSize &
  (
    | { readonly kind: 'inline'; readonly data: string }
    | {
        readonly kind: 'spooled'
        readonly uri: string
        readonly ackUri: string
        readonly headers: Readonly<Record<string, string>>
      }
  )

export interface TrinoReply {
  readonly nextUri: string | undefined
  readonly columns: readonly TrinoColumn[] | undefined
  readonly data: TrinoData | undefined
  readonly failure: TrinoFailure | undefined
  /** Trino's QueryState: QUEUED, RUNNING, …, FINISHED, FAILED. */
  readonly state: string
  /** Milliseconds. */
  readonly queuedMs: number
  readonly physicalInputBytes: number
}

/** @throws EngineError 08006 where the body is not a reply of the statement resource */
export function parseReply(body: Uint8Array): TrinoReply {
  const reply = parseObject(body)
  const stats = objectIn(reply, 'stats')
  const failure = reply.get('error')
  return {
    nextUri: optional(reply, 'nextUri', text),
    columns: optional(reply, 'columns', (value) => list(value).map(parseColumn)),
    data: optional(reply, 'data', parseData),
    failure: isJsonObject(failure) ? parseFailure(failure) : undefined,
    state: text(stats.get('state')),
    queuedMs: count(stats.get('queuedTimeMillis') ?? 0n),
    physicalInputBytes: count(stats.get('physicalInputBytes') ?? 0n),
  }
}

/**
 * The rows of a decoded segment.
 * @throws EngineError 08006 where the body is not a JSON array
 */
export function parseRows(body: Uint8Array): readonly JsonValue[] {
  return list(parse(body))
}

function parse(body: Uint8Array): JsonValue {
  try {
    return parseJson(body)
  } catch (thrown) {
    throw protocolError('a reply is not valid JSON', thrown)
  }
}

function parseObject(body: Uint8Array): JsonObject {
  const value = parse(body)
  if (!isJsonObject(value)) throw protocolError('a reply is not an object')
  return value
}

function parseColumn(value: JsonValue): TrinoColumn {
  if (!isJsonObject(value)) throw protocolError('a column is not an object')
  return { name: text(value.get('name')), type: text(value.get('type')) }
}

function parseFailure(failure: JsonObject): TrinoFailure {
  const word = (name: string) => {
    const value = failure.get(name)
    return typeof value === 'string' ? value : ''
  }
  return { errorName: word('errorName'), errorType: word('errorType'), message: word('message') }
}

function parseData(value: JsonValue): TrinoData {
  if (!isJsonObject(value)) return { kind: 'rows', rows: list(value) }
  return {
    kind: 'segments',
    encoding: text(value.get('encoding')),
    segments: list(value.get('segments')).map(parseSegment),
  }
}

function parseSegment(value: JsonValue): TrinoSegment {
  if (!isJsonObject(value)) throw protocolError('a segment is not an object')
  const metadata = objectIn(value, 'metadata')
  const size: SegmentSize = {
    rowCount: count(metadata.get('rowsCount')),
    size: count(metadata.get('segmentSize')),
    uncompressedSize: optional(metadata, 'uncompressedSize', count),
  }
  const kind = text(value.get('type'))
  if (kind === 'inline') return { ...size, kind, data: text(value.get('data')) }
  if (kind !== 'spooled') throw protocolError('a segment has an unknown type')
  return {
    ...size,
    kind,
    uri: text(value.get('uri')),
    ackUri: text(value.get('ackUri')),
    headers: optional(value, 'headers', parseHeaders) ?? {},
  }
}

const headerName = /^[A-Za-z0-9-]{1,100}$/
const headerValue = /^[\x20-\x7e]{0,8192}$/

function parseHeaders(value: JsonValue): Readonly<Record<string, string>> {
  if (!isJsonObject(value)) throw protocolError('the headers of a segment are not an object')
  return Object.fromEntries(
    [...value].map(([name, values]) => {
      const joined = list(values).map(text).join(', ')
      if (!headerName.test(name) || name.toLowerCase() === 'host' || !headerValue.test(joined))
        throw protocolError('a segment has an invalid header')
      return [name.toLowerCase(), joined]
    }),
  )
}

function objectIn(object: JsonObject, name: string): JsonObject {
  const value = object.get(name)
  if (!isJsonObject(value)) throw protocolError(`${name} is missing`)
  return value
}

function optional<T>(object: JsonObject, name: string, read: (value: JsonValue) => T): T | undefined {
  const value = object.get(name)
  return value === undefined || value === null ? undefined : read(value)
}

function text(value: JsonValue | undefined): string {
  if (typeof value !== 'string') throw protocolError('a text is missing')
  return value
}

function list(value: JsonValue | undefined): readonly JsonValue[] {
  if (!Array.isArray(value)) throw protocolError('a list is missing')
  return value
}

function count(value: JsonValue | undefined): number {
  if (typeof value !== 'bigint' || value < 0n || value > BigInt(Number.MAX_SAFE_INTEGER))
    throw protocolError('a count is missing')
  return Number(value)
}
