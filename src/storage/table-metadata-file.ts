/** Reads a table's metadata file (Iceberg specification, Table Metadata), compressed or not. */

import { gunzipSync } from 'node:zlib'
import { isJsonObject, type JsonObject, parseJson } from '../base/json.ts'
import { limits } from '../limits.ts'
import { formatVersion } from '../wire/iceberg/table-metadata.ts'
import { ReadFailure, toReadFailure } from './read-failure.ts'
import type { Storage } from './storage.ts'

/**
 * Reads a metadata file of a supported format version.
 * @throws ReadFailure
 */
export async function readMetadata(storage: Storage, location: string): Promise<JsonObject> {
  return parseMetadata(await storage.readAll(location, limits.tableMetadataBytesMax))
}

/**
 * Parses the content of a metadata file of a supported format version.
 * @throws ReadFailure
 */
export function parseMetadata(bytes: Uint8Array): JsonObject {
  try {
    const gzip = bytes[0] === 0x1f && bytes[1] === 0x8b
    const text = gzip ? gunzipSync(bytes, { maxOutputLength: limits.tableMetadataBytesMax }) : bytes
    const metadata = parseJson(text, { depthMax: limits.jsonDepthMax })
    if (!isJsonObject(metadata)) throw new ReadFailure('the metadata file is not a JSON object')
    formatVersion(metadata)
    return metadata
  } catch (thrown) {
    throw toReadFailure(thrown, 'the metadata file')
  }
}
