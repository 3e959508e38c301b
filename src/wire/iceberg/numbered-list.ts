/**
 * Holds the schemas, partition specs or sort orders of a metadata draft. The catalog numbers them and reuses equal
 * ones; one is current. An id that writer and catalog could understand differently is refused.
 */

import { Fault } from '../../base/fault.ts'
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from '../../base/json.ts'
import { fieldReader } from './fields.ts'
import { metadataReader } from './table-metadata.ts'

export interface NumberedList {
  readonly idKey: 'schema-id' | 'spec-id' | 'order-id'
  readonly byId: Map<bigint, JsonObject>
  currentId: bigint
  nextId: bigint
  /** Ids by fingerprint; equal items have equal fingerprints. Filled when first needed. */
  idByFingerprint: Map<string, bigint> | undefined
  readonly fingerprint: (item: JsonObject) => string
  /** The item that -1 means: the last one that the updates added. */
  lastAddedId: bigint | undefined
  readonly addedIds: Set<bigint>
  /** Ids that the writer and the catalog may understand differently. */
  readonly ambiguousIds: Set<bigint>
  /** Whether these updates removed the item with the highest id, which some catalogs then assign again. */
  newestRemoved: boolean
  /** Whether what the updates add may be there from an earlier application. */
  again: boolean
  touched: boolean
}

/** Reads update actions; mistakes in them are the writer's (bad_request). */
export const updateReader = fieldReader((what) => new Fault('bad_request', `Invalid table update: ${what}.`))

/**
 * @param items the items of the metadata
 * @param currentItem the current item; undefined in a table that is being created
 * @param initialId the first id to assign
 * @throws Fault upstream_failed where an item has no id
 */
export function numberedList(
  idKey: NumberedList['idKey'],
  items: readonly JsonObject[],
  currentItem: JsonObject | undefined,
  initialId: bigint,
): NumberedList {
  const byId = new Map(items.map((item) => [metadataReader.integer(item, idKey), item]))
  let nextId = initialId
  for (const id of byId.keys()) if (id >= nextId) nextId = id + 1n
  return {
    idKey,
    byId,
    // In a new table no item is current until the item 0 is added, which its first schema and spec are.
    currentId: currentItem ? metadataReader.integer(currentItem, idKey) : 0n,
    nextId,
    idByFingerprint: undefined,
    fingerprint: fingerprints[idKey],
    lastAddedId: undefined,
    addedIds: new Set(),
    ambiguousIds: new Set(),
    newestRemoved: false,
    again: false,
    touched: false,
  }
}

/**
 * Adds an item under the next free id, unless the list has an equal one.
 * @param build makes the stored item from its id; not called where an equal item exists
 * @param fixedId the id that such an item always has
 * @throws Fault bad_request for a new item where these updates removed the newest one: catalogs number it differently,
 *   and Iceberg's own then writes a table that cannot be read
 */
export function addNumbered(
  list: NumberedList,
  sent: JsonObject,
  build: (id: bigint) => JsonObject,
  fixedId?: bigint,
): void {
  list.idByFingerprint ??= indexFingerprints(list)
  const fingerprint = list.fingerprint(sent)
  const existingId = fixedId === undefined ? list.idByFingerprint.get(fingerprint) : fixedId
  const id = existingId ?? list.nextId
  const sentId = updateReader.optionalInteger(sent, list.idKey)
  if (sentId !== undefined && sentId !== id) list.ambiguousIds.add(sentId).add(id)
  if (list.byId.has(id)) {
    // Catalogs disagree on the meaning of -1 after an addition of an existing item, so it is refused then.
    list.lastAddedId = list.again || list.addedIds.has(id) ? id : undefined
    return
  }
  if (list.newestRemoved)
    throw updateReader.fault(
      `an item is added after the highest \`${list.idKey}\` was removed; use two commits`,
    )
  list.byId.set(id, build(id))
  list.idByFingerprint.set(fingerprint, id)
  if (id >= list.nextId) list.nextId = id + 1n
  list.addedIds.add(id)
  list.lastAddedId = id
  list.touched = true
}

/**
 * Makes the item with this id current; -1 means the last one added.
 * @throws Fault bad_request where there is no such item, or where the id is ambiguous, because the writer numbered an
 *   added item differently than the catalog will
 */
export function setCurrentNumbered(list: NumberedList, id: bigint): void {
  if (id !== -1n) assertUnambiguous(list, id)
  const currentId = id === -1n ? list.lastAddedId : id
  if (currentId === undefined) throw updateReader.fault(`\`${list.idKey}\` is -1 but none was added`)
  if (currentId === list.currentId) return
  if (!list.byId.has(currentId)) throw updateReader.fault(`\`${list.idKey}\` ${currentId} does not exist`)
  list.currentId = currentId
  list.touched = true
}

/** Removes items; ignores unknown ids. @throws Fault bad_request where an id is the current one, or ambiguous */
export function removeNumbered(list: NumberedList, ids: readonly bigint[]): void {
  for (const id of ids) {
    assertUnambiguous(list, id)
    if (id === list.currentId) throw updateReader.fault(`\`${list.idKey}\` ${id} is the current one`)
    const item = list.byId.get(id)
    if (item === undefined) continue
    list.byId.delete(id)
    if (id === list.nextId - 1n) list.newestRemoved = true
    const fingerprint = list.fingerprint(item)
    if (list.idByFingerprint?.get(fingerprint) === id) list.idByFingerprint.delete(fingerprint)
    list.touched = true
  }
}

function assertUnambiguous(list: NumberedList, id: bigint): void {
  if (list.ambiguousIds.has(id))
    throw updateReader.fault(
      `\`${list.idKey}\` ${id} is ambiguous, because an item was added with an id that is taken or not the next one; use -1`,
    )
}

/** The first of equal items is used, as in Iceberg's reference implementation. */
function indexFingerprints(list: NumberedList): Map<string, bigint> {
  return new Map([...list.byId].reverse().map(([id, item]) => [list.fingerprint(item), id]))
}

/** The current item. @throws Fault bad_request where there is none, as in a table that is being created */
export function currentNumbered(list: NumberedList): JsonObject {
  const item = list.byId.get(list.currentId)
  if (item === undefined) throw updateReader.fault(`\`${list.idKey}\` ${list.currentId} does not exist`)
  return item
}

/** Two schemas are equal where their fields and identifier fields are, regardless of schema ids. */
function schemaFingerprint(schema: JsonObject): string {
  const identifiers = schema.get('identifier-field-ids')
  return stringifyJson([
    canonicalType(schema),
    Array.isArray(identifiers) ? [...new Set(identifiers)].sort() : [],
  ])
}

function canonicalType(type: JsonValue | undefined): JsonValue {
  if (typeof type === 'string') return type.replaceAll(' ', '').toLowerCase()
  if (!isJsonObject(type)) return null
  if (type.has('fields'))
    return mapFields(type, (field) => [
      ...pick(field, ['id', 'name', 'doc', 'initial-default', 'write-default']),
      field.get('required') === true,
      canonicalType(field.get('type')),
    ])
  return [
    ...pick(type, ['type', 'element-id', 'element-required', 'key-id', 'value-id', 'value-required']),
    ...['element', 'key', 'value'].map((part) => canonicalType(type.get(part))),
  ]
}

/** Two partition specs are equal where their fields are, regardless of partition field ids. */
function specFingerprint(spec: JsonObject): string {
  return stringifyJson(
    mapFields(spec, (field) => pick(field, ['source-id', 'source-ids', 'transform', 'name'])),
  )
}

function orderFingerprint(order: JsonObject): string {
  const keys = ['source-id', 'source-ids', 'transform', 'direction', 'null-order']
  return stringifyJson(mapFields(order, (field) => pick(field, keys)))
}

function mapFields(from: JsonObject, each: (field: JsonObject) => JsonValue): readonly JsonValue[] {
  const fields = from.get('fields')
  return Array.isArray(fields) ? fields.map((field) => (isJsonObject(field) ? each(field) : null)) : []
}

function pick(from: JsonObject, keys: readonly string[]): readonly JsonValue[] {
  return keys.map((key) => from.get(key) ?? null)
}

const fingerprints = {
  'schema-id': schemaFingerprint,
  'spec-id': specFingerprint,
  'order-id': orderFingerprint,
} satisfies Record<NumberedList['idKey'], NumberedList['fingerprint']>
