/** Opens manifests and manifest lists within bounds, and finds their fields by Iceberg's field ids. */

import { limits } from '../../limits.ts'
import { type AvroFile, readAvro } from '../avro.ts'
import { ReadFailure } from '../read-failure.ts'

/** Most entries of one manifest or manifest list. */
export const manifestEntriesMax = 1_000_000

/** The reason for a manifest or manifest list that only a holder of its key can read. */
export const encryptedManifest = 'a manifest is encrypted, and its key is not known'
/** How Iceberg's encrypted streams begin. */
const encryptedStart = Buffer.from('AGS1')

/**
 * A manifest or a manifest list in bytes that were already read.
 * @throws ReadFailure where they are encrypted or not an Avro file
 */
export function manifestIn(bytes: Uint8Array): AvroFile {
  if (encryptedStart.equals(bytes.subarray(0, encryptedStart.length)))
    throw new ReadFailure(encryptedManifest)
  return readAvro(bytes, { bytesMax: limits.tableMetadataBytesMax, recordsMax: manifestEntriesMax })
}

/**
 * The names of the fields with these ids in the writer's schema.
 * @param ids by default name, which is used where the schema lacks the id, as version 1 writers omit ids
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

/** The schema of a record field, without its union with null. */
export function recordField(schema: unknown, name: string): unknown {
  const type = fieldsOf(schema).find((one) => one.name === name)?.type
  return Array.isArray(type) ? type.find((branch) => typeof branch === 'object' && branch) : type
}

interface AvroField {
  readonly name?: unknown
  readonly type?: unknown
  readonly 'field-id'?: unknown
}

/** The fields of a record's schema in their order; empty for another schema. */
export function fieldsOf(schema: unknown): readonly AvroField[] {
  const fields = (schema as { fields?: unknown } | null)?.fields
  return Array.isArray(fields) ? (fields as AvroField[]) : []
}
