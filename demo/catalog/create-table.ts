/** A CreateTableRequest of the Iceberg REST specification as the updates that build its first metadata. */

import { isJsonObject, type JsonObject, type JsonValue } from '../../src/base/json.ts'
import { Refusal, type TableChange } from './table-store.ts'

/**
 * Field ids are given anew from 1, as the specification asks of a catalog, and partition and sort sources follow.
 * @param locationDefault the table's location where the request names none
 */
export function createTableChange(request: JsonObject, locationDefault: string): TableChange {
  const schema = request.get('schema')
  if (!isJsonObject(schema)) throw new Refusal(400, 'BadRequestException', 'The schema is missing.')
  const ids = new Map<JsonValue, bigint>()
  let lastId = 0n
  const fresh = withFreshIds(schema, (old) => {
    const id = ++lastId
    if (old !== undefined) ids.set(old, id)
    return id
  })
  const identifiers = fresh.get('identifier-field-ids')
  const properties = new Map(objectOf(request.get('properties')))
  const version = properties.get('format-version')
  properties.delete('format-version')
  const spec = request.get('partition-spec')
  const order = request.get('write-order')
  const update = (action: string, fields: Readonly<Record<string, JsonValue>>): JsonObject =>
    new Map<string, JsonValue>([['action', action], ...Object.entries(fields)])
  const location = request.get('location')
  return {
    requirements: [new Map([['type', 'assert-create']])],
    updates: [
      update('assign-uuid', { uuid: crypto.randomUUID() }),
      update('upgrade-format-version', {
        'format-version': /^[123]$/.test(String(version)) ? BigInt(String(version)) : 2n,
      }),
      update('add-schema', {
        schema: new Map(fresh).set('schema-id', 0n).set(
          'identifier-field-ids',
          arrayOf(identifiers).map((id) => ids.get(id) ?? id),
        ),
      }),
      update('set-current-schema', { 'schema-id': -1n }),
      update('add-spec', { spec: withSources(isJsonObject(spec) ? spec : new Map(), 'spec-id', ids) }),
      update('set-default-spec', { 'spec-id': -1n }),
      update('add-sort-order', {
        'sort-order': withSources(isJsonObject(order) ? order : new Map(), 'order-id', ids),
      }),
      update('set-default-sort-order', { 'sort-order-id': -1n }),
      update('set-location', { location: typeof location === 'string' ? location : locationDefault }),
      update('set-properties', { updates: properties }),
    ],
  }
}

/** A struct with new field ids: all fields of a level before those nested in them, as Iceberg numbers them. */
function withFreshIds(struct: JsonObject, next: (old: JsonValue | undefined) => bigint): JsonObject {
  const numbered = arrayOf(struct.get('fields')).map((field) => {
    if (!isJsonObject(field)) throw new Refusal(400, 'BadRequestException', 'A schema field is no object.')
    return new Map(field).set('id', next(field.get('id')))
  })
  const nested = (type: JsonValue | undefined): JsonValue => {
    if (!isJsonObject(type)) return type ?? null
    const copy = new Map(type)
    if (type.get('type') === 'struct') return withFreshIds(type, next)
    for (const [idName, typeName] of [
      ['element-id', 'element'],
      ['key-id', 'key'],
      ['value-id', 'value'],
    ] as const)
      if (type.has(idName)) copy.set(idName, next(type.get(idName))).set(typeName, type.get(typeName) ?? null)
    for (const typeName of ['element', 'key', 'value'])
      if (type.has(typeName)) copy.set(typeName, nested(type.get(typeName)))
    return copy
  }
  return new Map(struct).set(
    'fields',
    numbered.map((field) => field.set('type', nested(field.get('type')))),
  )
}

function withSources(spec: JsonObject, idName: string, ids: ReadonlyMap<JsonValue, bigint>): JsonObject {
  const fields = arrayOf(spec.get('fields')).map((field) => {
    const source = isJsonObject(field) ? field.get('source-id') : undefined
    const id = source === undefined ? undefined : ids.get(source)
    return isJsonObject(field) && id !== undefined ? new Map(field).set('source-id', id) : field
  })
  // An order without fields is the unsorted order, which is 0 by specification; specs count from 0.
  const id = idName === 'order-id' && fields.length > 0 ? 1n : 0n
  return new Map(spec).set(idName, id).set('fields', fields)
}

function arrayOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : []
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : new Map()
}
