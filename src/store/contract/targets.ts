/** Finds and creates the nodes to which row filters and masks are attached: tables, columns and tags. */

import { Fault } from '../../base/fault.ts'
import type { StoredColumn } from '../../core/governance.ts'
import type { BoundNames } from '../../core/governed-table.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { nodeId } from '../database/names.ts'
import type { Tx } from '../database/session.ts'
import { readGovernance } from '../governance/governance.ts'
import { type Properties, parseAgtype, upsertEdge, upsertNode } from '../graph/graph.ts'

/** What a mask is attached to: a column of a table, or a tag on any column. */
export type MaskTarget = { readonly table: TableRef; readonly column: string } | { readonly tag: string }
/** What a row filter is attached to. One on a column or tag filters every table that has it. */
export type FilterTarget = MaskTarget | { readonly table: TableRef; readonly column?: undefined }

/** A table's id in the graph. */
export const tableId = (table: TableRef) => nodeId(tableKey(table))

/** The node to which a row filter or mask is attached. */
export type TargetNode = readonly ['Table' | 'Column' | 'Tag', id: string]

/**
 * Creates the node of a target where it is missing.
 * @returns the node, and the tables that a filter or mask on it affects
 * @throws Fault `not_found` for an unknown column
 */
export async function ensureTarget(
  tx: Tx,
  tenant: TenantId,
  target: FilterTarget,
): Promise<readonly [TargetNode, readonly TableRef[]]> {
  if ('tag' in target) {
    await ensureTag(tx, tenant, target.tag)
    return [['Tag', nodeId(target.tag)], await taggedTables(tx, target.tag)]
  }
  const { table, column } = target
  if (column !== undefined)
    return [['Column', (await ensureColumn(tx, tenant, { table, column })).id], [table]]
  await ensureTable(tx, tenant, table)
  return [['Table', tableId(table)], [table]]
}

/** Every node of a target, including dropped columns of the name. */
export async function targetNodes(tx: Tx, target: FilterTarget): Promise<readonly TargetNode[]> {
  if ('tag' in target) return [['Tag', nodeId(target.tag)]]
  const { table, column } = target
  if (column === undefined) return [['Table', tableId(table)]]
  return (await columnsNamed(tx, { table, column })).map(({ id }) => ['Column', id])
}

/**
 * Field ids of the current columns that an expression may name.
 * @returns undefined for a tag, which may be in many tables, or without an expression
 */
export async function boundNames(
  tx: Tx,
  target: FilterTarget,
  expression: string | undefined,
): Promise<BoundNames | undefined> {
  if ('tag' in target || expression === undefined) return undefined
  const governance = await readGovernance((text, params) => tx.query(text, params), target.table)
  // Unquoted names fold, and a quote within a name is doubled. One name too many does no harm; a missing one would.
  const text = expression.toLowerCase().replaceAll('""', '"')
  // The parts of a nested field's name stand apart in a text.
  const isNamed = (name: string) => name.split('.').every((part) => text.includes(part))
  const columns = governance?.columns.filter(({ current, name }) => current && isNamed(name.toLowerCase()))
  // A name of two, as of a column `s.a` beside a struct `s` with a field `a`, is bound to none.
  const named = [...Map.groupBy(columns ?? [], ({ name }) => name)]
  return Object.fromEntries(
    named.flatMap(([name, [first, ...more]]) => (first && more.length === 0 ? [[name, first.fieldId]] : [])),
  )
}

/** Adds an edge between two nodes. @throws Fault `internal` where one is missing */
export async function addEdge(
  tx: Tx,
  tenant: TenantId,
  label: 'GOVERNS' | 'FILTERS' | 'MASKS' | 'APPLIES_TO' | 'TAGGED',
  id: string,
  from: readonly ['Contract' | 'RowFilter' | 'ColumnMask' | 'Column' | 'Table' | 'Tag', string],
  to: readonly ['Table' | 'Column' | 'Tag', string],
  properties: Properties = {},
): Promise<void> {
  const ends = { from: { label: from[0], id: from[1] }, to: { label: to[0], id: to[1] } }
  const edge = { label, id, ...ends, properties }
  if (!(await upsertEdge(tx, tenant, edge)))
    throw new Fault('internal', 'Internal error.', { detail: `the ${label} edge could not be made` })
}

/** Creates a table's node where it is missing. */
export const ensureTable = (tx: Tx, tenant: TenantId, { namespace, name }: TableRef) =>
  upsertNode(tx, tenant, {
    label: 'Table',
    id: tableId({ namespace, name }),
    properties: { namespace, name },
  })

/**
 * The id of a table of which a column is known. A tag on another table would protect nothing, and say that it does.
 * @throws Fault `not_found` where there is none
 */
export async function tableWithColumns(tx: Tx, table: TableRef): Promise<string> {
  const governance = await readGovernance((text, params) => tx.query(text, params), table)
  if (governance === undefined || governance.columns.length === 0)
    throw new Fault(
      'not_found',
      'There is no such table. A table is known here once a contract is put on it, or after a commit through the gateway.',
    )
  return tableId(table)
}

/** Creates a tag's node where it is missing. */
export const ensureTag = (tx: Tx, tenant: TenantId, tag: string) =>
  upsertNode(tx, tenant, { label: 'Tag', id: nodeId(tag), properties: { name: tag } })

/** The columns of a table that have this name, including dropped ones. */
export async function columnsNamed(
  tx: Tx,
  { table, column }: { readonly table: TableRef; readonly column: string },
): Promise<readonly StoredColumn[]> {
  const governance = await readGovernance((text, params) => tx.query(text, params), table)
  return governance?.columns.filter(({ name }) => name === column) ?? []
}

/**
 * The current column of a name. It writes the table's id into the column's node, by which a dropped column is found.
 * @throws Fault `not_found` where there is none
 */
export async function ensureColumn(
  tx: Tx,
  tenant: TenantId,
  place: { readonly table: TableRef; readonly column: string },
): Promise<StoredColumn> {
  const column = (await columnsNamed(tx, place)).find(({ current }) => current)
  if (column === undefined)
    throw new Fault(
      'not_found',
      'The table has no such column. If it was added in the catalog itself, put the table’s contract again; a commit through the gateway makes it known too.',
    )
  const properties = { table_id: tableId(place.table) }
  await upsertNode(tx, tenant, { label: 'Column', id: column.id, properties })
  return column
}

/** The tables that have a tag, themselves or on a column. */
export async function taggedTables(tx: Tx, tag: string): Promise<readonly TableRef[]> {
  const rows = await tx.query<{ properties: string }>(
    `select t.properties from "Table" t where t.id in (
       select coalesce(h.start_id, e.start_id)
       from "Tag" g join "TAGGED" e on e.end_id = g.id left join "HAS_COLUMN" h on h.end_id = e.start_id
       where agtype_access_operator(variadic array[g.properties, '"id"'::agtype]) = to_jsonb($1::text)::text::agtype)`,
    [nodeId(tag)],
  )
  return rows.map(({ properties }) => parseAgtype(properties) as TableRef)
}
