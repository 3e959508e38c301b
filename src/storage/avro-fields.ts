/** Manifest files and lists: opened within bounds, their fields found by Iceberg's field ids. */

import { limits } from '../limits.ts'
import { type AvroFile, readAvro } from './avro.ts'
import type { Storage } from './storage.ts'

/** Entries that one manifest or manifest list may hold. */
export const manifestEntriesMax = 1_000_000

/**
 * Reads a manifest or a manifest list whole.
 * @throws ReadFailure where it is not there, too large or no Avro file
 */
export async function openManifest(storage: Storage, location: string): Promise<AvroFile> {
  return manifestIn(await storage.readAll(location, limits.tableMetadataBytesMax))
}

/**
 * A manifest or a manifest list in bytes that were read already.
 * @throws ReadFailure where they are no Avro file
 */
export function manifestIn(bytes: Uint8Array): AvroFile {
  return readAvro(bytes, { bytesMax: limits.tableMetadataBytesMax, recordsMax: manifestEntriesMax })
}

/**
 * The names under which the writer's schema holds these field ids.
 * @param ids by the name that is taken where the schema holds no such id, as version 1 writers left them out
 */
export function fieldNames<K extends string>(
  schema: unknown,
  ids: Readonly<Record<K, number>>,
): Record<K, string> {
  const list = fieldsOf(schema)
  const entries = Object.entries(ids).map(([name, id]) => {
    const found = list.find((field) => field['field-id'] === id)
    return [name, typeof found?.name === 'string' ? found.name : name]
  })
  return Object.fromEntries(entries) as Record<K, string>
}

/** The schema of a record field, taken out of its union with null. */
export function recordField(schema: unknown, name: string): unknown {
  const type = fieldsOf(schema).find((one) => one.name === name)?.type
  return Array.isArray(type) ? type.find((branch) => typeof branch === 'object' && branch) : type
}

interface AvroField {
  readonly name?: unknown
  readonly type?: unknown
  readonly 'field-id'?: unknown
}

/** The fields of a record's schema in their order; none where it is no record. */
export function fieldsOf(schema: unknown): readonly AvroField[] {
  const fields = (schema as { fields?: unknown } | null)?.fields
  return Array.isArray(fields) ? (fields as AvroField[]) : []
}
