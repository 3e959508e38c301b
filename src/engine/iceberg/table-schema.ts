/** Reads the schemas of table metadata: top-level fields by id, with types and defaults. Not nested fields. */

import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { IcebergType } from '../../core/iceberg-type.ts'
import { currentSchema, metadataReader, schemasOf } from '../../wire/iceberg/table-metadata.ts'

/** A top-level field. */
export interface TableField {
  readonly id: number
  readonly name: string
  readonly type: IcebergType
  readonly required: boolean
  /** Id of a list's element. */
  readonly elementId: number | undefined
  /** `initial-default` in JSON single-value form; null and absent both mean NULL. */
  readonly initialDefault: JsonValue
}

export type TableSchema = ReadonlyMap<number, TableField>

/**
 * One schema's fields by id.
 * @throws Fault upstream_failed where the schema is malformed
 */
export function tableSchema(schema: JsonObject): TableSchema {
  const fields = metadataReader.objects(schema, 'fields').map(tableField)
  const byId = new Map(fields.map((field) => [field.id, field]))
  if (byId.size !== fields.length) throw metadataReader.fault('two fields of a schema have one id')
  return byId
}

/**
 * The schema that a snapshot was written with; the current one where the snapshot names none.
 * @throws Fault upstream_failed where the metadata lacks the schema that the snapshot names
 */
export function schemaOfSnapshot(metadata: JsonObject, snapshot: JsonObject | undefined): JsonObject {
  const id = snapshot && metadataReader.optionalInteger(snapshot, 'schema-id')
  if (id === undefined) return currentSchema(metadata)
  const found = schemasOf(metadata).find((schema) => schema.get('schema-id') === id)
  if (found === undefined) throw metadataReader.fault(`the snapshot's schema ${id} is not there`)
  return found
}

function tableField(field: JsonObject): TableField {
  const type = field.get('type')
  return {
    id: Number(metadataReader.integer(field, 'id')),
    name: metadataReader.string(field, 'name'),
    type: icebergType(type),
    required: field.get('required') === true,
    elementId:
      isJsonObject(type) && type.get('type') === 'list'
        ? Number(metadataReader.integer(type, 'element-id'))
        : undefined,
    initialDefault: field.get('initial-default') ?? null,
  }
}

function icebergType(type: JsonValue | undefined): IcebergType {
  if (typeof type === 'string') return type
  if (!isJsonObject(type)) throw metadataReader.fault('a field has no type')
  const kind = metadataReader.string(type, 'type')
  if (kind === 'list') return { type: 'list', element: icebergType(type.get('element')) }
  if (kind === 'struct' || kind === 'map') return { type: kind }
  throw metadataReader.fault(`\`type\` is ${kind}`)
}

/** Whether two types are the same, regardless of spaces in their parameters. */
export function isSameType(left: IcebergType, right: IcebergType): boolean {
  if (typeof left === 'string' || typeof right === 'string')
    return (
      typeof left === 'string' &&
      typeof right === 'string' &&
      left.replaceAll(' ', '') === right.replaceAll(' ', '')
    )
  if (left.type !== 'list' || right.type !== 'list') return left.type === right.type
  return isSameType(left.element, right.element)
}
