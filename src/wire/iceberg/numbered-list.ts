/**
 * Schemas, partition specs and sort orders of a metadata draft: numbered by the catalog, equal ones reused,
 * one of them current. Where writer and catalog could mean different items by a number, it is refused.
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
  /** Of the items by what makes two of them equal; filled when first needed. */
  idByFingerprint: Map<string, bigint> | undefined
  readonly fingerprint: (item: JsonObject) => string
  /** What -1 stands for: the last one that the updates added. */
  lastAddedId: bigint | undefined
  readonly addedIds: Set<bigint>
  /** Ids by which the writer and the catalog may mean different items. */
  readonly ambiguousIds: Set<bigint>
  /** Whether these updates removed the item of the highest id, whose number some catalogs then give again. */
  newestRemoved: boolean
  touched: boolean
}

/** Reads update actions; their mistakes are the writer's. */
export const updateReader = fieldReader((what) => new Fault('bad_request', `Invalid table update: ${what}.`))

/**
 * @param items those of the metadata
 * @param currentItem the current one of them; undefined in a table that is being created
 * @param initialId the first id that is given
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
    // In a new table nothing is current until an item of that id is added: its first schema and spec are 0.
    currentId: currentItem ? metadataReader.integer(currentItem, idKey) : 0n,
    nextId,
    idByFingerprint: undefined,
    fingerprint: fingerprints[idKey],
    lastAddedId: undefined,
    addedIds: new Set(),
    ambiguousIds: new Set(),
    newestRemoved: false,
    touched: false,
  }
}

/**
 * Adds an item under the next free id, or finds the equal one that is there.
 *
 * @param build makes the item that is kept from the id it got; not called where an equal item is there
 * @param fixedId the id that such an item always has
 * @throws Fault bad_request for a new item where these updates removed the newest one: catalogs number it differently,
 *   and Iceberg's own leaves a table that cannot be read
 */
export function addNumbered(
  list: NumberedList,
  sent: JsonObject,
  build: (id: bigint) => JsonObject,
  fixedId?: bigint,
): void {
  list.idByFingerprint ??= indexFingerprints(list)
  const fingerprint = list.fingerprint(sent)
  const knownId = fixedId === undefined ? list.idByFingerprint.get(fingerprint) : fixedId
  const id = knownId ?? list.nextId
  const sentId = updateReader.optionalInteger(sent, list.idKey)
  if (sentId !== undefined && sentId !== id) list.ambiguousIds.add(sentId).add(id)
  if (list.byId.has(id)) {
    // Catalogs disagree on what -1 means after an addition that added nothing: it then means nothing.
    list.lastAddedId = list.addedIds.has(id) ? id : undefined
    return
  }
  if (list.newestRemoved)
    throw updateReader.fault(
      `an item is added after the highest \`${list.idKey}\` was removed; commit one after the other`,
    )
  list.byId.set(id, build(id))
  list.idByFingerprint.set(fingerprint, id)
  if (id >= list.nextId) list.nextId = id + 1n
  list.addedIds.add(id)
  list.lastAddedId = id
  list.touched = true
}

/**
 * Makes the item of that id current; -1 is the last one added.
 *
 * @throws Fault bad_request where there is no such item, or where the writer, who numbered an added item
 *   otherwise than the catalog will, may mean another one
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

/** @throws Fault bad_request where one of them is the current one, or ambiguous; unknown ids are passed over */
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
      `\`${list.idKey}\` ${id} is ambiguous, because an item was added under a number that is taken or not next; use -1`,
    )
}

/** Of equal items the first counts, as in Iceberg's reference implementation. */
function indexFingerprints(list: NumberedList): Map<string, bigint> {
  return new Map([...list.byId].reverse().map(([id, item]) => [list.fingerprint(item), id]))
}

/** @throws Fault bad_request where the list has no current item, as in a table that is being created */
export function currentNumbered(list: NumberedList): JsonObject {
  const item = list.byId.get(list.currentId)
  if (item === undefined) throw updateReader.fault(`\`${list.idKey}\` ${list.currentId} does not exist`)
  return item
}

/** Two schemas are the same where fields and identifier fields are, whatever their ids. */
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

/** Two partition specs are the same where their fields are, whatever the partition field ids. */
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
