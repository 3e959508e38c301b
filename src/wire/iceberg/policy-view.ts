/**
 * Builds the objects that CEL policies see of a table and a commit (docs/reference/policies.md 2). The keys of tables,
 * snapshots and refs are in snake_case. Schemas, specs, sort orders, properties, requirements and updates are the
 * Iceberg specification's own objects, unchanged.
 */

import { isJsonObject, type JsonObject, type JsonValue, jsonObject } from '../../base/json.ts'
import type { ChangeOrigin } from '../../core/commit.ts'
import { columnsKey } from '../../core/policy.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { CommitRequest } from './commit-request.ts'
import {
  currentSchema,
  currentSnapshotId,
  defaultPartitionSpec,
  defaultSortOrder,
  formatVersion,
  metadataReader,
  partitionSpecsOf,
  refsOf,
  schemasOf,
  snapshotsOf,
} from './table-metadata.ts'

/**
 * The `table` binding. A value that the metadata lacks is null, so that a policy can test for it.
 * @throws Fault upstream_failed where the metadata lacks what its format version requires
 */
export function tableView(ref: TableRef, metadata: JsonObject): JsonObject {
  const rawSnapshots = snapshotsOf(metadata)
  const snapshots = rawSnapshots.map(snapshotView)
  const currentId = currentSnapshotId(metadata)
  const currentIndex = rawSnapshots.findLastIndex((snapshot) => snapshot.get('snapshot-id') === currentId)
  const currentSnapshot = snapshots[currentIndex]
  if (currentId !== undefined && currentSnapshot === undefined)
    throw metadataReader.fault(`the current snapshot ${currentId} is not among the snapshots`)
  const schema = currentSchema(metadata)
  return jsonObject({
    namespace: ref.namespace,
    name: ref.name,
    uuid: metadataReader.optionalString(metadata, 'table-uuid') ?? null,
    location: metadataReader.optionalString(metadata, 'location') ?? null,
    format_version: formatVersion(metadata),
    schema,
    [columnsKey]: columnsOf(schema),
    schemas: schemasOf(metadata),
    partition_spec: defaultPartitionSpec(metadata),
    partition_specs: partitionSpecsOf(metadata),
    sort_order: defaultSortOrder(metadata),
    current_snapshot: currentSnapshot ?? null,
    snapshots,
    refs: refsView(metadata),
    properties: metadataReader.optionalObject(metadata, 'properties') ?? new Map(),
    last_updated_ms: metadataReader.optionalInteger(metadata, 'last-updated-ms') ?? null,
  })
}

/**
 * The `commit` binding.
 * @param result the `tableView` of the metadata after the commit; absent where there is none, as in a drop
 * @param receivedAtMs milliseconds since the Unix epoch
 * @param origin through what it came; members that are not known are empty
 */
export function commitView(
  request: CommitRequest,
  result: JsonObject | undefined,
  receivedAtMs: number,
  { session, client = '', applicationId = '', branch = '' }: ChangeOrigin = {},
): JsonObject {
  const { identifier } = request
  return jsonObject({
    identifier: identifier && jsonObject({ namespace: identifier.namespace, name: identifier.name }),
    requirements: request.requirements,
    updates: request.updates,
    result,
    received_at: BigInt(receivedAtMs),
    session: jsonObject({ id: session?.id ?? '', name: session?.name ?? '' }),
    client: jsonObject({ agent: client, application_id: applicationId }),
    branch,
  })
}

/** Cached per schema, because most commits leave it unchanged. */
const columnIndexes = new WeakMap<JsonObject, JsonObject>()

/** The fields of a schema by path, through structs; a top-level column goes before a path of the same text. */
function columnsOf(schema: JsonObject): JsonObject {
  const known = columnIndexes.get(schema)
  if (known !== undefined) return known
  const columns = new Map<string, JsonValue>()
  const add = (holder: JsonObject, prefix: string) => {
    const fields = metadataReader.objects(holder, 'fields')
    for (const field of fields) {
      const path = prefix + metadataReader.string(field, 'name')
      if (!columns.has(path)) columns.set(path, field)
    }
    for (const field of fields) {
      const type = field.get('type')
      if (isJsonObject(type) && type.get('type') === 'struct')
        add(type, `${prefix}${metadataReader.string(field, 'name')}.`)
    }
  }
  add(schema, '')
  columnIndexes.set(schema, columns)
  return columns
}

/** Cached per raw snapshot, because `table`, `commit.result` and later commits share all but the new ones. */
const snapshotViews = new WeakMap<JsonObject, JsonObject>()

function snapshotView(snapshot: JsonObject): JsonObject {
  let view = snapshotViews.get(snapshot)
  if (view === undefined) {
    view = new Map<string, JsonValue>([
      ['snapshot_id', metadataReader.integer(snapshot, 'snapshot-id')],
      ['parent_snapshot_id', snapshot.get('parent-snapshot-id') ?? null],
      ['sequence_number', snapshot.get('sequence-number') ?? 0n],
      ['timestamp_ms', metadataReader.integer(snapshot, 'timestamp-ms')],
      ['summary', metadataReader.optionalObject(snapshot, 'summary') ?? new Map()],
      ['manifest_list', snapshot.get('manifest-list') ?? null],
      ['schema_id', snapshot.get('schema-id') ?? null],
    ])
    snapshotViews.set(snapshot, view)
  }
  return view
}

function refsView(metadata: JsonObject): JsonObject {
  const refs = refsOf(metadata)
  return new Map(
    [...refs.keys()].map((name) => {
      const ref = metadataReader.object(refs, name)
      return [name, new Map([...ref].map(([key, value]) => [key.replaceAll('-', '_'), value]))]
    }),
  )
}
