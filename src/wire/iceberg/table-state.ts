/** Extracts from table metadata what queries need: snapshots, the top-level columns of all schemas, and folders. */

import { isJsonObject, type JsonObject } from '../../base/json.ts'
import type { SchemaColumn } from '../../core/table-schema.ts'
import { foldersOf, type NamedLocation } from './named-locations.ts'
import { fieldIdOf, icebergTypeOf, nestedIdsOf } from './nested-type.ts'
import {
  currentSchema,
  currentSnapshotId,
  defaultPartitionSpec,
  defaultSortOrder,
  type LoadTableResult,
  metadataReader as reader,
  schemasOf,
  snapshotsOf,
} from './table-metadata.ts'

export interface TableState {
  readonly metadataLocation: string
  readonly tableUuid: string | undefined
  /** The folders that the metadata names as the table's, and the metadata file itself. */
  readonly folders: readonly NamedLocation[]
  /** Undefined where the table has no snapshot. */
  readonly currentSnapshotId: bigint | undefined
  readonly currentSchemaId: bigint
  /** The schema that was current when each snapshot was made; undefined where the snapshot does not name it. */
  readonly snapshotSchemaIds: ReadonlyMap<bigint, bigint | undefined>
  /** When each snapshot was committed, in milliseconds since 1970. */
  readonly snapshotTimesMs: ReadonlyMap<bigint, number>
  /** Bytes of the files of each snapshot, as far as their summaries tell them. */
  readonly snapshotBytes: ReadonlyMap<bigint, bigint>
  readonly schemas: ReadonlyMap<bigint, readonly SchemaColumn[]>
  /** Field ids by which rows are placed or found: sources of partitions and of the sort order, and identifiers. */
  readonly keyFieldIds: ReadonlySet<number>
  /** Set where files without field ids are read by the names that the table gives. */
  readonly nameMapped?: true
  /** Set where the upstream restricts reading; the table must then not be read at all. */
  readonly restricted?: true
}

/** @throws Fault upstream_failed for metadata that is invalid or lacks its current snapshot */
export function tableStateOf({ metadataLocation, metadata, restricted }: LoadTableResult): TableState {
  const snapshots = snapshotsOf(metadata).map((snapshot) => ({
    id: reader.integer(snapshot, 'snapshot-id'),
    schemaId: reader.optionalInteger(snapshot, 'schema-id'),
    atMs: reader.optionalInteger(snapshot, 'timestamp-ms'),
    bytes: fileBytesOf(snapshot),
  }))
  const snapshotSchemaIds = new Map(snapshots.map(({ id, schemaId }) => [id, schemaId]))
  const current = currentSnapshotId(metadata)
  if (current !== undefined && !snapshotSchemaIds.has(current))
    throw reader.fault('the current snapshot is not among the snapshots')
  return {
    metadataLocation,
    tableUuid: reader.optionalString(metadata, 'table-uuid'),
    folders: [...foldersOf(metadata), { use: 'metadata-file', text: metadataLocation }],
    currentSnapshotId: current,
    currentSchemaId: schemaIdOf(currentSchema(metadata)),
    snapshotSchemaIds,
    snapshotTimesMs: new Map(
      snapshots.flatMap(({ id, atMs }) => (atMs === undefined ? [] : [[id, Number(atMs)] as const])),
    ),
    snapshotBytes: new Map(
      snapshots.flatMap(({ id, bytes }) => (bytes === undefined ? [] : [[id, bytes] as const])),
    ),
    keyFieldIds: keyFieldIdsOf(metadata),
    schemas: new Map(schemasOf(metadata).map((schema) => [schemaIdOf(schema), topColumns(schema)])),
    ...(hasNameMapping(metadata) && { nameMapped: true }),
    ...(restricted && { restricted }),
  }
}

/** What the summary says of all files of the snapshot; the writer need not say it. */
function fileBytesOf(snapshot: JsonObject): bigint | undefined {
  const summary = snapshot.get('summary')
  const total = isJsonObject(summary) ? summary.get('total-files-size') : undefined
  return typeof total === 'string' && /^\d{1,18}$/.test(total) ? BigInt(total) : undefined
}

function hasNameMapping(metadata: JsonObject): boolean {
  return reader.optionalObject(metadata, 'properties')?.has('schema.name-mapping.default') === true
}

/** The top-level columns of the current schema. */
export function currentColumnsOf(metadata: JsonObject): readonly SchemaColumn[] {
  return topColumns(currentSchema(metadata))
}

/** Of what is written from now on: the default specification and sort order, and the current schema. */
export function keyFieldIdsOf(metadata: JsonObject): ReadonlySet<number> {
  const placing = [defaultPartitionSpec(metadata), defaultSortOrder(metadata)]
  const sources = placing.flatMap((one) =>
    reader.objects(one, 'fields').map((field) => fieldIdOf(field, 'source-id', reader)),
  )
  const identifiers = currentSchema(metadata).get('identifier-field-ids')
  return new Set([...sources, ...(Array.isArray(identifiers) ? identifiers.map(Number) : [])])
}

/** Format version 1 may omit the id of its one schema. */
function schemaIdOf(schema: JsonObject): bigint {
  return reader.optionalInteger(schema, 'schema-id') ?? 0n
}

function topColumns(schema: JsonObject): readonly SchemaColumn[] {
  return reader.objects(schema, 'fields').map((field) => {
    const type = icebergTypeOf(field.get('type'), reader)
    return {
      fieldId: fieldIdOf(field, 'id', reader),
      name: reader.string(field, 'name'),
      type,
      required: field.get('required') === true,
      nestedIds: nestedIdsOf(type),
    }
  })
}
