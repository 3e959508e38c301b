/**
 * Describes a table to svc.ingest_table, the one place that writes a table's columns: namespaces, properties and the
 * columns of its current schema. It says nothing of snapshots.
 */

import type { CommittedTable } from '../../core/commit.ts'
import { namespaceKey, type TableRef, tableKey } from '../../core/table-ref.ts'
import { nodeId, storableJson } from '../database/names.ts'

/** What a catalog says of a table beside its snapshots. */
export type TableDescription = Pick<CommittedTable, 'tableUuid' | 'schemaId' | 'columns'>

/** The description that SQL reads, and its digest: most commits leave it unchanged, and SQL then reads the digest alone. */
export function describeTable(
  table: TableRef,
  { tableUuid, schemaId, columns }: TableDescription,
): { readonly described: string; readonly digest: string } {
  const tableId = nodeId(tableKey(table))
  const described = storableJson({
    table: { table_uuid: tableUuid, schema_id: schemaId?.toString() },
    namespaces: table.namespace.map((name, index) => ({
      id: nodeId(namespaceKey(table.namespace.slice(0, index + 1))),
      name,
    })),
    // By field id, because it is unique in a schema and survives a rename.
    columns: columns.map((column, place) => ({
      id: nodeId(`${tableId}\u001f${column.fieldId}`),
      table_id: tableId,
      field_id: String(column.fieldId),
      name: column.name,
      type: column.type,
      required: column.required,
      // Also where it is none, because properties are written over those that are there.
      identifier: column.isIdentifier === true,
      place,
    })),
  })
  return { described, digest: new Bun.CryptoHasher('sha256').update(described).digest('hex') }
}
