/**
 * Writes the SQL by which Trino reads a table at a snapshot. Trino finds tables and columns by lower-case names, even
 * quoted ones, and reads a snapshot with the schema that it was written with. A name that could therefore mean
 * another table or column than the governed one is refused.
 */

import { Fault } from '../../base/fault.ts'
import type { JsonObject, JsonValue } from '../../base/json.ts'
import { quoteIdentifier } from '../../base/sql-text.ts'
import type { GovernedTable } from '../../core/governed-table.ts'
import { fieldsIn, type IcebergType } from '../../core/iceberg-type.ts'
import { tableName } from '../../core/table-ref.ts'
import { icebergTypeOf } from '../../wire/iceberg/nested-type.ts'
import { currentSchema, metadataReader, schemasOf } from '../../wire/iceberg/table-metadata.ts'
import type { TableSnapshot } from '../engine.ts'
import { EngineError } from '../engine-error.ts'
import { isSameType } from '../iceberg/table-schema.ts'

/**
 * The relation's SQL: `"catalog"."namespace"."table" FOR VERSION AS OF snapshot`. Namespace levels are joined with
 * dots, as in Trino's REST catalog.
 * @throws EngineError 0A000 where Trino could take the name for another one
 */
export function trinoRelationSql(catalog: string, { table, snapshotId }: TableSnapshot): string {
  const { namespace, name } = table.ref
  for (const level of namespace)
    if (level.includes('.')) throw notReadable(table.ref, 'a level of its namespace contains a dot')
  for (const part of [...namespace, name])
    if (part !== part.toLowerCase() || /[$@\0]/.test(part) || part === '' || !part.isWellFormed())
      throw notReadable(
        table.ref,
        'its name is empty, has upper-case letters, or contains $, @ or an invalid character',
      )
  const relation = [catalog, namespace.join('.'), name].map(quoteIdentifier).join('.')
  if (snapshotId === undefined) return `(SELECT * FROM ${relation} WHERE FALSE)`
  return `${relation} FOR VERSION AS OF ${snapshotId}`
}

/**
 * Asserts that no governed column's name means another field in the snapshot's schema.
 * @param metadata the table's metadata, which must hold the snapshot
 * @throws EngineError 0A000 where a name means another field, or two names differ only in case; 58030 where the
 *   metadata lacks the snapshot
 */
export function assertSameColumns({ table, snapshotId, nested }: TableSnapshot, metadata: JsonObject): void {
  const fields = new Map<string, bigint>()
  const all = fieldsAt(metadata, snapshotId)
  if (nested !== undefined && nested.size > 0) assertSameFields(table, all)
  for (const { name, id } of all) {
    const folded = name.toLowerCase()
    if (fields.has(folded)) throw notReadable(table.ref, 'two of its columns differ only in case')
    fields.set(folded, id)
  }
  for (const { name, fieldId } of table.columns) {
    // Trino's hidden columns begin so: "$path" is the file of a row.
    if (name.startsWith('$')) throw notReadable(table.ref, "a column's name begins with $")
    const id = fields.get(name.toLowerCase())
    if (id !== undefined && id !== BigInt(fieldId))
      throw notReadable(table.ref, 'a column was renamed after its snapshot was written')
  }
}

/** Asserts that names inside nested columns mean the same fields, too. */
function assertSameFields({ ref, columns }: GovernedTable, fields: readonly FieldAt[]): void {
  const types = new Map(fields.map(({ id, type }) => [id, type]))
  for (const { fieldId, type } of columns) {
    const other = types.get(BigInt(fieldId))
    if (typeof type === 'string' || other === undefined) continue
    if (!isNamedAlike(type, icebergTypeOf(other, metadataReader)))
      throw notReadable(
        ref,
        'a field of a nested column was changed after its snapshot was written, or differs from another only in case',
      )
  }
}

function isNamedAlike(type: IcebergType, other: IcebergType): boolean {
  const [own, theirs] = [fieldsIn(type), fieldsIn(other)]
  const folded = new Set(theirs.map(({ name }) => name.toLowerCase()))
  return (
    isSameType(type, other) &&
    folded.size === theirs.length &&
    own.every((field, index) => {
      const same = theirs[index]
      return field.name === same?.name && isNamedAlike(field.type, same.type)
    })
  )
}

interface FieldAt {
  readonly name: string
  readonly id: bigint
  readonly type: JsonValue | undefined
}

function fieldsAt(metadata: JsonObject, snapshotId: bigint | undefined): readonly FieldAt[] {
  try {
    const schema = snapshotId === undefined ? currentSchema(metadata) : schemaOf(metadata, snapshotId)
    return metadataReader.objects(schema, 'fields').map((field) => ({
      name: metadataReader.string(field, 'name'),
      id: metadataReader.integer(field, 'id'),
      type: field.get('type'),
    }))
  } catch (cause) {
    if (!(cause instanceof Fault)) throw cause
    throw new EngineError('58030', 'a table of the statement has metadata that cannot be read', { cause })
  }
}

function schemaOf(metadata: JsonObject, snapshotId: bigint): JsonObject {
  const snapshot = (metadataReader.optionalObjects(metadata, 'snapshots') ?? []).find(
    (each) => metadataReader.integer(each, 'snapshot-id') === snapshotId,
  )
  if (snapshot === undefined) throw metadataReader.fault('the snapshot is missing')
  const schemaId = metadataReader.integer(snapshot, 'schema-id')
  const schema = schemasOf(metadata).find((each) => each.get('schema-id') === schemaId)
  if (schema === undefined) throw metadataReader.fault('the schema of the snapshot is missing')
  return schema
}

function notReadable(ref: TableSnapshot['table']['ref'], why: string): EngineError {
  return new EngineError('0A000', `table ${tableName(ref)} cannot be read by this engine: ${why}`)
}
