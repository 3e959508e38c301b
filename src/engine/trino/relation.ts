/**
 * How Trino is told to read a table at a snapshot. Trino finds tables and columns by lower-case names, quoted or
 * not, and reads a snapshot by the names of the schema that it was written with. What could mean another table
 * or column there than the one that is governed is refused.
 */

import { Fault } from '../../base/fault.ts'
import type { JsonObject } from '../../base/json.ts'
import { quoteIdentifier } from '../../base/sql-text.ts'
import { tableName } from '../../core/table-ref.ts'
import { currentSchema, metadataReader, schemasOf } from '../../wire/iceberg/table-metadata.ts'
import type { TableSnapshot } from '../engine.ts'
import { EngineError } from '../engine-error.ts'

/**
 * The relation's SQL: `"catalog"."namespace"."table" FOR VERSION AS OF snapshot`. Levels of a namespace are
 * joined by points, as Trino's REST catalog shows nested namespaces.
 * @throws EngineError 0A000 where Trino would read the name as another one
 */
export function relationSql(catalog: string, { table, snapshotId }: TableSnapshot): string {
  const { namespace, name } = table.ref
  for (const level of namespace)
    if (level.includes('.')) throw notReadable(table.ref, 'a level of its namespace holds a point')
  for (const part of [...namespace, name])
    if (part !== part.toLowerCase() || /[$@\0]/.test(part) || part === '' || !part.isWellFormed())
      throw notReadable(table.ref, 'its name is not one that the engine keeps')
  const relation = [catalog, namespace.join('.'), name].map(quoteIdentifier).join('.')
  if (snapshotId === undefined) return `(SELECT * FROM ${relation} WHERE FALSE)`
  return `${relation} FOR VERSION AS OF ${snapshotId}`
}

/**
 * Asserts that every governed column that the snapshot's schema has under its name is the same field there.
 * @param metadata the table's, with the snapshot
 * @throws EngineError 0A000 where a name means another field, or two columns are one to Trino; 58030 where the
 *   metadata does not hold the snapshot
 */
export function assertSameColumns({ table, snapshotId }: TableSnapshot, metadata: JsonObject): void {
  const fields = new Map<string, bigint>()
  for (const [name, id] of fieldsAt(metadata, snapshotId)) {
    const folded = name.toLowerCase()
    if (fields.has(folded)) throw notReadable(table.ref, 'names of its columns differ only in case')
    fields.set(folded, id)
  }
  for (const { name, fieldId } of table.columns) {
    // Such are Trino's own: "$path" is the file of a row.
    if (name.startsWith('$')) throw notReadable(table.ref, 'a column begins with a $')
    const id = fields.get(name.toLowerCase())
    if (id !== undefined && id !== BigInt(fieldId))
      throw notReadable(table.ref, 'columns were renamed since its snapshot was written')
  }
}

function fieldsAt(metadata: JsonObject, snapshotId: bigint | undefined): [name: string, id: bigint][] {
  try {
    const schema = snapshotId === undefined ? currentSchema(metadata) : schemaOf(metadata, snapshotId)
    return metadataReader
      .objects(schema, 'fields')
      .map((field) => [metadataReader.string(field, 'name'), metadataReader.integer(field, 'id')])
  } catch (cause) {
    if (!(cause instanceof Fault)) throw cause
    throw new EngineError('58030', 'a snapshot of the statement cannot be read', { cause })
  }
}

function schemaOf(metadata: JsonObject, snapshotId: bigint): JsonObject {
  const snapshot = (metadataReader.optionalObjects(metadata, 'snapshots') ?? []).find(
    (each) => metadataReader.integer(each, 'snapshot-id') === snapshotId,
  )
  if (snapshot === undefined) throw metadataReader.fault('the snapshot is not there')
  const schemaId = metadataReader.integer(snapshot, 'schema-id')
  const schema = schemasOf(metadata).find((each) => each.get('schema-id') === schemaId)
  if (schema === undefined) throw metadataReader.fault('the schema of the snapshot is not there')
  return schema
}

function notReadable(ref: TableSnapshot['table']['ref'], why: string): EngineError {
  return new EngineError('0A000', `table ${tableName(ref)} cannot be read on this engine: ${why}`)
}
