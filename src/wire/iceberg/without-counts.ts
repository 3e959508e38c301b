/**
 * Removes from table metadata what it reveals about rows: counts, sizes and bounds. Only members on an allow-list pass;
 * counts that clients require to read the metadata stay as zero.
 */

import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJsonInTurns,
  stringifyJson,
} from '../../base/json.ts'
import { limits } from '../../limits.ts'
import { joinMembers, topLevelMembers } from './members.ts'
import { metadataReader as reader } from './table-metadata.ts'

/** Members of table metadata (Iceberg's table specification, versions 1 to 3) that reveal nothing about rows. */
const allowed: ReadonlySet<string> = new Set([
  'format-version',
  'table-uuid',
  'location',
  'last-sequence-number',
  'last-updated-ms',
  'last-column-id',
  'schema',
  'schemas',
  'current-schema-id',
  'partition-spec',
  'partition-specs',
  'default-spec-id',
  'last-partition-id',
  'sort-orders',
  'default-sort-order-id',
  'current-snapshot-id',
  'snapshot-log',
  'metadata-log',
  'refs',
  'encryption-keys',
])

const allowedOfSnapshot: ReadonlySet<string> = new Set([
  'snapshot-id',
  'parent-snapshot-id',
  'sequence-number',
  'timestamp-ms',
  'manifest-list',
  'manifests',
  'schema-id',
  'key-id',
])
/** Counts that version 3 requires. */
const requiredCounts = ['first-row-id', 'added-rows'] as const

/** Properties that Iceberg's clients need to read and write. Others may hold statistics, as those of Hive and Spark. */
const allowedProperties =
  /^((write|read|commit|history|gc|schema|compatibility|encryption)\.|format-version$)/

/** Without another member in a summary, PyIceberg counts a new snapshot's totals from zero, not omitting them. */
const mark = ['covenant.withheld', 'counts'] as const

/**
 * @param metadata an upstream's table metadata
 * @param keepsNextRowId whether `next-row-id` stays; without it a writer cannot add rows to a table of version 3
 * @throws Fault upstream_failed where the metadata is invalid
 */
export async function withoutCounts(metadata: Uint8Array, keepsNextRowId: boolean): Promise<Uint8Array> {
  const members = topLevelMembers(metadata)
  const shown = new Map<string, Uint8Array>()
  for (const [key, raw] of members) {
    if (allowed.has(key)) shown.set(key, raw)
    else if (key === 'next-row-id') shown.set(key, keepsNextRowId ? raw : Buffer.from('0'))
    else if (key === 'snapshots') shown.set(key, await changed(raw, snapshotsOf))
    else if (key === 'properties') shown.set(key, await changed(raw, propertiesOf))
  }
  return joinMembers(shown)
}

async function changed(raw: Uint8Array, change: (value: JsonValue) => JsonValue): Promise<Uint8Array> {
  return Buffer.from(stringifyJson(change(await parseJsonInTurns(raw, { depthMax: limits.jsonDepthMax }))))
}

function snapshotsOf(value: JsonValue): JsonValue {
  if (value === null) return null
  if (!Array.isArray(value)) throw reader.fault('`snapshots` is not an array')
  return (value as readonly JsonValue[]).map((snapshot) => {
    if (!isJsonObject(snapshot)) throw reader.fault('a snapshot is not an object')
    return snapshotOf(snapshot)
  })
}

function snapshotOf(snapshot: JsonObject): JsonObject {
  const shown = new Map([...snapshot].filter(([key]) => allowedOfSnapshot.has(key)))
  for (const key of requiredCounts) if (snapshot.has(key)) shown.set(key, 0n)
  const summary = reader.optionalObject(snapshot, 'summary')
  const operation = summary && reader.optionalString(summary, 'operation')
  if (summary)
    shown.set('summary', new Map([...(operation ? [['operation', operation] as const] : []), mark]))
  return shown
}

function propertiesOf(value: JsonValue): JsonValue {
  if (value === null) return null
  if (!isJsonObject(value)) throw reader.fault('`properties` is not an object')
  return new Map([...value].filter(([key]) => allowedProperties.test(key)))
}
