/** Reads segments of the spooling protocol: fetches, checks, decodes and acknowledges them. */

import { promisify } from 'node:util'
import { zstdDecompress } from 'node:zlib'
import type { JsonValue } from '../../base/json.ts'
import { limits } from '../../limits.ts'
import { parseRows, type SegmentSize, type TrinoSegment } from './answer.ts'
import { protocolError } from './failure.ts'
import type { TrinoHttp } from './http.ts'

/** Offered encodings, best first. json+lz4 is missing because neither Bun nor Node decodes it. */
export const encodings = 'json+zstd,json'

const decompress = promisify(zstdDecompress)

/**
 * The rows of one segment. The acknowledgement of a spooled segment is not waited for, because Trino drops segments
 * after a while anyway.
 * @throws EngineError 08006 where the segment is invalid, and as TrinoHttp
 */
export async function readSegment(
  http: TrinoHttp,
  segment: TrinoSegment,
  encoding: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<readonly JsonValue[]> {
  if (Math.max(segment.size, segment.uncompressedSize ?? 0) > limits.trinoAnswerBytesMax)
    throw protocolError('a segment is too large')
  if (segment.kind === 'inline') return await decode(Buffer.from(segment.data, 'base64'), segment, encoding)
  const own = isCoordinators(http, segment.uri) ? headers : {}
  const body = await http.segment({
    method: 'GET',
    uri: segment.uri,
    headers: { ...own, ...segment.headers },
    signal,
  })
  const rows = await decode(body, segment, encoding)
  http
    .segment({
      method: 'GET',
      uri: segment.ackUri,
      headers: { ...(isCoordinators(http, segment.ackUri) ? headers : {}), ...segment.headers },
      signal: AbortSignal.timeout(limits.trinoStopMs),
    })
    .catch(() => {})
  return rows
}

function isCoordinators(http: TrinoHttp, uri: string): boolean {
  return URL.canParse(uri) && new URL(uri).origin === http.settings.endpoint.origin
}

async function decode(
  bytes: Uint8Array,
  { rowCount, size, uncompressedSize }: SegmentSize,
  encoding: string,
): Promise<readonly JsonValue[]> {
  if (bytes.length !== size) throw protocolError('a segment has another length than announced')
  const rows = parseRows(await plain(bytes, encoding, uncompressedSize))
  if (rows.length !== rowCount) throw protocolError('a segment has another number of rows than announced')
  return rows
}

async function plain(
  bytes: Uint8Array,
  encoding: string,
  uncompressedSize: number | undefined,
): Promise<Uint8Array> {
  if (encoding === 'json') return bytes
  if (encoding !== 'json+zstd') throw protocolError('a segment has an encoding that was not offered')
  // Trino does not compress small segments; they have no uncompressed size.
  if (uncompressedSize === undefined) return bytes
  try {
    const whole = await decompress(bytes, { maxOutputLength: Math.max(uncompressedSize, 1) })
    if (whole.length === uncompressedSize) return whole
  } catch (thrown) {
    throw protocolError('a segment cannot be decompressed', thrown)
  }
  throw protocolError('a segment has another length than announced after decompression')
}
