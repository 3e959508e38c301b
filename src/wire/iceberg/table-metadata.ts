/**
 * Parses Iceberg's LoadTableResult and reads the parts of table metadata that the service needs: schemas, specs,
 * orders, snapshots and refs of format versions 1 to 3. Does not validate the rest of the metadata.
 */

import { Fault } from '../../base/fault.ts'
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonObject,
  parseJson,
  parseJsonInTurns,
} from '../../base/json.ts'
import type { Column, CommittedTable } from '../../core/commit.ts'
import { limits } from '../../limits.ts'
import { type FieldReader, fieldReader } from './fields.ts'
import { restrictionsMember, restrictsReading } from './read-restrictions.ts'

export interface LoadTableResult {
  readonly metadataLocation: string
  /** Unchanged, as sent. */
  readonly metadata: JsonObject
  readonly config?: JsonObject
  /** Set where the upstream restricts what its caller may see of the table. */
  readonly restricted?: true
}

/** The newest supported format version. */
export const formatVersionMax = 3n

/** Partition field ids start above this number, which is the last partition id of an unpartitioned table. */
export const partitionIdBase = 999n

/** Reads metadata that the upstream sent; mistakes in it are upstream_failed. */
export const metadataReader = fieldReader(
  (what) =>
    new Fault('upstream_failed', 'The upstream catalog sent invalid table metadata.', {
      detail: `table metadata: ${what}`,
    }),
)
const reader = metadataReader

/**
 * @param body an upstream's reply to loadTable or to a commit
 * @throws Fault upstream_failed where the body is not JSON or not a LoadTableResult with a metadata location
 */
export function parseLoadTableResult(body: Uint8Array): LoadTableResult {
  try {
    return loadTableResult(parseJson(body, { depthMax: limits.jsonDepthMax }))
  } catch (thrown) {
    throw unreadable(thrown)
  }
}

/**
 * As {@link parseLoadTableResult}, but yields to other requests in between, because metadata grows to megabytes.
 * @throws Fault as {@link parseLoadTableResult}
 */
export async function readLoadTableResult(body: Uint8Array): Promise<LoadTableResult> {
  try {
    return loadTableResult(await parseJsonInTurns(body, { depthMax: limits.jsonDepthMax }))
  } catch (thrown) {
    throw unreadable(thrown)
  }
}

function loadTableResult(result: JsonValue): LoadTableResult {
  if (!isJsonObject(result)) throw reader.fault('the reply is not an object')
  const config = reader.optionalObject(result, 'config')
  const metadata = reader.object(result, 'metadata')
  formatVersion(metadata)
  return {
    metadataLocation: reader.string(result, 'metadata-location'),
    metadata,
    ...(config && { config }),
    ...(restrictsReading(result.get(restrictionsMember)) && { restricted: true }),
  }
}

/** The parser reports invalid JSON as the client's mistake; here it is the upstream's. */
function unreadable(thrown: unknown): unknown {
  if (!(thrown instanceof Fault) || thrown.kind !== 'bad_request') return thrown
  return new Fault('upstream_failed', 'The upstream catalog sent an invalid reply.', {
    detail: thrown.publicMessage,
  })
}

/**
 * What the store records of an accepted commit.
 * @param snapshotId the snapshot that the commit added, where the table may have changed since; 'unknown' where it
 *   cannot be named
 * @throws Fault upstream_failed where the metadata lacks what its format version requires
 */
export function committedTable(result: LoadTableResult, snapshotId?: bigint | 'unknown'): CommittedTable {
  const { metadata } = result
  const snapshot =
    snapshotId === undefined
      ? currentSnapshot(metadata)
      : snapshotsOf(metadata).find((one) => one.get('snapshot-id') === snapshotId)
  const schema = currentSchema(metadata)
  const summary = snapshot && reader.optionalObject(snapshot, 'summary')
  return {
    metadataLocation: result.metadataLocation,
    previousLocation: previousLocation(metadata),
    tableUuid: reader.optionalString(metadata, 'table-uuid'),
    snapshot: snapshot && {
      snapshotId: reader.integer(snapshot, 'snapshot-id'),
      parentSnapshotId: reader.optionalInteger(snapshot, 'parent-snapshot-id'),
      sequenceNumber: reader.optionalInteger(snapshot, 'sequence-number'),
      timestampMs: reader.integer(snapshot, 'timestamp-ms'),
      operation: summary && reader.optionalString(summary, 'operation'),
      manifestList: reader.optionalString(snapshot, 'manifest-list'),
    },
    schemaId: reader.optionalInteger(schema, 'schema-id'),
    columns: columnsWithIdentifiers(schema),
  }
}

function columnsWithIdentifiers(schema: JsonObject): readonly Column[] {
  const identifiers = identifierFieldIds(schema)
  return schemaColumns(schema).map((column) => ({ ...column, isIdentifier: identifiers.has(column.fieldId) }))
}

/** The fields of a schema that tell rows apart together. */
export function identifierFieldIds(schema: JsonObject): ReadonlySet<bigint> {
  const ids = schema.get('identifier-field-ids')
  return new Set((Array.isArray(ids) ? ids : []).filter((id) => typeof id === 'bigint'))
}

/** The last file of the metadata log, which not every catalog keeps. */
function previousLocation(metadata: JsonObject): string | undefined {
  const log = metadata.get('metadata-log')
  const last = Array.isArray(log) ? (log as readonly JsonValue[]).at(-1) : undefined
  const file = isJsonObject(last) ? last.get('metadata-file') : undefined
  return typeof file === 'string' ? file : undefined
}

/** @throws Fault upstream_failed where it is missing or not 1 to 3 */
export function formatVersion(metadata: JsonObject): bigint {
  const version = reader.integer(metadata, 'format-version')
  if (version < 1n || version > formatVersionMax) throw reader.fault(`\`format-version\` is ${version}`)
  return version
}

/** All schemas. Format version 1 may have a single `schema`, whose id defaults to 0. */
export function schemasOf(metadata: JsonObject): readonly JsonObject[] {
  const schemas = reader.optionalObjects(metadata, 'schemas')
  if (schemas !== undefined) return schemas
  const schema = reader.object(metadata, 'schema')
  return [schema.has('schema-id') ? schema : new Map([...schema, ['schema-id', 0n]])]
}

/** @throws Fault upstream_failed where the metadata has none */
export function currentSchema(metadata: JsonObject): JsonObject {
  const schemas = schemasOf(metadata)
  if (!metadata.has('schemas')) return first(schemas, 'schema')
  return withId(schemas, 'schema-id', reader.integer(metadata, 'current-schema-id'))
}

/** All partition specs. Format version 1 may have only the fields of one, as `partition-spec`. */
export function partitionSpecsOf(metadata: JsonObject): readonly JsonObject[] {
  const specs = reader.optionalObjects(metadata, 'partition-specs')
  if (specs !== undefined) return specs
  const fields = reader.objects(metadata, 'partition-spec').map((field, index) => {
    if (field.has('field-id')) return field
    return new Map([...field, ['field-id', partitionIdBase + 1n + BigInt(index)]])
  })
  return [jsonObject({ 'spec-id': 0n, fields })]
}

/** @throws Fault upstream_failed where the metadata has none */
export function defaultPartitionSpec(metadata: JsonObject): JsonObject {
  const specs = partitionSpecsOf(metadata)
  if (!metadata.has('partition-specs')) return first(specs, 'partition spec')
  return withId(specs, 'spec-id', reader.integer(metadata, 'default-spec-id'))
}

const unsorted = jsonObject({ 'order-id': 0n, fields: [] })

/** The highest partition field id ever assigned. Format version 1 may omit it; the specs then have it. */
export function lastPartitionId(metadata: JsonObject): bigint {
  const last = reader.optionalInteger(metadata, 'last-partition-id')
  if (last !== undefined) return last
  let highest = partitionIdBase
  for (const spec of partitionSpecsOf(metadata))
    for (const field of reader.objects(spec, 'fields')) {
      const id = reader.integer(field, 'field-id')
      if (id > highest) highest = id
    }
  return highest
}

/** All sort orders. Format version 1 may have none, which means unsorted. */
export function sortOrdersOf(metadata: JsonObject): readonly JsonObject[] {
  return reader.optionalObjects(metadata, 'sort-orders') ?? [unsorted]
}

/** @throws Fault upstream_failed where the default names no sort order */
export function defaultSortOrder(metadata: JsonObject): JsonObject {
  if (!metadata.has('sort-orders')) return unsorted
  return withId(sortOrdersOf(metadata), 'order-id', reader.integer(metadata, 'default-sort-order-id'))
}

/** The snapshots in document order; empty where the document has none. */
export function snapshotsOf(metadata: JsonObject): readonly JsonObject[] {
  return reader.optionalObjects(metadata, 'snapshots') ?? []
}

/** The table's uuid; undefined where the metadata has none that can be read. */
export function tableUuidOf(metadata: JsonObject): string | undefined {
  const uuid = metadata.get('table-uuid')
  return typeof uuid === 'string' ? uuid : undefined
}

/** The current snapshot's id; absent, null and -1 all mean that there is none. */
export function currentSnapshotId(metadata: JsonObject): bigint | undefined {
  const id = reader.optionalInteger(metadata, 'current-snapshot-id')
  return id === -1n ? undefined : id
}

/** @throws Fault upstream_failed where the current snapshot is not among the snapshots */
function currentSnapshot(metadata: JsonObject): JsonObject | undefined {
  const id = currentSnapshotId(metadata)
  return id === undefined ? undefined : withId(snapshotsOf(metadata), 'snapshot-id', id)
}

/** The refs by name; where the metadata has none, `main` at the current snapshot. */
export function refsOf(metadata: JsonObject): JsonObject {
  const refs = reader.optionalObject(metadata, 'refs')
  if (refs !== undefined) return refs
  const id = currentSnapshotId(metadata)
  if (id === undefined) return new Map()
  return jsonObject({ main: jsonObject({ 'snapshot-id': id, type: 'branch' }) })
}

/**
 * Every field of a schema, nested ones included, parents first. Names are Iceberg's full names: struct fields joined
 * by dots, a list's `element`, a map's `key` and `value`.
 * @param from makes the Fault for a malformed schema; upstream_failed where absent
 * @throws Fault of `from` where a field lacks an id, name or type
 */
export function schemaColumns(schema: JsonObject, from: FieldReader = reader): readonly Column[] {
  const columns: Column[] = []

  function struct(type: JsonObject, prefix: string): void {
    for (const field of from.objects(type, 'fields'))
      column(
        from.integer(field, 'id'),
        prefix + from.string(field, 'name'),
        field.get('type'),
        isRequired(field),
      )
  }
  function nested(type: JsonObject, part: string, parent: string, required: boolean): void {
    column(from.integer(type, `${part}-id`), `${parent}.${part}`, type.get(part), required)
  }
  function column(fieldId: bigint, name: string, type: JsonValue | undefined, required: boolean): void {
    if (typeof type === 'string') {
      columns.push({ fieldId, name, type, required })
      return
    }
    if (!isJsonObject(type)) throw from.fault('the `type` of a field must be a string or an object')
    const kind = from.string(type, 'type')
    columns.push({ fieldId, name, type: kind, required })
    if (kind === 'struct') struct(type, `${name}.`)
    else if (kind === 'list') nested(type, 'element', name, type.get('element-required') === true)
    else if (kind === 'map') {
      nested(type, 'key', name, true)
      nested(type, 'value', name, type.get('value-required') === true)
    } else throw from.fault('a nested type must be a struct, list or map')
  }

  struct(schema, '')
  return columns
}

function isRequired(field: JsonObject): boolean {
  return field.get('required') === true
}

function withId(items: readonly JsonObject[], key: string, id: bigint): JsonObject {
  const item = items.find((candidate) => candidate.get(key) === id)
  if (item === undefined) throw reader.fault(`no \`${key}\` is ${id}`)
  return item
}

function first(items: readonly JsonObject[], what: string): JsonObject {
  const item = items[0]
  if (item === undefined) throw reader.fault(`there is no ${what}`)
  return item
}
