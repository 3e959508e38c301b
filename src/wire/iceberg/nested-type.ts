/** Reads the type of a field in schema JSON, nested fields with their ids. */

import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import { fieldsIn, type IcebergType } from '../../core/iceberg-type.ts'
import type { FieldReader } from './fields.ts'

/** @throws Fault of the reader for a malformed type */
export function icebergTypeOf(type: JsonValue | undefined, reader: FieldReader): IcebergType {
  if (typeof type === 'string') return type
  if (!isJsonObject(type)) throw reader.fault('the `type` of a field must be a string or an object')
  const kind = reader.string(type, 'type')
  const inner = (part: string) => icebergTypeOf(type.get(part), reader)
  if (kind === 'struct')
    return {
      type: kind,
      fields: reader.objects(type, 'fields').map((field) => ({
        fieldId: fieldIdOf(field, 'id', reader),
        name: reader.string(field, 'name'),
        type: icebergTypeOf(field.get('type'), reader),
        required: field.get('required') === true,
        ...((field.get('initial-default') ?? null) !== null && { defaults: true as const }),
      })),
    }
  if (kind === 'list')
    return {
      type: kind,
      elementId: fieldIdOf(type, 'element-id', reader),
      element: inner('element'),
      ...(type.get('element-required') === true && { elementRequired: true }),
    }
  if (kind === 'map')
    return {
      ...{ type: kind, keyId: fieldIdOf(type, 'key-id', reader), key: inner('key') },
      ...{ valueId: fieldIdOf(type, 'value-id', reader), value: inner('value') },
      ...(type.get('value-required') === true && { valueRequired: true }),
    }
  throw reader.fault('a nested type must be a struct, list or map')
}

/** Field ids of all fields nested in a type, parents first. */
export function nestedIdsOf(type: IcebergType): readonly number[] {
  return fieldsIn(type).flatMap((field) => [field.fieldId, ...nestedIdsOf(field.type)])
}

/** @throws Fault of the reader where it is no safe integer */
export function fieldIdOf(object: JsonObject, key: string, reader: FieldReader): number {
  const id = Number(reader.integer(object, key))
  if (!Number.isSafeInteger(id)) throw reader.fault(`\`${key}\` is too large`)
  return id
}
