/**
 * Table metadata while update actions are applied to it: indexes in place of arrays, so that a body of
 * 100,000 updates on a table of thousands of snapshots stays linear. Only what a draft changed is written
 * anew; all else in the closed metadata is the base's own values. Semantics: Iceberg's TableMetadata.Builder.
 */

import { Fault } from '../../base/fault.ts'
import { isJsonObject, type JsonObject, type JsonValue, jsonObject, stringifyJson } from '../../base/json.ts'
import { type FieldReader, fieldReader } from './fields.ts'
import {
  currentSnapshotId,
  formatVersion,
  metadataReader,
  partitionIdBase,
  partitionSpecsOf,
  refsOf,
  schemaColumns,
  schemasOf,
  snapshotsOf,
  sortOrdersOf,
} from './table-metadata.ts'

/** Schemas, partition specs or sort orders: numbered things of which one is current. */
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
  touched: boolean
}

export interface MetadataDraft {
  readonly base: JsonObject | undefined
  readonly nowMs: bigint
  /** Top-level fields that no index below holds. */
  readonly fields: Map<string, JsonValue>
  formatVersion: bigint
  lastColumnId: bigint
  lastPartitionId: bigint
  lastSequenceNumber: bigint
  nextRowId: bigint
  readonly schemas: NumberedList
  readonly specs: NumberedList
  readonly orders: NumberedList
  readonly properties: Map<string, JsonValue>
  readonly snapshots: Map<bigint, JsonObject>
  readonly addedSnapshotIds: Set<bigint>
  snapshotsRemoved: boolean
  currentSnapshotId: bigint | undefined
  readonly refs: Map<string, JsonObject>
  readonly refNamesBySnapshot: Map<bigint, Set<string>>
  readonly snapshotLog: JsonObject[]
  /** Added snapshots that were `main` for a while. */
  readonly mainSnapshotIds: Set<bigint>
  readonly statistics: Map<bigint, readonly JsonObject[]>
  readonly partitionStatistics: Map<bigint, readonly JsonObject[]>
  readonly encryptionKeys: Map<string, JsonObject>
  /** The metadata fields to write anew at the end. */
  readonly touched: Set<string>
}

/** Reads update actions; their mistakes are the writer's. */
export const updateReader = fieldReader((what) => new Fault('bad_request', `Invalid table update: ${what}.`))

const formatVersionDefault = 2n

/**
 * @param base undefined for a table that is being created
 * @param createVersion format version of a table that is being created; 2 where absent
 * @throws Fault upstream_failed where the base cannot be read
 */
export function openDraft(
  base: JsonObject | undefined,
  nowMs: number,
  createVersion = formatVersionDefault,
): MetadataDraft {
  const schemas = base ? schemasOf(base) : []
  const specs = base ? partitionSpecsOf(base) : []
  const orders = base ? sortOrdersOf(base) : []
  const from = base ?? new Map()
  const refs = refsOf(from) as ReadonlyMap<string, JsonObject>
  const refNamesBySnapshot = new Map<bigint, Set<string>>()
  const draft: MetadataDraft = {
    base,
    nowMs: BigInt(nowMs),
    fields: new Map(from),
    formatVersion: base ? formatVersion(base) : createVersion,
    lastColumnId: base ? metadataReader.integer(base, 'last-column-id') : 0n,
    lastPartitionId: metadataReader.optionalInteger(from, 'last-partition-id') ?? lastPartitionId(specs),
    lastSequenceNumber: metadataReader.optionalInteger(from, 'last-sequence-number') ?? 0n,
    nextRowId: metadataReader.optionalInteger(from, 'next-row-id') ?? 0n,
    schemas: numbered('schema-id', schemas, from.get('current-schema-id'), 0n, schemaFingerprint),
    specs: numbered('spec-id', specs, from.get('default-spec-id'), 0n, specFingerprint),
    orders: numbered('order-id', orders, from.get('default-sort-order-id'), 1n, orderFingerprint),
    properties: new Map(metadataReader.optionalObject(from, 'properties')),
    snapshots: new Map(
      snapshotsOf(from).map((snapshot) => [metadataReader.integer(snapshot, 'snapshot-id'), snapshot]),
    ),
    addedSnapshotIds: new Set(),
    snapshotsRemoved: false,
    currentSnapshotId: currentSnapshotId(from),
    refs: new Map(refs),
    refNamesBySnapshot,
    snapshotLog: [...(metadataReader.optionalObjects(from, 'snapshot-log') ?? [])],
    mainSnapshotIds: new Set(),
    statistics: bySnapshot(from, 'statistics'),
    partitionStatistics: bySnapshot(from, 'partition-statistics'),
    encryptionKeys: new Map(
      (metadataReader.optionalObjects(from, 'encryption-keys') ?? []).map((key) => [
        metadataReader.string(key, 'key-id'),
        key,
      ]),
    ),
    touched: new Set(),
  }
  for (const name of refs.keys())
    indexRef(draft, name, metadataReader.integer(metadataReader.object(refs, name), 'snapshot-id'))
  return draft
}

function numbered(
  idKey: NumberedList['idKey'],
  items: readonly JsonObject[],
  currentId: JsonValue | undefined,
  initialId: bigint,
  fingerprint: NumberedList['fingerprint'],
): NumberedList {
  const byId = new Map(items.map((item) => [metadataReader.integer(item, idKey), item]))
  let nextId = initialId
  for (const id of byId.keys()) if (id >= nextId) nextId = id + 1n
  return {
    idKey,
    byId,
    // Format version 1 may hold one item and no number; a new table's first schema and spec are 0.
    currentId: typeof currentId === 'bigint' ? currentId : (byId.keys().next().value ?? 0n),
    nextId,
    idByFingerprint: undefined,
    fingerprint,
    lastAddedId: undefined,
    addedIds: new Set(),
    ambiguousIds: new Set(),
    touched: false,
  }
}

function bySnapshot(from: JsonObject, key: string): Map<bigint, readonly JsonObject[]> {
  const files = new Map<bigint, JsonObject[]>()
  for (const file of metadataReader.optionalObjects(from, key) ?? []) {
    const id = metadataReader.integer(file, 'snapshot-id')
    const known = files.get(id)
    if (known) known.push(file)
    else files.set(id, [file])
  }
  return files
}

function lastPartitionId(specs: readonly JsonObject[]): bigint {
  let last = partitionIdBase
  for (const spec of specs)
    for (const field of metadataReader.objects(spec, 'fields')) {
      const id = metadataReader.integer(field, 'field-id')
      if (id > last) last = id
    }
  return last
}

/**
 * Adds an item under the next free id, or finds the equal one that is there.
 *
 * @param build makes the item that is kept from the id it got; not called where an equal item is there
 * @param fixedId the id that such an item always has
 */
export function addNumbered(
  list: NumberedList,
  sent: JsonObject,
  build: (id: bigint) => JsonObject,
  fixedId?: bigint,
): void {
  list.idByFingerprint ??= new Map([...list.byId].map(([id, item]) => [list.fingerprint(item), id]))
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
    list.idByFingerprint?.delete(list.fingerprint(item))
    list.touched = true
  }
}

function assertUnambiguous(list: NumberedList, id: bigint): void {
  if (list.ambiguousIds.has(id))
    throw updateReader.fault(
      `\`${list.idKey}\` ${id} is ambiguous, because an item was added under a number that is taken or not next; use -1`,
    )
}

export function setRef(draft: MetadataDraft, name: string, ref: JsonObject, snapshotId: bigint): void {
  forgetRef(draft, name)
  draft.refs.set(name, ref)
  indexRef(draft, name, snapshotId)
  draft.touched.add('refs')
}

/** Removes a ref; without `main` the table has no current snapshot. Unknown names are passed over. */
export function removeRef(draft: MetadataDraft, name: string): void {
  if (!draft.refs.has(name)) return
  forgetRef(draft, name)
  draft.refs.delete(name)
  if (name === 'main') draft.currentSnapshotId = undefined
  draft.touched.add('refs')
}

function forgetRef(draft: MetadataDraft, name: string): void {
  const ref = draft.refs.get(name)
  if (ref) draft.refNamesBySnapshot.get(metadataReader.integer(ref, 'snapshot-id'))?.delete(name)
}

function indexRef(draft: MetadataDraft, name: string, snapshotId: bigint): void {
  const names = draft.refNamesBySnapshot.get(snapshotId)
  if (names) names.add(name)
  else draft.refNamesBySnapshot.set(snapshotId, new Set([name]))
}

/**
 * The metadata that the draft stands for; the base itself where nothing changed.
 *
 * @throws Fault bad_request where a table that is being created lacks schema, spec or order, or where the
 *   current spec or order needs a field that the current schema does not have
 */
export function closeDraft(draft: MetadataDraft): JsonObject {
  const { fields, touched, schemas, specs, orders, base } = draft
  const numberedTouched = base === undefined || schemas.touched || specs.touched || orders.touched
  if (numberedTouched) assertSourcesExist(draft)
  if (base !== undefined && !numberedTouched && touched.size === 0) return base

  const isV1 = draft.formatVersion === 1n
  fields.set('format-version', draft.formatVersion)
  if (!isV1) fields.set('last-sequence-number', draft.lastSequenceNumber)
  if (draft.formatVersion >= 3n) fields.set('next-row-id', draft.nextRowId)
  if (touched.has('format-version') && !isV1) {
    // Format version 1 may leave out what the later ones require, and duplicates what they drop.
    for (const list of [schemas, specs, orders]) list.touched = true
    fields.delete('schema')
    fields.delete('partition-spec')
  }
  if (schemas.touched) {
    fields.set('last-column-id', draft.lastColumnId)
    fields.set('schemas', [...schemas.byId.values()])
    fields.set('current-schema-id', schemas.currentId)
    if (isV1) fields.set('schema', current(schemas))
  }
  if (specs.touched) {
    fields.set('last-partition-id', draft.lastPartitionId)
    fields.set('partition-specs', [...specs.byId.values()])
    fields.set('default-spec-id', specs.currentId)
    if (isV1) fields.set('partition-spec', metadataReader.objects(current(specs), 'fields'))
  }
  if (orders.touched) {
    fields.set('sort-orders', [...orders.byId.values()])
    fields.set('default-sort-order-id', orders.currentId)
  }
  if (touched.has('properties') || base === undefined) fields.set('properties', draft.properties)
  if (touched.has('snapshots')) fields.set('snapshots', [...draft.snapshots.values()])
  if (touched.has('refs')) {
    fields.set('refs', draft.refs)
    if (draft.currentSnapshotId === undefined) fields.delete('current-snapshot-id')
    else fields.set('current-snapshot-id', draft.currentSnapshotId)
  }
  if (touched.has('refs') || touched.has('snapshots')) fields.set('snapshot-log', closedSnapshotLog(draft))
  if (touched.has('statistics')) fields.set('statistics', [...draft.statistics.values()].flat())
  if (touched.has('partition-statistics'))
    fields.set('partition-statistics', [...draft.partitionStatistics.values()].flat())
  if (touched.has('encryption-keys')) fields.set('encryption-keys', [...draft.encryptionKeys.values()])
  fields.set('last-updated-ms', draft.nowMs)
  return fields
}

/**
 * The log without snapshots that were `main` only inside this commit; and where snapshots were removed, only
 * what follows the last gap, because a log with a gap would say that an older snapshot was current longer.
 */
function closedSnapshotLog(draft: MetadataDraft): readonly JsonObject[] {
  let log: JsonObject[] = []
  for (const entry of draft.snapshotLog) {
    const id = metadataReader.integer(entry, 'snapshot-id')
    if (!draft.snapshots.has(id)) {
      if (draft.snapshotsRemoved) log = []
      else log.push(entry)
    } else if (id === draft.currentSnapshotId || !draft.mainSnapshotIds.has(id)) log.push(entry)
  }
  return log
}

/** @throws Fault bad_request where the list has no current item, as in a table that is being created */
export function current(list: NumberedList): JsonObject {
  const item = list.byId.get(list.currentId)
  if (item === undefined) throw updateReader.fault(`\`${list.idKey}\` ${list.currentId} does not exist`)
  return item
}

function assertSourcesExist(draft: MetadataDraft): void {
  const fieldIds = currentFieldIds(draft)
  for (const list of [draft.specs, draft.orders])
    for (const field of metadataReader.objects(current(list), 'fields'))
      if (!hasSources(field, fieldIds, metadataReader))
        throw updateReader.fault(
          `the current schema lacks a source field of \`${list.idKey}\` ${list.currentId}`,
        )
}

const fieldIdsBySchema = new WeakMap<JsonObject, ReadonlySet<bigint>>()

/** The ids of the current schema's fields, nested ones included. */
export function currentFieldIds(draft: MetadataDraft): ReadonlySet<bigint> {
  const schema = current(draft.schemas)
  let ids = fieldIdsBySchema.get(schema)
  if (ids === undefined) {
    ids = new Set(schemaColumns(schema).map((column) => column.fieldId))
    fieldIdsBySchema.set(schema, ids)
  }
  return ids
}

/** Whether a partition or sort field finds its source columns, of which format version 3 may name several. */
export function hasSources(field: JsonObject, fieldIds: ReadonlySet<bigint>, from: FieldReader): boolean {
  const single = from.optionalInteger(field, 'source-id')
  const ids = single === undefined ? from.integers(field, 'source-ids') : [single]
  return from.string(field, 'transform') === 'void' || ids.every((id) => fieldIds.has(id))
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

/** A ref with the fields that count, for comparison and for storing. */
export function refFrom(from: JsonObject): JsonObject {
  return jsonObject({
    'snapshot-id': updateReader.integer(from, 'snapshot-id'),
    type: updateReader.string(from, 'type'),
    'min-snapshots-to-keep': updateReader.optionalInteger(from, 'min-snapshots-to-keep'),
    'max-snapshot-age-ms': updateReader.optionalInteger(from, 'max-snapshot-age-ms'),
    'max-ref-age-ms': updateReader.optionalInteger(from, 'max-ref-age-ms'),
  })
}
