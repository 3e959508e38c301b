/**
 * Holds table metadata while update actions are applied: maps in place of arrays, so that a body of 100,000 updates on
 * a table of thousands of snapshots takes linear time. Only changed fields are rebuilt; all others are the base's own
 * values. Semantics: Iceberg's TableMetadata.Builder.
 */

import { type JsonObject, type JsonValue, jsonObject } from '../../base/json.ts'
import type { FieldReader } from './fields.ts'
import { currentNumbered, type NumberedList, numberedList, updateReader } from './numbered-list.ts'
import {
  currentSchema,
  currentSnapshotId,
  defaultPartitionSpec,
  defaultSortOrder,
  formatVersion,
  lastPartitionId,
  metadataReader,
  partitionIdBase,
  partitionSpecsOf,
  refsOf,
  schemaColumns,
  schemasOf,
  snapshotsOf,
  sortOrdersOf,
} from './table-metadata.ts'

export interface MetadataDraft {
  readonly base: JsonObject | undefined
  readonly nowMs: bigint
  /** Top-level fields that have no map below. */
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
  /** Snapshots of this commit that `main` has named. */
  readonly mainSnapshotIds: Set<bigint>
  readonly statistics: Map<bigint, readonly JsonObject[]>
  readonly partitionStatistics: Map<bigint, readonly JsonObject[]>
  readonly encryptionKeys: Map<string, JsonObject>
  /** Metadata fields that `closeDraft` must rebuild. */
  readonly touched: Set<string>
}

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
    lastPartitionId: base ? lastPartitionId(base) : partitionIdBase,
    lastSequenceNumber: metadataReader.optionalInteger(from, 'last-sequence-number') ?? 0n,
    nextRowId: metadataReader.optionalInteger(from, 'next-row-id') ?? 0n,
    schemas: numberedList('schema-id', schemas, base && currentSchema(base), 0n),
    specs: numberedList('spec-id', specs, base && defaultPartitionSpec(base), 0n),
    orders: numberedList('order-id', orders, base && defaultSortOrder(base), 1n),
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

function bySnapshot(from: JsonObject, key: string): Map<bigint, readonly JsonObject[]> {
  const files = new Map<bigint, JsonObject[]>()
  for (const file of metadataReader.optionalObjects(from, key) ?? []) {
    const id = metadataReader.integer(file, 'snapshot-id')
    const sameSnapshot = files.get(id)
    if (sameSnapshot) sameSnapshot.push(file)
    else files.set(id, [file])
  }
  return files
}

/** Sets a branch or tag to a snapshot that exists; does not move the current snapshot. */
export function setRef(draft: MetadataDraft, name: string, ref: JsonObject, snapshotId: bigint): void {
  forgetRef(draft, name)
  draft.refs.set(name, ref)
  indexRef(draft, name, snapshotId)
  draft.touched.add('refs')
}

/** Removes a ref; ignores unknown names. Without `main` the table has no current snapshot. */
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
 * The draft's metadata; the base itself where nothing changed.
 * @throws Fault bad_request where a new table lacks a schema, spec or order, or where the current schema lacks a field
 *   of the current spec or order
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
    // Version 1 may omit fields that later versions require, and has duplicates that they drop.
    for (const list of [schemas, specs, orders]) list.touched = true
    fields.delete('schema')
    fields.delete('partition-spec')
  }
  if (schemas.touched) {
    fields.set('last-column-id', draft.lastColumnId)
    fields.set('schemas', [...schemas.byId.values()])
    fields.set('current-schema-id', schemas.currentId)
    if (isV1) fields.set('schema', currentNumbered(schemas))
  }
  if (specs.touched) {
    fields.set('last-partition-id', draft.lastPartitionId)
    fields.set('partition-specs', [...specs.byId.values()])
    fields.set('default-spec-id', specs.currentId)
    if (isV1) fields.set('partition-spec', metadataReader.objects(currentNumbered(specs), 'fields'))
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
 * The log without snapshots that were `main` only inside this commit. Where snapshots were removed, only the entries
 * behind the last gap stay, because a gap would make an older snapshot seem current for longer.
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

function assertSourcesExist(draft: MetadataDraft): void {
  const fieldIds = currentFieldIds(draft)
  for (const list of [draft.specs, draft.orders])
    for (const field of metadataReader.objects(currentNumbered(list), 'fields'))
      if (!hasSources(field, fieldIds, metadataReader))
        throw updateReader.fault(
          `the current schema lacks a source field of \`${list.idKey}\` ${list.currentId}`,
        )
}

const fieldIdsBySchema = new WeakMap<JsonObject, ReadonlySet<bigint>>()

/** The ids of the current schema's fields, nested ones included. */
export function currentFieldIds(draft: MetadataDraft): ReadonlySet<bigint> {
  const schema = currentNumbered(draft.schemas)
  let ids = fieldIdsBySchema.get(schema)
  if (ids === undefined) {
    ids = new Set(schemaColumns(schema).map((column) => column.fieldId))
    fieldIdsBySchema.set(schema, ids)
  }
  return ids
}

/** Whether a partition or sort field's source columns exist; format version 3 allows several. */
export function hasSources(field: JsonObject, fieldIds: ReadonlySet<bigint>, from: FieldReader): boolean {
  const single = from.optionalInteger(field, 'source-id')
  const ids = single === undefined ? from.integers(field, 'source-ids') : [single]
  return from.string(field, 'transform') === 'void' || ids.every((id) => fieldIds.has(id))
}

/** A ref with only its specified fields, for comparison and storage. */
export function refFrom(from: JsonObject): JsonObject {
  return jsonObject({
    'snapshot-id': updateReader.integer(from, 'snapshot-id'),
    type: updateReader.string(from, 'type'),
    'min-snapshots-to-keep': updateReader.optionalInteger(from, 'min-snapshots-to-keep'),
    'max-snapshot-age-ms': updateReader.optionalInteger(from, 'max-snapshot-age-ms'),
    'max-ref-age-ms': updateReader.optionalInteger(from, 'max-ref-age-ms'),
  })
}
