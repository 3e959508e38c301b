/**
 * Computes the metadata after a commit's update actions: policies see it as `commit.result` before the upstream makes
 * it. Follows the Iceberg REST specification and, where that is silent, Iceberg's reference implementation. Does not
 * write the metadata log, because the catalog does.
 */

import { Fault } from '../../base/fault.ts'
import { type JsonObject, stringifyJson } from '../../base/json.ts'
import {
  closeDraft,
  currentFieldIds,
  hasSources,
  type MetadataDraft,
  openDraft,
  refFrom,
  removeRef,
  setRef,
} from './metadata-draft.ts'
import { addNumbered, updateReader as reader, removeNumbered, setCurrentNumbered } from './numbered-list.ts'
import { formatVersionMax, partitionIdBase, schemaColumns } from './table-metadata.ts'

interface ApplyOptions {
  /** Milliseconds since the Unix epoch: the result's last-updated-ms. */
  readonly nowMs: number
  /** Whether the updates may have been applied before: what they add may be there, and -1 then means that. */
  readonly again?: boolean
}

type Apply = (draft: MetadataDraft, update: JsonObject) => void

/**
 * @param base the metadata before the commit, which is not changed; undefined for a table that is being created
 * @param updates update actions in the order sent
 * @returns metadata that shares unchanged values with `base`; `base` itself where nothing changed
 * @throws Fault policy_engine_unavailable for an unsupported action, because its effect is unknown; bad_request for
 *   an action that is malformed or refers to something missing; conflict for a snapshot older than the table's last
 *   one (the writer must rebase); upstream_failed for a base that cannot be read
 */
export function applyUpdates(
  base: JsonObject | undefined,
  updates: readonly JsonObject[],
  options: ApplyOptions,
): JsonObject {
  const draft = openDraft(base, options.nowMs, base === undefined ? createVersion(updates) : undefined)
  if (options.again) for (const list of [draft.schemas, draft.specs, draft.orders]) list.again = true
  for (const update of updates) {
    const action = reader.string(update, 'action')
    const apply = actions.get(action)
    if (apply === undefined)
      throw new Fault(
        'policy_engine_unavailable',
        'The policy engine cannot judge this commit: one of its update actions is not supported.',
        { detail: `unknown update action ${JSON.stringify(action.slice(0, 100))}` },
      )
    apply(draft, update)
  }
  return closeDraft(draft)
}

/** Whether `applyUpdates` supports the action; upper and lower case differ, unlike in Iceberg's own servers. */
export function isSupportedUpdate(update: JsonObject): boolean {
  const action = update.get('action')
  return typeof action === 'string' && actions.has(action)
}

/** A new table starts in the version that its first upgrade names. */
function createVersion(updates: readonly JsonObject[]): bigint | undefined {
  const upgrade = updates.find((update) => update.get('action') === 'upgrade-format-version')
  return upgrade && readFormatVersion(upgrade)
}

function readFormatVersion(update: JsonObject): bigint {
  const version = reader.integer(update, 'format-version')
  if (version < 1n || version > formatVersionMax)
    throw reader.fault(`\`format-version\` must be 1 to ${formatVersionMax}`)
  return version
}

const upgradeFormatVersion: Apply = (draft, update) => {
  const version = readFormatVersion(update)
  if (version < draft.formatVersion)
    throw reader.fault(`\`format-version\` ${version} is older than the table's, ${draft.formatVersion}`)
  if (version === draft.formatVersion) return
  draft.formatVersion = version
  draft.touched.add('format-version')
}

const addSchema: Apply = (draft, update) => {
  const schema = reader.object(update, 'schema')
  let lastColumnId = draft.lastColumnId
  for (const { fieldId, type } of schemaColumns(schema, reader)) {
    assertCanonical('type', type)
    if (fieldId > lastColumnId) lastColumnId = fieldId
  }
  addNumbered(draft.schemas, schema, (id) => numbered(schema, 'schema-id', id))
  draft.lastColumnId = lastColumnId
}

const addSpec: Apply = (draft, update) => {
  const spec = reader.object(update, 'spec')
  const sent = reader.objects(spec, 'fields')
  assertFields(draft, sent, ['name', 'transform'])
  const withIds = sent.filter((field) => field.has('field-id')).length
  if (withIds !== 0 && withIds !== sent.length)
    throw reader.fault('some fields of `spec` have a `field-id` and some have none')
  let last = partitionIdBase
  const fields = sent.map((field) => {
    const id = reader.optionalInteger(field, 'field-id') ?? last + 1n
    if (id > last) last = id
    return numbered(field, 'field-id', id)
  })
  addNumbered(draft.specs, spec, (id) => {
    if (last > draft.lastPartitionId) draft.lastPartitionId = last
    return numbered(new Map([...spec, ['fields', fields]]), 'spec-id', id)
  })
}

const addSortOrder: Apply = (draft, update) => {
  const order = reader.object(update, 'sort-order')
  const fields = reader.objects(order, 'fields')
  assertFields(draft, fields, ['transform', 'direction', 'null-order'])
  const unsortedId = fields.length === 0 ? 0n : undefined
  addNumbered(draft.orders, order, (id) => numbered(order, 'order-id', id), unsortedId)
}

/** Asserts that every partition or sort field has its texts, and that the current schema has its sources. */
function assertFields(draft: MetadataDraft, fields: readonly JsonObject[], texts: readonly string[]): void {
  for (const field of fields)
    for (const key of texts) {
      const text = reader.string(field, key)
      if (key !== 'name') assertCanonical(key, text)
    }
  const fieldIds = currentFieldIds(draft)
  for (const field of fields)
    if (!hasSources(field, fieldIds, reader))
      throw reader.fault('the current schema lacks a source field of `fields`')
}

/** Every space in brackets, except one behind a comma. */
const spacesInBrackets = /[([]\s|\s[,)\]]|,(?! ?\S)/

/**
 * Iceberg's own servers accept these words in any case and with any spaces, and store them in lower case. A policy
 * must see the stored form. Text in brackets may be a name, so its case is not checked.
 */
function assertCanonical(key: string, text: string): void {
  const [word = ''] = text.split(/[([]/, 1)
  if (word !== word.toLowerCase() || spacesInBrackets.test(text))
    throw reader.fault(
      `\`${key}\` ${JSON.stringify(text.slice(0, 100))} must be in lower case, without spaces in brackets`,
    )
}

const addSnapshot: Apply = (draft, update) => {
  const snapshot = reader.object(update, 'snapshot')
  const id = reader.integer(snapshot, 'snapshot-id')
  reader.integer(snapshot, 'timestamp-ms')
  reader.optionalObject(snapshot, 'summary')
  const parentId = reader.optionalInteger(snapshot, 'parent-snapshot-id')
  const sequenceNumber = reader.optionalInteger(snapshot, 'sequence-number') ?? 0n
  for (const list of [draft.schemas, draft.specs, draft.orders])
    if (list.byId.size === 0) throw reader.fault(`a snapshot is added before any \`${list.idKey}\` exists`)
  if (draft.snapshots.has(id)) throw reader.fault(`snapshot ${id} exists already`)
  if (draft.formatVersion > 1n && parentId !== undefined && sequenceNumber <= draft.lastSequenceNumber)
    throw stale(`sequence number ${sequenceNumber} is not above the table's, ${draft.lastSequenceNumber}`)
  if (draft.formatVersion >= 3n) {
    const firstRowId = reader.integer(snapshot, 'first-row-id')
    if (firstRowId < draft.nextRowId)
      throw stale(`first-row-id ${firstRowId} is below the table's next, ${draft.nextRowId}`)
    draft.nextRowId += reader.integer(snapshot, 'added-rows')
  }
  draft.lastSequenceNumber = sequenceNumber
  draft.snapshots.set(id, snapshot)
  draft.addedSnapshotIds.add(id)
  draft.touched.add('snapshots')
}

function stale(what: string): Fault {
  return new Fault('conflict', `The commit was made on an older version of the table: ${what}.`, {
    type: 'CommitFailedException',
  })
}

const setSnapshotRef: Apply = (draft, update) => {
  const name = reader.string(update, 'ref-name')
  const ref = refFrom(update)
  const type = reader.string(ref, 'type')
  if (type !== 'branch' && type !== 'tag') throw reader.fault('`type` must be branch or tag')
  const previous = draft.refs.get(name)
  if (previous && stringifyJson(refFrom(previous)) === stringifyJson(ref)) return
  const snapshotId = reader.integer(ref, 'snapshot-id')
  const snapshot = draft.snapshots.get(snapshotId)
  if (snapshot === undefined) throw reader.fault(`snapshot ${snapshotId} does not exist`)
  if (name === 'main') {
    if (type !== 'branch') throw reader.fault('main must be a branch')
    draft.currentSnapshotId = snapshotId
    const isNew = draft.addedSnapshotIds.has(snapshotId)
    if (isNew) draft.mainSnapshotIds.add(snapshotId)
    const timestampMs = isNew ? reader.integer(snapshot, 'timestamp-ms') : draft.nowMs
    draft.snapshotLog.push(
      new Map([
        ['timestamp-ms', timestampMs],
        ['snapshot-id', snapshotId],
      ]),
    )
  }
  setRef(draft, name, ref, snapshotId)
}

const removeSnapshots: Apply = (draft, update) => {
  for (const id of reader.integers(update, 'snapshot-ids')) {
    if (!draft.snapshots.delete(id)) continue
    draft.snapshotsRemoved = true
    draft.touched.add('snapshots')
    if (draft.statistics.delete(id)) draft.touched.add('statistics')
    if (draft.partitionStatistics.delete(id)) draft.touched.add('partition-statistics')
    for (const name of draft.refNamesBySnapshot.get(id) ?? []) removeRef(draft, name)
  }
}

const setProperties: Apply = (draft, update) => {
  // Some catalogs still read the older names `updated` and `removed`, which no policy would look at.
  if (update.has('updated')) throw reader.fault('`updated` is not supported; use `updates`')
  const updates = reader.object(update, 'updates')
  for (const key of updates.keys()) draft.properties.set(key, reader.string(updates, key))
  if (updates.size > 0) draft.touched.add('properties')
}

const removeProperties: Apply = (draft, update) => {
  if (update.has('removed')) throw reader.fault('`removed` is not supported; use `removals`')
  for (const key of reader.strings(update, 'removals'))
    if (draft.properties.delete(key)) draft.touched.add('properties')
}

function setField(draft: MetadataDraft, key: string, value: string): void {
  if (draft.fields.get(key) === value) return
  draft.fields.set(key, value)
  draft.touched.add(key)
}

function setFile(key: 'statistics' | 'partition-statistics'): Apply {
  return (draft, update) => {
    const file = reader.object(update, key)
    reader.string(file, 'statistics-path')
    filesOf(draft, key).set(reader.integer(file, 'snapshot-id'), [file])
    draft.touched.add(key)
  }
}

function removeFile(key: 'statistics' | 'partition-statistics'): Apply {
  return (draft, update) => {
    if (filesOf(draft, key).delete(reader.integer(update, 'snapshot-id'))) draft.touched.add(key)
  }
}

function filesOf(draft: MetadataDraft, key: 'statistics' | 'partition-statistics') {
  return key === 'statistics' ? draft.statistics : draft.partitionStatistics
}

const addEncryptionKey: Apply = (draft, update) => {
  const key = reader.object(update, 'encryption-key')
  const id = reader.string(key, 'key-id')
  if (draft.encryptionKeys.has(id)) return
  draft.encryptionKeys.set(id, key)
  draft.touched.add('encryption-keys')
}

function numbered(item: JsonObject, idKey: string, id: bigint): JsonObject {
  return item.get(idKey) === id ? item : new Map([...item, [idKey, id]])
}

/** All table updates of the Iceberg REST specification. */
const actions: ReadonlyMap<string, Apply> = new Map<string, Apply>([
  ['assign-uuid', (draft, update) => setField(draft, 'table-uuid', reader.string(update, 'uuid'))],
  ['upgrade-format-version', upgradeFormatVersion],
  ['add-schema', addSchema],
  [
    'set-current-schema',
    (draft, update) => setCurrentNumbered(draft.schemas, reader.integer(update, 'schema-id')),
  ],
  ['remove-schemas', (draft, update) => removeNumbered(draft.schemas, reader.integers(update, 'schema-ids'))],
  ['add-spec', addSpec],
  ['set-default-spec', (draft, update) => setCurrentNumbered(draft.specs, reader.integer(update, 'spec-id'))],
  [
    'remove-partition-specs',
    (draft, update) => removeNumbered(draft.specs, reader.integers(update, 'spec-ids')),
  ],
  ['add-sort-order', addSortOrder],
  [
    'set-default-sort-order',
    (draft, update) => setCurrentNumbered(draft.orders, reader.integer(update, 'sort-order-id')),
  ],
  ['add-snapshot', addSnapshot],
  ['remove-snapshots', removeSnapshots],
  ['set-snapshot-ref', setSnapshotRef],
  ['remove-snapshot-ref', (draft, update) => removeRef(draft, reader.string(update, 'ref-name'))],
  ['set-location', (draft, update) => setField(draft, 'location', reader.string(update, 'location'))],
  ['set-properties', setProperties],
  ['remove-properties', removeProperties],
  ['set-statistics', setFile('statistics')],
  ['remove-statistics', removeFile('statistics')],
  ['set-partition-statistics', setFile('partition-statistics')],
  ['remove-partition-statistics', removeFile('partition-statistics')],
  ['add-encryption-key', addEncryptionKey],
  [
    'remove-encryption-key',
    (draft, update) => {
      if (draft.encryptionKeys.delete(reader.string(update, 'key-id'))) draft.touched.add('encryption-keys')
    },
  ],
])
