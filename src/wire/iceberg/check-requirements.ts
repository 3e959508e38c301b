/** Checks a commit's requirements against the metadata that it would change (Iceberg REST TableRequirement). */

import { Fault } from '../../base/fault.ts'
import type { JsonObject } from '../../base/json.ts'
import { fieldReader } from './fields.ts'
import {
  currentSchema,
  defaultPartitionSpec,
  defaultSortOrder,
  lastPartitionId,
  metadataReader,
  refsOf,
} from './table-metadata.ts'

const reader = fieldReader((what) => new Fault('bad_request', `Invalid commit requirement: ${what}.`))

/**
 * @param base the table's metadata; undefined where the table does not exist
 * @throws Fault conflict for the first requirement that is not met; bad_request for one that is malformed or has an
 *   unknown type
 */
export function checkRequirements(base: JsonObject | undefined, requirements: readonly JsonObject[]): void {
  for (const requirement of requirements) {
    const type = reader.string(requirement, 'type')
    if (type === 'assert-create') {
      if (base !== undefined) throw conflict('the table exists already')
      continue
    }
    const check = checks.get(type)
    if (check === undefined) throw reader.fault(`unknown type ${JSON.stringify(type.slice(0, 100))}`)
    if (base === undefined) throw conflict('the table does not exist')
    check(base, requirement)
  }
}

type Check = (base: JsonObject, requirement: JsonObject) => void

function conflict(what: string): Fault {
  return new Fault('conflict', `Requirement failed: ${what}.`, { type: 'CommitFailedException' })
}

/** The check of a requirement whose `key` must equal a number of the metadata. */
function equalInteger(key: string, actual: (base: JsonObject) => bigint | undefined): Check {
  return (base, requirement) => {
    const expected = reader.integer(requirement, key)
    const found = actual(base)
    if (expected !== found) throw conflict(`\`${key}\` has changed: expected ${expected}, found ${found}`)
  }
}

const assertTableUuid: Check = (base, requirement) => {
  const expected = reader.string(requirement, 'uuid')
  const found = metadataReader.optionalString(base, 'table-uuid')
  if (expected.toLowerCase() !== found?.toLowerCase())
    throw conflict(`the table's uuid is ${found}, not the one expected`)
}

/** A null snapshot id means that the ref must not exist. Java clients omit the key instead of sending null. */
const assertRefSnapshotId: Check = (base, requirement) => {
  const name = reader.string(requirement, 'ref')
  const expected = reader.optionalInteger(requirement, 'snapshot-id')
  const ref = metadataReader.optionalObject(refsOf(base), name)
  const found = ref && metadataReader.integer(ref, 'snapshot-id')
  if (expected === found) return
  const shown = JSON.stringify(name.slice(0, 100))
  if (expected === undefined) throw conflict(`ref ${shown} was created concurrently`)
  throw conflict(`ref ${shown} has changed: expected ${expected}, found ${found ?? 'none'}`)
}

const checks: ReadonlyMap<string, Check> = new Map([
  ['assert-table-uuid', assertTableUuid],
  ['assert-ref-snapshot-id', assertRefSnapshotId],
  [
    'assert-last-assigned-field-id',
    equalInteger('last-assigned-field-id', (base) => metadataReader.integer(base, 'last-column-id')),
  ],
  [
    'assert-current-schema-id',
    equalInteger('current-schema-id', (base) => metadataReader.integer(currentSchema(base), 'schema-id')),
  ],
  ['assert-last-assigned-partition-id', equalInteger('last-assigned-partition-id', lastPartitionId)],
  [
    'assert-default-spec-id',
    equalInteger('default-spec-id', (base) => metadataReader.integer(defaultPartitionSpec(base), 'spec-id')),
  ],
  [
    'assert-default-sort-order-id',
    equalInteger('default-sort-order-id', (base) =>
      metadataReader.integer(defaultSortOrder(base), 'order-id'),
    ),
  ],
])
