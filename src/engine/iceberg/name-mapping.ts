/**
 * Reads `schema.name-mapping.default`, which maps column names to field ids for files that were written without
 * field ids (Iceberg specification, Column Projection). Top-level columns only.
 */

import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts'
import { metadataReader } from '../../wire/iceberg/table-metadata.ts'

/** Field ids by column name. */
export type NameMapping = ReadonlyMap<string, number>

/**
 * The mapping in a table's properties; undefined where there is none.
 * @throws Fault where it is malformed or gives one name to two fields
 */
export function nameMapping(metadata: JsonObject): NameMapping | undefined {
  const properties = metadataReader.optionalObject(metadata, 'properties')
  const text = properties && metadataReader.optionalString(properties, 'schema.name-mapping.default')
  if (text === undefined) return undefined
  const entries = parseJson(text)
  if (!Array.isArray(entries) || !entries.every(isJsonObject))
    throw metadataReader.fault('the name mapping is not an array of objects')
  const ids = new Map<string, number>()
  for (const entry of entries) {
    const id = metadataReader.optionalInteger(entry, 'field-id')
    if (id === undefined) continue
    for (const name of metadataReader.strings(entry, 'names')) {
      if (ids.has(name)) throw metadataReader.fault('the name mapping gives one name to two fields')
      ids.set(name, Number(id))
    }
  }
  return ids
}
