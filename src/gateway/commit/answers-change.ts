/**
 * Says whether a success speaks of the change that was asked for. A cache or a proxy before the catalog may answer with
 * another table, and then it is not known whether the change was made.
 */

import { Fault } from '../../base/fault.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import { type TableRef, tableName } from '../../core/table-ref.ts'
import type { CommitRequest } from '../../wire/iceberg/commit-request.ts'
import { listOf } from '../base/metadata-history.ts'

/**
 * @param base the table that the commit was judged on
 * @param metadata the reply's
 * @throws Fault `commit_unknown` for the reply to another table, or without the snapshot that became the current one
 */
export function assertAnswersCommit(
  table: TableRef,
  { updates }: CommitRequest,
  base: JsonObject | undefined,
  metadata: JsonObject,
): void {
  const assigned = updates.find((update) => update.get('action') === 'assign-uuid')
  const uuid = base?.get('table-uuid') ?? assigned?.get('uuid')
  const replied = metadata.get('table-uuid')
  if (typeof uuid === 'string' && typeof replied === 'string' && uuid.toLowerCase() !== replied.toLowerCase())
    throw answersElse(table)
  const current = updates.findLast(
    (update) => update.get('action') === 'set-snapshot-ref' && update.get('ref-name') === 'main',
  )
  const snapshotId = current?.get('snapshot-id')
  // A catalog may reply with a later state, or (Nessie) with the current snapshot alone.
  if (snapshotId !== undefined && !shows(metadata, snapshotId)) throw answersElse(table)
}

function shows(metadata: JsonObject, snapshotId: JsonValue): boolean {
  return (
    metadata.get('current-snapshot-id') === snapshotId ||
    listOf(metadata.get('snapshots')).some((snapshot) => snapshot.get('snapshot-id') === snapshotId)
  )
}

/**
 * @param update the request of a create-table
 * @param metadata the reply's
 * @throws Fault `commit_unknown` for the reply to a table with other columns
 */
export function assertAnswersCreation(table: TableRef, update: JsonObject, metadata: JsonObject): void {
  const asked = columnsOf(update.get('schema'))
  const id = metadata.get('current-schema-id')
  const made = listOf(metadata.get('schemas')).find((schema) => schema.get('schema-id') === id)
  if (asked !== undefined && made !== undefined && asked !== columnsOf(made)) throw answersElse(table)
}

/** The names of the top-level columns, in lower case because some catalogs fold them. */
function columnsOf(schema: JsonValue | undefined): string | undefined {
  if (!isJsonObject(schema)) return undefined
  return JSON.stringify(listOf(schema.get('fields')).map((field) => String(field.get('name')).toLowerCase()))
}

function answersElse(table: TableRef): Fault {
  return new Fault(
    'commit_unknown',
    `The upstream catalog answered with another table or state; the change of ${tableName(table)} may or may not have been made.`,
    { type: 'CommitStateUnknownException' },
  )
}
