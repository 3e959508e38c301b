/** Reads the schemas of table metadata: top-level fields by id, with types and defaults. */

import type { JsonObject, JsonValue } from '../../base/json.ts'
import { fieldsIn, type IcebergType } from '../../core/iceberg-type.ts'
import { icebergTypeOf } from '../../wire/iceberg/nested-type.ts'
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
  const type = icebergTypeOf(field.get('type'), metadataReader)
  return {
    id: Number(metadataReader.integer(field, 'id')),
    name: metadataReader.string(field, 'name'),
    type,
    required: field.get('required') === true,
    elementId: typeof type !== 'string' && type.type === 'list' ? type.elementId : undefined,
    initialDefault: field.get('initial-default') ?? null,
  }
}

/** Whether two types are the same, by the ids of nested fields. Spaces in parameters and names do not count. */
export function isSameType(left: IcebergType, right: IcebergType): boolean {
  if (typeof left === 'string' || typeof right === 'string')
    return (
      typeof left === 'string' &&
      typeof right === 'string' &&
      left.replaceAll(' ', '') === right.replaceAll(' ', '')
    )
  if (left.type !== right.type) return false
  // The type of a list may come without its element's id.
  if (left.type === 'list' && right.type === 'list')
    return (
      (left.elementId === undefined || right.elementId === undefined || left.elementId === right.elementId) &&
      isSameType(left.element, right.element)
    )
  const [own, other] = [fieldsIn(left), fieldsIn(right)]
  return (
    own.length === other.length &&
    own.every(({ fieldId, type }, index) => {
      const same = other[index]
      return same?.fieldId === fieldId && isSameType(type, same.type)
    })
  )
}
