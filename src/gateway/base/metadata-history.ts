/** Lists the metadata files that a table has had, as far as its metadata log still names them. */

import type { JsonObject, JsonValue } from '../../base/json.ts'

export interface HistoryEntry {
  readonly metadataLocation: string
  readonly timestampMs: JsonValue | undefined
}

/** The metadata log and the current file, oldest first. */
export function historyOf(table: {
  readonly metadata: JsonObject
  readonly metadataLocation: string
}): readonly HistoryEntry[] {
  const log = listOf(table.metadata.get('metadata-log')).map((entry) => ({
    metadataLocation: String(entry.get('metadata-file')),
    timestampMs: entry.get('timestamp-ms'),
  }))
  return [
    ...log,
    { metadataLocation: table.metadataLocation, timestampMs: table.metadata.get('last-updated-ms') },
  ]
}

/** The objects in a list; none if the value is not a list. */
export function listOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((item) => item instanceof Map) : []
}
