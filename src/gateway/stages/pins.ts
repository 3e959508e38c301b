/**
 * Says by which requirements a commit can be held to the table that it is judged on. Pure. Undefined means that the
 * table is loaded: for whatever no requirement pins, and whatever is not understood here.
 */

import { type JsonObject, jsonObject } from '../../base/json.ts'
import type { Definition, PolicyReads } from '../../policy/reads.ts'
import { checkRequirements } from '../../wire/iceberg/check-requirements.ts'
import { type CommitRequest, snapshotIdsAdded } from '../../wire/iceberg/commit-request.ts'
import {
  currentSchema,
  currentSnapshotId,
  defaultPartitionSpec,
  defaultSortOrder,
  metadataReader,
  refsOf,
  sortOrdersOf,
  tableUuidOf,
} from '../../wire/iceberg/table-metadata.ts'

/** Requirements that a commit needs besides its own; may be none. */
export type Pins = readonly JsonObject[]

/**
 * The requirements that hold a commit to what its policies read of a table.
 * @param base the metadata that the commit is judged on
 * @returns undefined where the table must be loaded
 */
export function pinsOf(reads: PolicyReads, base: JsonObject, request: CommitRequest): Pins | undefined {
  if (reads.unpinnable !== undefined) return undefined
  try {
    if (!leavesDefinitions(request)) return undefined
    // A commit that contradicts the base was made on another state.
    checkRequirements(base, request.requirements)
    const uuid = tableUuidOf(base)
    if (uuid === undefined) return undefined
    const pins = [
      jsonObject({ type: 'assert-table-uuid', uuid }),
      ...[...reads.definitions].map((one) => definitionPins[one](base)),
      ...[...reads.refs.union(reads.resultRefs.difference(refsSet(request)))].map((ref) => refPin(base, ref)),
    ]
    return pins.every((pin) => pin !== undefined)
      ? pins.filter((pin) => !request.requirements.some((own) => isSame(own, pin)))
      : undefined
  } catch {
    return undefined
  }
}

/** The updates after which schema, spec, sort order, uuid and all refs but those set are the same as before. */
const harmless: ReadonlySet<unknown> = new Set([
  'add-snapshot',
  'set-snapshot-ref',
  'set-statistics',
  'remove-statistics',
  'set-partition-statistics',
  'remove-partition-statistics',
])

/** Whether a commit only adds snapshots, points refs at these, and names statistics. */
function leavesDefinitions(request: CommitRequest): boolean {
  const added = new Set<unknown>(snapshotIdsAdded(request))
  return request.updates.every((update) => {
    const action = update.get('action')
    return harmless.has(action) && (action !== 'set-snapshot-ref' || added.has(update.get('snapshot-id')))
  })
}

function refsSet({ updates }: CommitRequest): ReadonlySet<string> {
  const names = updates.map((update) => update.get('action') === 'set-snapshot-ref' && update.get('ref-name'))
  return new Set(names.filter((name) => typeof name === 'string'))
}

/**
 * An id pins what it stands for only if no catalog ever gives it to something else. Catalogs count ids up from the
 * highest that is left, so an id is given out again once those from it on were removed. That cannot happen to the one
 * with which the table was created.
 */
const definitionPins: Record<Definition, (base: JsonObject) => JsonObject | undefined> = {
  schema: (base) => {
    const id = metadataReader.integer(currentSchema(base), 'schema-id')
    return id === 0n ? idPin('assert-current-schema-id', 'current-schema-id', id) : undefined
  },
  partition_spec: (base) => {
    const id = metadataReader.integer(defaultPartitionSpec(base), 'spec-id')
    return id === 0n ? idPin('assert-default-spec-id', 'default-spec-id', id) : undefined
  },
  sort_order: (base) => {
    const id = metadataReader.integer(defaultSortOrder(base), 'order-id')
    // Order 0 is always the unsorted one; a table that was created sorted begins with 1.
    const isFirst = id === 0n || (id === 1n && sortOrdersOf(base).length === 1)
    return isFirst ? idPin('assert-default-sort-order-id', 'default-sort-order-id', id) : undefined
  },
}

function idPin(type: string, key: string, id: bigint): JsonObject {
  return jsonObject({ type, [key]: id })
}

function refPin(base: JsonObject, name: string): JsonObject | undefined {
  const ref = metadataReader.optionalObject(refsOf(base), name)
  const id = ref && metadataReader.integer(ref, 'snapshot-id')
  // Policies see the current snapshot, and the requirement compares that of `main`.
  if (name === 'main' && id !== currentSnapshotId(base)) return undefined
  return jsonObject({ type: 'assert-ref-snapshot-id', ref: name, 'snapshot-id': id ?? null })
}

/** Whether the client itself asserts a pin. A snapshot id that is absent means the same as null. */
function isSame(own: JsonObject, pin: JsonObject): boolean {
  return [...pin].every(([key, value]) => (own.get(key) ?? null) === value)
}
