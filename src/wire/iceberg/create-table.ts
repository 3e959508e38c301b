/** Converts a CreateTableRequest of Iceberg REST into the updates that build the table's first metadata. */

import { Fault } from '../../base/fault.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import { fieldReader } from './fields.ts'

const reader = fieldReader((what) => new Fault('bad_request', `Invalid create request: ${what}.`))

const formatVersionDefault = '2'

/**
 * The updates that a catalog derives from the request. They assign no uuid, and set a location only where the request
 * has one. Field ids are assigned again from 1, as the specification requires of catalogs, also in partition and sort
 * sources.
 * @throws Fault bad_request where the request is malformed
 */
export function createTableUpdates(request: JsonObject): readonly JsonObject[] {
  const ids = new Map<JsonValue, bigint>()
  let lastId = 0n
  const fresh = withFreshIds(reader.object(request, 'schema'), (old) => {
    const id = ++lastId
    ids.set(old, id)
    return id
  })
  const identifiers = reader.optionalIntegers(fresh, 'identifier-field-ids') ?? []
  const properties = new Map(reader.optionalObject(request, 'properties'))
  const version = properties.get('format-version') ?? formatVersionDefault
  properties.delete('format-version')
  // A lenient catalog could read `03` as another version than policies see.
  if (typeof version !== 'string' || !/^[1-9]$/.test(version))
    throw reader.fault('the property `format-version` must be a string of one digit')
  const location = reader.optionalString(request, 'location')
  const spec = reader.optionalObject(request, 'partition-spec') ?? new Map()
  const order = reader.optionalObject(request, 'write-order') ?? new Map()
  return [
    update('upgrade-format-version', { 'format-version': BigInt(version) }),
    update('add-schema', {
      schema: new Map([
        ...fresh,
        ['schema-id', 0n],
        ['identifier-field-ids', identifiers.map((id) => ids.get(id) ?? id)],
      ]),
    }),
    update('set-current-schema', { 'schema-id': -1n }),
    update('add-spec', { spec: withSources(spec, 'spec-id', ids) }),
    update('set-default-spec', { 'spec-id': -1n }),
    update('add-sort-order', { 'sort-order': withSources(order, 'order-id', ids) }),
    update('set-default-sort-order', { 'sort-order-id': -1n }),
    ...(location === undefined ? [] : [update('set-location', { location })]),
    update('set-properties', { updates: properties }),
  ]
}

function update(action: string, fields: Readonly<Record<string, JsonValue>>): JsonObject {
  return new Map<string, JsonValue>([['action', action], ...Object.entries(fields)])
}

/** A struct with new field ids. As in Iceberg, all fields of a level come before those nested in them. */
function withFreshIds(struct: JsonObject, next: (old: JsonValue) => bigint): JsonObject {
  const numbered = reader
    .objects(struct, 'fields')
    .map((field) => new Map(field).set('id', next(reader.integer(field, 'id'))))
  const nested = (type: JsonValue | undefined): JsonValue => {
    if (!isJsonObject(type)) return type ?? null
    if (type.get('type') === 'struct') return withFreshIds(type, next)
    const copy = new Map(type)
    const parts = ['element', 'key', 'value'].filter((part) => type.has(part))
    for (const part of parts) copy.set(`${part}-id`, next(reader.integer(type, `${part}-id`)))
    for (const part of parts) copy.set(part, nested(type.get(part)))
    return copy
  }
  return new Map(struct).set(
    'fields',
    numbered.map((field) => field.set('type', nested(field.get('type')))),
  )
}

function withSources(spec: JsonObject, idName: string, ids: ReadonlyMap<JsonValue, bigint>): JsonObject {
  const fields = (reader.optionalObjects(spec, 'fields') ?? []).map((field) => {
    const id = ids.get(field.get('source-id') ?? null)
    return id === undefined ? field : new Map(field).set('source-id', id)
  })
  // The unsorted order has the id 0 by specification, so other orders begin at 1. Specs begin at 0.
  const id = idName === 'order-id' && fields.length > 0 ? 1n : 0n
  return new Map(spec).set(idName, id).set('fields', fields)
}
