/**
 * Records the columns of tables that their catalog has, where no commit through the gateway said them, or said others:
 * a table may have been made or changed in the catalog itself. What a commit says meanwhile is newer, and stays.
 */

import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { SchemaColumn } from '../../core/table-schema.ts'
import { nodeId, storableJson } from '../database/names.ts'
import type { Tx } from '../database/session.ts'
import { describeTable, type TableDescription } from './described-table.ts'
import type { RunQuery } from './governance.ts'

/** What is recorded of a table's columns, by which it is found out later whether a commit came between. */
export interface RecordedSchema {
  /** When the commit was received that said them, as text; absent where nothing is recorded. */
  readonly asOf: string | undefined
  /** Of the table that has them; absent also where the catalog gives it none. */
  readonly tableUuid: string | undefined
  readonly hasColumns: boolean
}

/** What a catalog has of a table, and what was recorded of it before the catalog was asked. */
export interface CatalogSchema {
  readonly table: TableRef
  readonly description: TableDescription
  /** Its top-level columns with their types, which the description writes as names. */
  readonly columns: readonly SchemaColumn[]
  readonly before: Pick<RecordedSchema, 'asOf'>
}

interface RecordedRow {
  readonly table_id: string
  readonly as_of: string | null
  readonly column_count: number | null
  readonly table_uuid: string | null
}

/** What is recorded of these tables, in their order. */
export async function recordedSchemas(
  run: RunQuery,
  tables: readonly TableRef[],
): Promise<readonly RecordedSchema[]> {
  const ids = tables.map((table) => nodeId(tableKey(table)))
  const rows = await run<RecordedRow>(
    `select i.id as table_id, g.as_of_ms::text as as_of, g.column_count,
       (select t.properties::text::jsonb ->> 'table_uuid' from "Table" t
         where agtype_access_operator(variadic array[t.properties, '"id"'::agtype]) = to_jsonb(i.id)::text::agtype)
         as table_uuid
     from jsonb_array_elements_text($1::text::jsonb) i (id)
       left join svc.ingested_table g on g.tenant_id = svc.current_tenant() and g.table_id = i.id`,
    [JSON.stringify(ids)],
  )
  const byId = new Map(rows.map((row) => [row.table_id, row]))
  return ids.map((id) => {
    const row = byId.get(id)
    return {
      asOf: row?.as_of ?? undefined,
      tableUuid: row?.table_uuid ?? undefined,
      hasColumns: (row?.column_count ?? 0) > 0,
    }
  })
}

/** Records what catalogs have of tables, except where a commit was recorded since. */
export async function recordSchemas(tx: Tx, schemas: readonly CatalogSchema[]): Promise<void> {
  // In one order, so that two of them do not wait for each other.
  const ordered = schemas.toSorted((a, b) => (tableKey(a.table) < tableKey(b.table) ? -1 : 1))
  for (const schema of ordered) await recordSchema(tx, schema)
}

async function recordSchema(tx: Tx, { table, description, before }: CatalogSchema): Promise<void> {
  const id = nodeId(tableKey(table))
  const { described, digest } = describeTable(table, description)
  const [present] = await tx.query<{ as_of: string; is_described: boolean | null }>(
    `select as_of_ms::text as as_of, described_digest = $2 as is_described from svc.ingested_table
     where tenant_id = svc.current_tenant() and table_id = $1 for no key update`,
    [id, digest],
  )
  if (present?.as_of !== before.asOf || present?.is_described === true) return
  const node = storableJson({ namespace: table.namespace, name: table.name })
  // A commit that was received before the catalog was asked may be recorded later, and is newer: the time stays.
  await tx.query(
    `select svc.ingest_table(
       jsonb_build_object('table_id', $1::text, 'received_at_ms', coalesce(g.as_of_ms, 0), 'snapshot_id', g.snapshot_id,
         'snapshot_key', g.snapshot_key),
       $2::text::jsonb, $3, svc.ensure_node('Table', $1, $4::text::jsonb), g.snapshot_node)::text
     from (values (true)) one
       left join svc.ingested_table g on g.tenant_id = svc.current_tenant() and g.table_id = $1`,
    [id, described, digest, node],
  )
}
